package fabric_test

import (
	"context"
	"errors"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

func TestSession_Fabric(t *testing.T) {
	simulated, err := sim.Build("single-switch:hosts=3")
	if err != nil {
		t.Fatal(err)
	}
	stored, other := &fabric.Fabric{}, &fabric.Fabric{}
	var got fabric.DiscoverOptions
	discover := func(_ context.Context, _ *umad.Client, o fabric.DiscoverOptions) (*fabric.Fabric, error) {
		got = o
		return other, nil
	}
	for _, test := range []struct {
		name   string
		source fabric.Source
		want   *fabric.Fabric // nil: a scan
	}{
		{"scan", fabric.Source{}, nil},
		{"stored", fabric.Source{Stored: stored, Discover: discover}, stored},
		{"other discoverer", fabric.Source{Discover: discover, NoExtendedPortInfo: true, Progress: func(fabric.Progress) {}}, other},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.source.OpenPort = simulated.Opener("")
			s, err := test.source.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			f, err := s.Fabric(t.Context(), fabric.DiscoverOptions{MaxHops: 7})
			if err != nil {
				t.Fatal(err)
			}
			if test.want == nil && len(f.Nodes) != 4 || test.want != nil && f != test.want {
				t.Errorf("got %v with %d nodes, want %v", f, len(f.Nodes), test.want)
			}
		})
	}
	if got.MaxHops != 7 || !got.NoExtendedPortInfo || got.Progress == nil {
		t.Errorf("got options %+v, want those of the source and the call", got)
	}
}

func TestSource_OpenWithoutPort(t *testing.T) {
	_, err := fabric.Source{}.Open(t.Context())
	if want := "open fabric: the source has no OpenPort"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Subnet administration is a source like a scan.
func TestSession_Records(t *testing.T) {
	simulated, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	s, err := fabric.Source{OpenPort: simulated.Opener(""), Discover: fabric.RecordOptions{}.Discover}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	records, err := s.Fabric(t.Context(), fabric.DiscoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(records.Nodes) != len(simulated.Nodes) {
		t.Errorf("got %d nodes, want %d", len(records.Nodes), len(simulated.Nodes))
	}
}

func TestSource_OpenFails(t *testing.T) {
	failed := errors.New("no device")
	source := fabric.Source{OpenPort: func(context.Context) (umad.Port, error) { return nil, failed }}
	if s, err := source.Open(t.Context()); s != nil || !errors.Is(err, failed) {
		t.Errorf("got %v, %v, want error %v", s, err, failed)
	}
}
