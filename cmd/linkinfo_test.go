package cmd

import (
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares output with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

func TestLinkinfoViews(t *testing.T) {
	for _, test := range []struct {
		golden string
		code   int
		args   []string
	}{
		{"table", exitFindings, []string{"linkinfo"}},
		{"problems", exitFindings, []string{"linkinfo", "--problems", "--sort", "name", "--wide", "-p"}},
		{"csv", exitFindings, []string{"linkinfo", "--csv", "--switches", "--finding", "slow"}},
		{"node", exitOK, []string{"linkinfo", "-D", "0,1,2", "--sort", "lid"}},
		{"line", exitFindings, []string{"linkinfo", "-l", "--problems"}},
		{"classic", exitOK, []string{"iblinkinfo"}},
		{"classic-line", exitOK, []string{"iblinkinfo", "-lp", "--cas"}},
	} {
		t.Run(test.golden, func(t *testing.T) {
			code, out, err := runCommand(t, map[string]string{"IBKIT_SIM": "demo"}, test.args...)
			if code != test.code || err != "" {
				t.Errorf("exit code %d, error output %q", code, err)
			}
			golden(t, test.golden+".golden", out)
		})
	}
}

// The JSON is what the schema says, on a fabric with all that there can be.
func TestLinkinfoJSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../schema/linkinfo.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"linkinfo", "--sim", "demo", "--json"},
		{"linkinfo", "--sim", "demo", "--json", "--problems"},
		{"linkinfo", "--sim", "torus:speed=XDR", "--json", "-D", "0,1"},
		{"iblinkinfo", "--sim", "single-switch:speed=QDR,hosts=2", "--json"},
	} {
		_, out, _ := runCommand(t, nil, args...)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestLinkinfoFilters(t *testing.T) {
	for _, test := range []struct {
		args string
		want int // ports
	}{
		{"", 96 + 16},
		{"--switches", 96},
		{"--cas", 16},
		{"--problems", 6},
		{"--finding narrow,slow", 4},
		{"--speed hdr", 10},
		{"--width 2x", 2},
		{"--state initialize", 2},
		{"--node spine*", 32},
		{"--node 0x0002c90000800000,node01", 16 + 1},
		{"--down", 96 - 2*4 - 4*6},
	} {
		_, out, err := runCommand(t, nil, append([]string{"linkinfo", "--sim", "demo", "--csv"}, strings.Fields(test.args)...)...)
		records, failed := csv.NewReader(strings.NewReader(out)).ReadAll()
		if failed != nil || err != "" {
			t.Fatalf("%s: %v, %s", test.args, failed, err)
		}
		if got := len(records) - 1; got != test.want {
			t.Errorf("%q: %d ports, want %d", test.args, got, test.want)
		}
	}
}

// What was stored is shown again, and compares equal to itself.
func TestLinkinfoCache(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	_, live, _ := runCommand(t, nil, "iblinkinfo", "--sim", "demo", "--cache", cache)
	code, stored, err := runCommand(t, nil, "iblinkinfo", "--load-cache", cache)
	if code != exitOK || err != "" || stored != live {
		t.Errorf("exit code %d, error output %q\n%s", code, err, cmp.Diff(live, stored))
	}
	for _, sim := range []struct {
		name string
		code int
	}{{"demo", exitOK}, {"single-switch", exitFindings}} {
		code, out, _ := runCommand(t, nil, "linkinfo", "--sim", sim.name, "--diff", cache)
		if code != sim.code || (out == "") != (sim.code == exitOK) {
			t.Errorf("difference from %s: exit code %d, output %q", sim.name, code, out)
		}
	}
}
