package check

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/sim"
)

// fromHost checks the fabric from a host, not from a switch.
func fromHost(_ *testing.T, f *sim.Fabric, o *FabricOptions) {
	o.Source.OpenPort = f.Opener("node01")
}

// A blind scan has checked nothing: all later stages are skipped, also each alone.
func TestFabric_Blind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, only := range [][]string{nil, {"counters", "routing", "pkeys"}} {
			f := build(t, "demo", "unlink leaf1[3]")
			o := options(f)
			fromHost(t, f, &o)
			o.Only = only
			r, err := Fabric(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Partial || r.Errors != 1 || found(r)["discovery/blind"] != 1 {
				t.Errorf("got partial %v, findings %v, want one about the local port", r.Partial, found(r))
			}
			for _, s := range r.Stages[1:] {
				if s.Status != Skipped || s.Comment == "" {
					t.Errorf("stage %s: got %s, want it skipped with a reason", s.Name, s.Status)
				}
			}
		}
	})
}

// A stage without anything to check is not passed.
func TestFabric_Nothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(build(t, "demo,sm=off", ""))
		o.Only = []string{"pkeys", "routing"}
		r, err := Fabric(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range r.Stages {
			if s.Status != Skipped || s.Comment == "" {
				t.Errorf("stage %s: got %s (%s), want it skipped", s.Name, s.Status, s.Comment)
			}
		}
	})
}

// The comparison with subnet administration names the path's end, and is skipped if there is
// nothing to compare.
func TestFabric_Records(t *testing.T) {
	for _, test := range []struct {
		name, fabric, commands string
		status                 Status
		comment, detail        string
	}{
		{"complete", "demo", "", Passed, "22 nodes in subnet administration", ""},
		{"behind a silent switch", "demo", "hang leaf2", Failed, "22 nodes in subnet administration", "the path to it ends at spine1[2]"},
		{"no subnet manager", "demo,sm=off", "", Skipped, "query subnet administration: the local port knows of no subnet manager", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(build(t, test.fabric, test.commands))
				o.Only = []string{"sa"}
				r, err := Fabric(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if s := stage(t, r, "sa"); s.Status != test.status || s.Comment != test.comment {
					t.Errorf("got %s (%s), want %s (%s)", s.Status, s.Comment, test.status, test.comment)
				}
				for _, f := range r.Findings {
					if !strings.HasSuffix(f.Detail, test.detail) {
						t.Errorf("got %s: %s, want %s", f.Subject, f.Detail, test.detail)
					}
				}
			})
		})
	}
}
