package sa

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/internal/tool/sa"
)

// The JSON conforms to the schema and has an exported type, with and without results.
func TestSa_JSON(t *testing.T) {
	program := cmdtest.Native(New)
	for _, line := range []string{"NR", "PIR lid=leaf1", "PR from=4 to=5", "CPI", "SR", "LFTR", "SMIR", "MCMR", "VLAR lid=3", "SL2VL lid=3", "SWIR"} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"sa", "--json", "-t", "50"}, strings.Fields(line)...)
			_, out, _ := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, args...)
			cmdtest.CheckDocument(t, "../../schema/sa.json", out, &sa.Report{})
		})
	}
}

func TestSa_ListJSON(t *testing.T) {
	program := cmdtest.Native(New)
	for _, line := range []string{"", "NR"} {
		t.Run(line, func(t *testing.T) {
			code, out, stderr := program.Run(t, nil, append([]string{"sa", "--list", "--json"}, strings.Fields(line)...)...)
			if code != 0 {
				t.Fatalf("got exit code %d: %s", code, stderr)
			}
			cmdtest.CheckDocument(t, "../../schema/sa-list.json", out, &sa.ReportList{})
		})
	}
}
