package cmd

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/sim"
)

// scanned matches the members about the scan, which do not depend on the fabric alone.
var scanned = regexp.MustCompile(`"(sent|retries|timeouts|window|began)":[^,}]+`)

// TestExport_JSON checks that the JSON of a fabric is the same after an export.
func TestExport_JSON(t *testing.T) {
	for _, p := range sim.Presets {
		t.Run(p.Name, func(t *testing.T) {
			_, want, _ := program.Run(t, nil, "linkinfo", "--sim", p.Name, "--json", "--attributes")
			path := filepath.Join(t.TempDir(), "fabric.json")
			if code, out, err := program.Run(t, nil, "sim", "export", p.Name, "--format", "json", "--output", path); code != cmdutil.ExitOK || out != "" || err != "" {
				t.Fatalf("got exit code %d, output %q, error output %q", code, out, err)
			}
			_, got, err := program.Run(t, map[string]string{"IBKIT_SIM": path}, "linkinfo", "--json", "--attributes")
			if scanned.ReplaceAllString(got, "") != scanned.ReplaceAllString(want, "") || len(got) == 0 {
				t.Errorf("got other JSON after the export, error output %q", err)
			}
		})
	}
}

// TestExport_Formats checks that a preset has the same links after an export.
func TestExport_Formats(t *testing.T) {
	for _, p := range sim.Presets {
		f, err := sim.Build(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{"net", "topology", "json"} {
			t.Run(p.Name+"/"+format, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "fabric")
				if code, _, err := program.Run(t, nil, "sim", "export", p.Name, "--format", format, "--output", path); code != cmdutil.ExitOK {
					t.Fatal(err)
				}
				back, err := sim.Build(path)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := links(back), links(f); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// links lists the links of a fabric by GUID.
func links(f *sim.Fabric) string {
	lines := map[string]bool{}
	for _, n := range f.Nodes {
		for i := range n.Ports {
			if p := &n.Ports[i]; p.Peer != nil {
				lines[strings.Join([]string{exportedPort(p), exportedPort(p.Peer)}, " ")] = true
			}
		}
	}
	return strings.Join(sorted(lines), "\n")
}

func TestExport_Unreachable(t *testing.T) {
	path := cmdtest.WriteFile(t, "Switch 2 \"s\"\n[1]\t\"h\"[1]\n\nCa 1 \"h\"\n[1]\t\"s\"[1]\n\nCa 1 \"alone\"\n")
	code, out, err := program.Run(t, nil, "sim", "export", "net:"+path, "--format", "json")
	if code != cmdutil.ExitFailed || out != "" || !strings.Contains(err, "finds 2 of 3 nodes") {
		t.Errorf("exit code %d, output %q, error output %q", code, out, err)
	}
}

// TestExport_OldJSON reads a file without port 0 of switches.
func TestExport_OldJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fabric.json")
	program.Run(t, nil, "sim", "export", "single-switch:speed=NDR", "--format", "json", "--output", path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := program.Run(t, nil, "linkinfo", "--sim", path, "--csv")
	without := regexp.MustCompile(`,"port0":(null|\{"mkey".*?"link_speed_ext_enabled2":\{[^}]*?\]\}\})`).ReplaceAll(text, nil)
	if bytes.Contains(without, []byte(`"port0"`)) {
		t.Fatal("port0 is still there")
	}
	if err := os.WriteFile(path, without, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, got, _ := program.Run(t, nil, "linkinfo", "--sim", path, "--csv"); got != want || got == "" {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func exportedPort(p *sim.Port) string { return fmt.Sprintf("0x%x[%d]", p.Node.Info.NodeGUID, p.Number) }

func sorted(lines map[string]bool) []string { return slices.Sorted(maps.Keys(lines)) }
