package linkinfo

import (
	"slices"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

func TestLink_String(t *testing.T) {
	named := func(p *fabric.Port, name string) *fabric.Port {
		copy(p.Node.Desc[:], name)
		return p
	}
	connected := named(link(active(nil), active(nil)), "leaf1")
	named(connected.Peer, "spine1")
	unnamed := link(active(nil), nil)
	for name, test := range map[string]struct {
		near *fabric.Port
		want string
	}{
		"both ends":     {connected, "leaf1[1] - spine1[1]"},
		"without names": {unnamed, "0x0000000000000001[1] - 0x0000000000000002[1]"},
		"no peer":       {named(unlinked(active(nil)), "node01"), "node01[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Link{Near: &End{Port: test.near}}).String(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// A finding that both ends have is listed once, at the near end.
func TestLink_Located(t *testing.T) {
	narrow := func(i *mad.PortInfo) { i.LinkWidthActive = ib.Width1X }
	disabled := func(i *mad.PortInfo) { narrow(i); i.PhysState = ib.PhysDisabled }
	near := link(active(narrow), active(disabled))
	copy(near.Node.Desc[:], "leaf1")
	copy(near.Peer.Node.Desc[:], "spine1")
	here, there := NewEnd(near, true), NewEnd(near.Peer, true)
	var got []string
	for _, f := range (Link{&here, &there}).Located(nil) {
		got = append(got, string(f.Kind)+" "+f.Subject)
	}
	if want := []string{"narrow leaf1[1]", "disabled spine1[1]"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEnds_NoFabric(t *testing.T) {
	defer func() {
		if got, want := recover(), "linkinfo: Ends of a nil Fabric"; got != want {
			t.Errorf("got panic %v, want %s", got, want)
		}
	}()
	Ends(nil, nil)
}

func TestRun_NoSource(t *testing.T) {
	r, err := Run(t.Context(), Options{})
	if want := "open fabric: the source has no OpenPort"; r != nil || err == nil || err.Error() != want {
		t.Errorf("got %v, %v, want %s", r, err, want)
	}
}
