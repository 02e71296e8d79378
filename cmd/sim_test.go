package cmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// TestSimExport checks that an exported fabric has the same links.
func TestSimExport(t *testing.T) {
	const description = "single-switch:hosts=3,radix=4"
	_, want, _ := program.Run(t, nil, "linkinfo", "--sim", description, "--csv")
	for format, scheme := range map[string]string{"topology": "topo:", "net": "net:"} {
		t.Run(format, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "fabric")
			code, out, err := program.Run(t, nil, "sim", "export", description, "--format", format, "--output", path)
			if code != cmdutil.ExitOK || out != "" || err != "" {
				t.Fatalf("%s: got exit code %d, output %q, error output %q", format, code, out, err)
			}
			code, got, err := program.Run(t, nil, "linkinfo", "--sim", scheme+path, "--csv")
			if strings.Count(got, "\n") != strings.Count(want, "\n") || !strings.Contains(got, "host003") {
				t.Errorf("%s: got exit code %d, error output %q, output:\n%s", format, code, err, got)
			}
		})
	}
	code, out, _ := program.Run(t, nil, "sim", "export", description)
	if code != cmdutil.ExitOK || !strings.Contains(out, "Switch\t4 \"switch1\"") {
		t.Errorf("got exit code %d, output %q", code, out)
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
		{[]string{"sim", "export"}, "no fabric given"},
		{[]string{"sim", "export", "moon"}, `unknown fabric "moon": not a file, and not one of demo, `},
		{[]string{"sim", "export", "demo", "--format", "dot"}, `want one of net, topology, json`},
		{[]string{"linkinfo", "--sim", "net:" + cmdtest.WriteFile(t, "Switch x\n")}, `:1:8: got "x", want the number of ports`},
		{[]string{"linkinfo", "--sim", "topo:/nonexistent"}, "no such file"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			code, out, err := program.Run(t, nil, test.args...)
			if code != cmdutil.ExitUsage || !strings.Contains(err, test.want) || out != "" {
				t.Errorf("got exit code %d, output %q, error output %q, want %q", code, out, err, test.want)
			}
		})
	}
}
