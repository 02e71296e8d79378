package sa

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

// The JSON conforms to the schema, with and without results.
func TestSa_JSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../schema/sa.json")
	if err != nil {
		t.Fatal(err)
	}
	program := cmdtest.Native(New)
	for _, line := range []string{"NR", "PIR lid=leaf1", "PR from=4 to=5", "CPI", "SR", "LFTR", "SMIR", "MCMR", "VLAR lid=3", "SL2VL lid=3", "SWIR"} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"sa", "--json", "-t", "50"}, strings.Fields(line)...)
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
