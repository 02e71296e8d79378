package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/sim"
)

// soundPresets are presets without planted faults, in several sizes: the parameters of each
// fabric.
var soundPresets = map[string][]string{
	"single-switch": {"", "hosts=1", "hosts=40", "hosts=30,radix=20,split=2", "hosts=250,radix=254"},
	"fat-tree": {
		"", "radix=8,pods=4", "radix=64,pods=64", "radix=20,pods=8,hosts=13,spines=7", "radix=12,pods=10,hosts=4,spines=6", "radix=16,pods=2,hosts=1,spines=8", "split=2",
		"levels=3,radix=4,pods=4", "levels=3,radix=8,pods=4", "levels=3,radix=8,pods=8", "levels=3,radix=24,pods=12",
		"levels=3,radix=24,pods=5,hosts=13,spines=7,leaves=11,cores=9", "levels=3,radix=8,pods=4,split=2",
		"levels=3,radix=8,pods=8,sm=updown", "levels=3,radix=8,pods=8,ar=on",
	},
	"dragonfly": {"", "groups=3,switches=3,hosts=2", "groups=20,switches=8,hosts=8"},
	"torus":     {"", "x=5,y=5", "x=2,y=2,z=2", "x=6,y=5,z=4,hosts=4"},
	"mixed":     {"", "hosts=16,spines=8", "hosts=6,spines=14", "hosts=64,spines=36"},
	"chassis": {
		"", "lines=8", "lines=36,hosts=11", "systems=4", "lines=36,hosts=11,systems=8", "model=ISR9288,lines=12,hosts=11", "model=ISR2012,lines=2,hosts=4,systems=4",
		"model=ISR9096", "model=ISR4700,lines=18,hosts=11", "model=ISR9288,sm=updown",
	},
	"rails": {"", "hosts=13,rails=3,spines=5", "hosts=64,rails=8,spines=8", "hosts=120,rails=16,spines=16"},
}

// largePresets are the parameters in [soundPresets] of fabrics that take long, for [testenv.AllCases].
var largePresets = []string{
	"radix=64,pods=64", "levels=3,radix=24,pods=12", "levels=3,radix=24,pods=5,hosts=13,spines=7,leaves=11,cores=9", "groups=20,switches=8,hosts=8",
	"lines=36,hosts=11,systems=8", "hosts=120,rails=16,spines=16",
}

// plantedPresets have faults on purpose.
var plantedPresets = []string{"demo", "faults", "optics", "forwarding-loop", "credit-loop", "dead-end", "unbalanced-leaf", "broken-multicast"}

// fabricChecks are the command lines that report the defects of a fabric.
var fabricChecks = []string{
	"check fabric --fail-severity warning --sm-wait 1ms", "check routes", "counters", "linkinfo --problems", "topology --check", "sm --sm-wait 1ms", "cc",
}

// No command has a finding in a preset without planted faults.
func TestPresets_NoFindings(t *testing.T) {
	for _, p := range sim.Presets {
		sizes, sound := soundPresets[p.Name]
		if sound == slices.Contains(plantedPresets, p.Name) {
			t.Errorf("got preset %s in both lists or in none, want it in one", p.Name)
		}
		for _, parameters := range sizes {
			if slices.Contains(largePresets, parameters) && !testenv.AllCases() {
				continue
			}
			checkNoFindings(t, strings.TrimSuffix(p.Name+":"+parameters, ":"), fabricChecks)
		}
	}
	if testenv.AllCases() {
		checkNoFindings(t, "fat-tree:levels=3,radix=36,pods=32", []string{"check routes"}) // 10,368 hosts
	}
}

func checkNoFindings(t *testing.T, fabric string, lines []string) {
	t.Run(fabric, func(t *testing.T) {
		t.Parallel()
		for _, line := range lines {
			code, out, errOut := program.RunInBubble(t, map[string]string{"IBKIT_SIM": fabric}, strings.Fields(line)...)
			if code != cmdutil.ExitOK || errOut != "" {
				t.Errorf("%s: got exit code %d, error output %q, want %d without findings:\n%s", line, code, errOut, cmdutil.ExitOK, out)
			}
		}
	})
}
