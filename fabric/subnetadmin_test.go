package fabric_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// readRecords reads a simulated fabric from its subnet administration.
func readRecords(t *testing.T, s *sim.Fabric) (*fabric.Fabric, error) {
	t.Helper()
	port, err := s.Open("")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	c := umad.NewClient(port, umad.ClientOptions{Timeout: 50 * time.Millisecond, Attempts: 1})
	return fabric.ReadRecords(t.Context(), c, fabric.RecordOptions{})
}

// attributes formats a fabric's attributes, without the fields that depend on the port
// through which a request arrived, and without keys.
func attributes(f *fabric.Fabric) string {
	var b strings.Builder
	fmt.Fprintf(&b, "start %v port %d, %d hops, %d systems\n", f.Start.GUID, f.StartPort, f.MaxHops, len(f.Systems))
	for _, n := range f.Nodes {
		info := n.Info
		info.LocalPort, info.PortGUID = 0, 0
		fmt.Fprintf(&b, "%q %+v %+v\n", n.Desc.String(), info, n.Switch)
		for _, p := range n.Ports {
			if p == nil {
				continue
			}
			i := new(mad.PortInfo)
			if p.Info != nil {
				*i = *p.Info
			}
			i.MKey, i.LocalPort = 0, 0
			fmt.Fprintf(&b, "  %d %v %v %+v\n", p.Number, p.GUID, p.Info != nil, *i)
		}
	}
	return b.String()
}

// Subnet administration and a scan describe the same fabric.
func TestReadRecords(t *testing.T) {
	for _, preset := range []string{
		"demo", "single-switch:hosts=3", "fat-tree:levels=2,radix=8", "torus", "mixed", "chassis", "chassis:model=ISR9288",
	} {
		t.Run(preset, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := sim.Build(preset)
				if err != nil {
					t.Fatal(err)
				}
				port, err := s.Open("")
				if err != nil {
					t.Fatal(err)
				}
				want, err := fabric.Discover(t.Context(), umad.NewClient(port, umad.ClientOptions{}), fabric.DiscoverOptions{})
				if err != nil {
					t.Fatal(err)
				}
				got, err := readRecords(t, s)
				if err != nil {
					t.Fatal(err)
				}
				if got, want := describe(got), describe(want); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				if got, want := attributes(got), attributes(want); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		})
	}
}

// A reply with a single packet makes the result partial.
func TestReadRecords_Clipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := sim.Build("demo")
		if err != nil {
			t.Fatal(err)
		}
		s.NoRMPP = true
		f, err := readRecords(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Partial() || !strings.Contains(describe(f), "single packet") {
			t.Errorf("got\n%s\nwant failures about single packets", describe(f))
		}
	})
}

// Without subnet administration, a single request times out.
func TestReadRecords_NoManager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := sim.Build("demo,sm=off")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readRecords(t, s); !errors.Is(err, umad.ErrNoSM) {
			t.Errorf("got %v, want %v", err, umad.ErrNoSM)
		}
	})
}
