package sm

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The JSON conforms to the schema, with and without results.
func TestSm_JSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../schema/sm.json")
	if err != nil {
		t.Fatal(err)
	}
	program := cmdtest.Native(New)
	for _, line := range []string{"--wait 0", "--wait 1ms 4", "--wait 0 7", "--wait 0 --source sa"} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"sm", "--json", "-t", "50"}, strings.Fields(line)...)
			_, out, stderr := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, args...)
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
			if err == nil {
				err = schema.Validate(v)
			}
			if err != nil {
				t.Errorf("got %v\n%s%s", err, out, stderr)
			}
		})
	}
}
