package sm

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/sm"
)

// The JSON conforms to the schema and has an exported type, with and without results.
func TestSm_JSON(t *testing.T) {
	program := cmdtest.Native(New)
	for _, line := range []string{
		"--wait 0", "--wait 1ms 4", "--wait 0 7", "--wait 0 --source sa", "--set disable -n 4", "--set disable --yes 4", "--set handover --yes 4",
		"--set disable --yes --force only-manager 4",
	} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"sm", "--json", "-t", "50"}, strings.Fields(line)...)
			_, out, _ := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, args...)
			cmdtest.CheckDocument(t, "../../schema/sm.json", out, &sm.Report{})
		})
	}
}
