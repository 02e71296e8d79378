package linkinfo

import (
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// scans returns scans of demo from node01 before and after commands.
func scans(t *testing.T, after fabric.DiscoverOptions, commands ...string) (old, now *fabric.Fabric) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f, err := sim.Build("demo")
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Open("node01")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		c := umad.NewClient(p, umad.ClientOptions{Timeout: time.Second})
		if old, err = fabric.Discover(t.Context(), c, fabric.DiscoverOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, text := range commands {
			command, err := f.ParseCommand("test", 1, text)
			if err == nil {
				err = f.Do(command, io.Discard)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if now, err = fabric.Discover(t.Context(), c, after); err != nil {
			t.Fatal(err)
		}
	})
	return old, now
}

// differences returns "-NODE" for a removed node, "+NODE" for an added one, "NODE renamed" and
// "NODE[PORT]".
func differences(diffs []NodeDiff) (all []string) {
	for _, d := range diffs {
		switch {
		case d.New == nil:
			all = append(all, "-"+d.Old.Desc.String())
		case d.Old == nil:
			all = append(all, "+"+d.New.Desc.String())
		case d.Renamed:
			all = append(all, d.Old.Desc.String()+" renamed")
		}
		for _, p := range d.Ports {
			all = append(all, fmt.Sprintf("%s[%d]", d.Old.Desc, p.number()))
		}
	}
	return all
}

// A comparison has the changes between two scans, and leaves out data that one of them did not
// read.
func TestDiff(t *testing.T) {
	everything := Checks{Connection: true, State: true, LID: true, Description: true, PeerPort: true, Rate: true}
	for _, test := range []struct {
		name     string
		commands []string
		checks   Checks
		want     []string
		reverse  []string // with the scans exchanged
	}{
		{"no change", nil, everything, nil, nil},
		{"cable of an adapter", []string{"unlink node06[1]"}, everything, []string{"leaf2[4]", "-node06"}, []string{"leaf2[4]", "+node06"}},
		{"cable of switches", []string{"unlink leaf2[1]"}, everything, []string{"spine1[2]", "leaf2[1]"}, []string{"spine1[2]", "leaf2[1]"}},
		{"states only", []string{"unlink leaf2[1]"}, Checks{State: true}, []string{"spine1[2]", "leaf2[1]"}, []string{"spine1[2]", "leaf2[1]"}},
		{"cable of an adapter moved", []string{"unlink node06[1]", "link node06[1] leaf2[9]"}, everything, []string{"leaf2[4]", "leaf2[9]", "node06[1]"}, []string{"leaf2[4]", "leaf2[9]", "node06[1]"}},
		{"description", []string{"describe leaf4 other"}, Checks{Description: true}, []string{"leaf4 renamed"}, []string{"other renamed"}},
		{"description, not compared", []string{"describe leaf4 other"}, Checks{Connection: true, State: true}, nil, nil},
		{"node without a reply", []string{"hang node06"}, everything, []string{"-node06"}, []string{"+node06"}},
		{"ports without a reply", []string{"mute node06 PortInfo"}, everything, nil, nil},
		{"description without a reply", []string{"mute node06 NodeDescription"}, everything, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			old, now := scans(t, fabric.DiscoverOptions{}, test.commands...)
			if got := differences(Diff(old, now, test.checks, nil)); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := differences(Diff(now, old, test.checks, nil)); !slices.Equal(got, test.reverse) {
				t.Errorf("exchanged: got %q, want %q", got, test.reverse)
			}
		})
	}
}

// Nodes that a scan with a limit did not reach are counted and do not differ, except for
// iblinkinfo.
func TestDiff_Unreached(t *testing.T) {
	old, now := scans(t, fabric.DiscoverOptions{MaxHops: 1})
	missing := len(old.Nodes) - len(now.Nodes)
	if got := differences(Diff(old, now, DefaultChecks, nil)); missing == 0 || got != nil {
		t.Errorf("got %q with %d nodes missing, want no difference", got, missing)
	}
	if got := Unreached(old, now, nil); got != missing {
		t.Errorf("got %d nodes that were not reached, want %d", got, missing)
	}
	removed := 0
	for _, d := range ClassicDiff(old, now, DefaultChecks, nil) {
		if d.New == nil {
			removed++
		}
	}
	if removed != missing {
		t.Errorf("iblinkinfo: got %d nodes removed, want %d", removed, missing)
	}
}

// The report of a comparison has the states on both sides, and says whether a scan is partial.
func TestNewReportDiff(t *testing.T) {
	old, now := scans(t, fabric.DiscoverOptions{}, "unlink node06[1]")
	r := NewReportDiff(old, &Result{Fabric: now}, Diff(old, now, DefaultChecks, nil), nil)
	if r.Partial || len(r.Nodes) != 2 || len(r.Nodes[0].Ports) != 1 || r.Nodes[1].New != nil || *r.Nodes[1].Old.Name != "node06" || *r.Nodes[1].Old.LID != 10 {
		t.Fatalf("got %+v", r)
	}
	p := r.Nodes[0].Ports[0]
	if p.Number != 4 || *p.Old.State != "Active" || p.Old.Peer == nil || *p.New.State != "Down" || p.New.Peer != nil {
		t.Errorf("got %+v, before %+v", p.New, p.Old)
	}
	old, now = scans(t, fabric.DiscoverOptions{}, "hang node06")
	if !NewReportDiff(old, &Result{Fabric: now}, nil, nil).Partial || !NewReportDiff(now, &Result{Fabric: old}, nil, nil).Partial {
		t.Error("got a complete report, want a partial one for a scan without a reply")
	}
}

// Each link counts once, and with a problem at either end it is a problem.
func TestSummarize(t *testing.T) {
	f, _ := scans(t, fabric.DiscoverOptions{})
	for _, test := range []struct {
		name string
		want Summary
		keep func(*fabric.Node) bool
	}{
		{"all", Summary{Nodes: 22, Switches: 6, CAs: 16, Links: 24, Problems: 3}, func(*fabric.Node) bool { return true }},
		{"switches", Summary{Nodes: 6, Switches: 6, Links: 24, Problems: 3}, func(n *fabric.Node) bool { return n.Switch != nil }},
		{"adapters", Summary{Nodes: 16, CAs: 16, Links: 16, Problems: 2}, func(n *fabric.Node) bool { return n.Switch == nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var nodes []*fabric.Node
			var ends []End
			for _, n := range f.Nodes {
				if !test.keep(n) {
					continue
				}
				nodes = append(nodes, n)
				for _, p := range n.Ports {
					if p != nil && !p.IsManagement() {
						ends = append(ends, NewEnd(p, false))
					}
				}
			}
			got := Summarize(nodes, ends, Links(ends))
			if test.want.Ports = len(ends); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
