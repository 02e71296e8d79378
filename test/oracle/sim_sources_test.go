//go:build oracle

package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

var (
	// An ibnetdiscover -g record: the chassis, the model and slot, and the switch description.
	boardRecord = regexp.MustCompile(`sysimgguid=\S+\t\t# Chassis (\d+)\nswitchguid=\S+\t# (\S+ \w+ \d+ Chip \d+)\nSwitch\t\d+ "\S+"\t\t# "(.*)" (?:base|enhanced)`)

	// A node's position, from its name in the preset.
	boardName = regexp.MustCompile(`^(?:MF0;)?system(\d)[:-](?:IS5600/)?(S|L|spine|line)(\d+)(?:/U|-)(\d)$`)
)

// TestServedChassis compares the chassis and slots in the ibnetdiscover output with the
// node names. It identifies Voltaire's boards by their wiring and Mellanox' by their
// descriptions. The external port numbers in iblinkinfo must be the same as ibkit's.
func TestServedChassis(t *testing.T) {
	for model, boards := range map[string]int{"IS5600": 18 + 3, "ISR9288": 12 + 6, "ISR2012": 12 + 6, "ISR9096": 4 + 6, "ISR4700": 9 + 3} {
		t.Run(model, func(t *testing.T) {
			s := serveLive(t, "chassis:lines=3,systems=2,model="+model)
			text := s.MustRunC(t, "", "ibnetdiscover", "-g").Stdout
			chassis := map[string]string{} // by the number in the preset
			found := boardRecord.FindAllStringSubmatch(text, -1)
			for _, m := range found {
				name := boardName.FindStringSubmatch(m[3])
				if name == nil {
					t.Errorf("%s in chassis %s: %s", m[3], m[1], m[2])
					continue
				}
				word := map[string]string{"S": "Spine", "spine": "Spine", "L": "Line", "line": "Line"}[name[2]]
				if want := fmt.Sprintf("%s %s %s Chip %s", model, word, strings.TrimLeft(name[3], "0"), name[4]); m[2] != want {
					t.Errorf("%s: ibnetdiscover says %s", m[3], m[2])
				}
				if c := chassis[name[1]]; c != "" && c != m[1] {
					t.Errorf("%s: in chassis %s and not in %s", m[3], m[1], c)
				}
				chassis[name[1]] = m[1]
			}
			if len(found) != 2*boards || len(chassis) != 2 || chassis["1"] == chassis["2"] {
				t.Errorf("%d boards in chassis %v, want %d in two:\n%s", len(found), chassis, 2*boards, text)
			}
			want := s.MustRunC(t, "", "iblinkinfo")
			if d := diff(want, s.MustRun(t, "", *binary)); d != "" {
				t.Errorf("C tool (-), ibkit (+)\n%s", d)
			}
		})
	}
}

// TestServedSplitPorts shows split ports with the C tool: 2X ports, and connectors
// that run at 4X.
func TestServedSplitPorts(t *testing.T) {
	s := serveLive(t, "fat-tree:radix=8,pods=4,split=2,speed=NDR")
	want := s.MustRunC(t, "", "iblinkinfo")
	if d := diff(want, s.MustRun(t, "", *binary)); d != "" {
		t.Errorf("C tool (-), ibkit (+)\n%s", d)
	}
	for width, n := range map[string]int{"2X": 2 * 32, "4X": 2 * 16} {
		if got := len(regexp.MustCompile(`\( `+width+` +106\.25 Gbps Active`).FindAllString(want.Stdout, -1)); got != n {
			t.Errorf("%d ends at %s, want %d", got, width, n)
		}
	}
	if strings.Contains(want.Stdout, "Could be") {
		t.Errorf("a link below what it can do:\n%s", want.Stdout)
	}
}

// TestServedGenerations shows all link generations with the C tool. Debian 12's tool does
// not know XDR, and reports such links as QDR.
func TestServedGenerations(t *testing.T) {
	s := serveLive(t, "mixed")
	const xdr = "212.5 Gbps"
	want, got := s.MustRunC(t, "", "iblinkinfo", "-l"), s.MustRun(t, "", *binary, "-l")
	for _, speed := range []string{"2.5", "5.0", "10.0", "14.0625", "25.78125", "53.125", "106.25"} {
		if !strings.Contains(want.Stdout, " "+speed+" Gbps Active") {
			t.Errorf("no link at %s Gbps", speed)
		}
	}
	if !strings.Contains(want.Stdout, "10.0 Gbps (FDR10)") || !strings.Contains(got.Stdout, xdr) {
		t.Error("no FDR10, or no XDR")
	}
	want.Stdout, got.Stdout = without(want.Stdout, got.Stdout, xdr)
	if d := diff(want, got); d != "" {
		t.Errorf("C tool (-), ibkit (+)\n%s", d)
	}
}

// without removes the links from b that contain a word in a line.
func without(a, b, word string) (string, string) {
	left := map[string]bool{}
	end := func(line string) string { // GUID, name and port
		before, _, _ := strings.Cut(line, " ==(")
		return strings.Join(strings.Fields(before), " ")
	}
	for line := range strings.Lines(b) {
		left[end(line)] = left[end(line)] || strings.Contains(line, word)
	}
	keep := func(text string) string {
		var out strings.Builder
		for line := range strings.Lines(text) {
			if !left[end(line)] {
				out.WriteString(line)
			}
		}
		return out.String()
	}
	return keep(a), keep(b)
}

var startGUID = regexp.MustCompile(`"start":"0x([0-9a-f]{16})"`)

// TestServedJSON scans a fabric that opensm has configured in ibsim, serves the JSON, and
// compares the C tool output with the output for ibsim.
func TestServedJSON(t *testing.T) {
	t.Parallel()
	for i, net := range nets(t) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			b := newRig(t, net, true)
			file := filepath.Join(t.TempDir(), "fabric.json")
			found := b.MustRun(t, b.host, native(), "linkinfo", "--sim", "ibsim", "--json", "--attributes").Stdout
			if err := os.WriteFile(file, []byte(found), 0o600); err != nil {
				t.Fatal(err)
			}
			s := serveLive(t, file)
			// JSON has printable descriptions, and identifies nodes by GUID.
			host := "H-" + startGUID.FindStringSubmatch(found)[1]
			for _, args := range ibsimtest.Share([][]string{nil, {"-l"}, {"-p"}}, i, 3) {
				if d := diff(b.MustRunC(t, b.host, "iblinkinfo", args...), s.MustRunC(t, host, "iblinkinfo", args...)); d != "" {
					t.Errorf("iblinkinfo %v: ibsim (-), ibkit serving what it found there (+)\n%s", args, d)
				}
			}
			want, got := b.MustRunC(t, b.host, "ibnetdiscover"), s.MustRunC(t, host, "ibnetdiscover")
			if d := cmp.Diff(records(want.Stdout), records(got.Stdout)); d != "" {
				t.Errorf("ibnetdiscover: ibsim (-), ibkit (+)\n%s", d)
			}
		})
	}
}
