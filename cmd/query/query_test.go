package query

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The JSON conforms to the schema, with and without results.
func TestQuery_JSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../schema/query.json")
	if err != nil {
		t.Fatal(err)
	}
	program := cmdtest.Native(New)
	for _, line := range []string{"pi 7", "PI leaf1 all", "pkeys 4", "nd 1-3 --sa", "pi 3 99", "ni nobody", "0xff17 7", "pm:ClassPortInfo 3", "vlarb leaf1 1", "cl 4"} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"query", "--json", "-t", "50"}, strings.Fields(line)...)
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
