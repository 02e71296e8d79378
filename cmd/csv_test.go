package cmd

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// csvLines are command lines with CSV output, at least one of each command.
var csvLines = []string{
	"linkinfo --csv", "linkinfo --csv --counters", "topology --format csv",
	"counters --all --csv", "phy --csv", "phy --cables --csv", "route 4 11 --csv", "check routes --csv",
	"routes --csv", "routes --multicast --csv", "routes --balance --csv", "routes --using 1[2] --csv",
	"query NodeInfo 1-9 --csv", "query NodeDescription 1-9 --csv", "query NodeInfo =leaf1 --csv", "sa NodeRecord --csv",
	"sm --csv", "addr =leaf1 --csv", "mesh plan --csv", "mesh --schedule quick:2",
}

// hostile is the demo fabric with node descriptions that a spreadsheet would run.
func hostile(t *testing.T) *cmdutil.Env {
	t.Helper()
	var out, errOut bytes.Buffer
	env := &cmdutil.Env{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }}
	if code := run(t.Context(), env, []string{"sim", "export", "demo"}); code != 0 {
		t.Fatalf("got exit code %d: %s", code, &errOut)
	}
	net := cmdtest.WriteFile(t, strings.ReplaceAll(out.String(), `# "`, `# "=`))
	values := map[string]string{"IBKIT_SIM": net, "IBKIT_SYSFS": t.TempDir()}
	return &cmdutil.Env{In: env.In, Out: &bytes.Buffer{}, ErrOut: &bytes.Buffer{}, Getenv: func(name string) string { return values[name] }}
}

// No field of CSV that a node has chosen is run by a spreadsheet.
func TestCSV_Formulas(t *testing.T) {
	env := hostile(t)
	for _, line := range csvLines {
		t.Run(line, func(t *testing.T) {
			var out, errOut bytes.Buffer
			env := *env
			env.Out, env.ErrOut = &out, &errOut
			args := append(strings.Fields(line), "--sim-events", cmdtest.WriteFile(t, "0s unlink leaf1[1]\n"), "-t", "200")
			cmdtest.OutsideBubbles()
			synctest.Test(t, func(t *testing.T) { run(t.Context(), &env, args) })
			records, err := csv.NewReader(&out).ReadAll()
			if err != nil || len(records) == 0 {
				t.Fatalf("got %d records, error %v: %s", len(records), err, &errOut)
			}
			for _, record := range records {
				for i, field := range record {
					_, err := strconv.ParseFloat(field, 64)
					if field != "" && field != "-" && err != nil && strings.Contains("=+-@\t\r\n", field[:1]) {
						t.Errorf("column %s: got %q, want an apostrophe in front", records[0][i], field)
					}
				}
			}
		})
	}
}

// TestCSV_Lines checks that csvLines has all commands with the flag --csv.
func TestCSV_Lines(t *testing.T) {
	env := hostile(t)
	var each func(path string, c *cobra.Command)
	each = func(path string, c *cobra.Command) {
		for _, sub := range c.Commands() {
			each(strings.TrimSpace(path+" "+sub.Name()), sub)
		}
		tested := func(line string) bool { return strings.HasPrefix(line, path+" ") && strings.Contains(line, "--csv") }
		if c.Flags().Lookup("csv") != nil && !slices.ContainsFunc(csvLines, tested) {
			t.Errorf("no line of %s, which writes CSV", path)
		}
	}
	each("", newRoot(env, nil))
}
