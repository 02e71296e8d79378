package cmd

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/sim"
)

func TestSimList(t *testing.T) {
	code, out, err := runCommand(t, nil, "sim", "list")
	if code != exitOK || err != "" {
		t.Fatalf("exit code %d, error output %q", code, err)
	}
	for _, p := range sim.Presets {
		if !strings.Contains(out, p.Name) || !strings.Contains(out, p.About) {
			t.Errorf("preset %s is not in the list", p.Name)
		}
	}
	for _, want := range []string{"radix", "net:FILE", "topo:FILE"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in the list", want)
		}
	}

	code, out, err = runCommand(t, nil, "sim", "list", "--json")
	var list struct {
		Presets []struct {
			Name       string
			Parameters []struct{ Name, Default, About string }
		}
	}
	if e := json.Unmarshal([]byte(out), &list); e != nil || code != exitOK {
		t.Fatalf("exit code %d, %v, error output %q", code, e, err)
	}
	if len(list.Presets) != len(sim.Presets) || list.Presets[1].Parameters[0].Default != "8" {
		t.Errorf("%+v", list)
	}
}

// What is exported shows the same links as what it was made from.
func TestSimExport(t *testing.T) {
	const description = "single-switch:hosts=3,radix=4"
	_, want, _ := runCommand(t, nil, "linkinfo", "--sim", description, "--csv")
	for format, scheme := range map[string]string{"topology": "topo:", "net": "net:"} {
		path := filepath.Join(t.TempDir(), "fabric")
		code, out, err := runCommand(t, nil, "sim", "export", description, "--format", format, "-o", path)
		if code != exitOK || out != "" || err != "" {
			t.Fatalf("%s: exit code %d, output %q, error output %q", format, code, out, err)
		}
		code, got, err := runCommand(t, nil, "linkinfo", "--sim", scheme+path, "--csv")
		if strings.Count(got, "\n") != strings.Count(want, "\n") || !strings.Contains(got, "host003") {
			t.Errorf("%s: exit code %d, error output %q, output:\n%s", format, code, err, got)
		}
	}
	code, out, _ := runCommand(t, nil, "sim", "export", description)
	if code != exitOK || !strings.Contains(out, "Switch\t4 \"switch1\"") {
		t.Errorf("exit code %d, output %q", code, out)
	}
}

func TestSimUsage(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"sim"}, "no command given"},
		{[]string{"sim", "nonsense"}, `unknown command "nonsense"`},
		{[]string{"sim", "list", "word"}, `unexpected argument "word"`},
		{[]string{"sim", "export"}, "one description"},
		{[]string{"sim", "export", "moon"}, `no simulated fabric is called "moon"`},
		{[]string{"sim", "export", "demo", "--format", "dot"}, `unknown format "dot"`},
		{[]string{"linkinfo", "--sim", "net:" + writeFile(t, "Switch x\n")}, `:1:8: expected the number of ports`},
		{[]string{"linkinfo", "--sim", "topo:/nonexistent"}, "no such file"},
	} {
		code, out, err := runCommand(t, nil, test.args...)
		if code != exitUsage || !strings.Contains(err, test.want) || out != "" {
			t.Errorf("%q: exit code %d, output %q, error output %q: want %q", test.args, code, out, err, test.want)
		}
	}
}
