package sim

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/sim"
)

var program = cmdtest.Native(New)

func TestSimList(t *testing.T) {
	code, out, err := program.Run(t, nil, "sim", "list")
	if code != cmdutil.ExitOK || err != "" {
		t.Fatalf("got exit code %d, error output %q", code, err)
	}
	for _, p := range sim.Presets {
		if !strings.Contains(out, p.Name) || !strings.Contains(out, p.About) {
			t.Errorf("no preset %s in the list", p.Name)
		}
	}
	for _, want := range []string{"radix", "net:FILE", "topo:FILE"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in the list", want)
		}
	}

	code, out, err = program.Run(t, nil, "sim", "list", "--json")
	if code != cmdutil.ExitOK || err != "" {
		t.Fatalf("got exit code %d, error output %q", code, err)
	}
	var list sim.ReportList
	cmdtest.CheckDocument(t, "../../schema/sim-list.json", out, &list)
	if len(list.Presets) != len(sim.Presets) {
		t.Errorf("got %d presets, want %d", len(list.Presets), len(sim.Presets))
	}
	hosts := ""
	for _, p := range list.Presets {
		if p.Name == "single-switch" && len(p.Parameters) > 0 {
			hosts = p.Parameters[0].Default
		}
	}
	if hosts != "8" {
		t.Errorf("got %q hosts at a single switch by default, want 8", hosts)
	}
}
