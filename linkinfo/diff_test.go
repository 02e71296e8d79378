package linkinfo

import (
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// TestDiffPeerPort moves a cable to another port of the same switch: with PeerPort
// the host differs, without it, as for iblinkinfo, only GUIDs of peers count.
func TestDiffPeerPort(t *testing.T) {
	at := func(peer uint8) *fabric.Node {
		p := link(active(nil), active(nil))
		p.Peer.Number = peer
		return p.Node
	}
	for _, peerPort := range []bool{false, true} {
		_, differs := (&comparison{Checks{Connection: true, PeerPort: peerPort}, &fabric.Fabric{}, &fabric.Fabric{}}).node(at(1), at(2))
		if differs != peerPort {
			t.Errorf("with PeerPort %t: differs %t", peerPort, differs)
		}
	}
}

// A port whose state a partial scan has read differs by its state, also if its peer did not
// respond to either scan; a port that the scan has not read does not differ.
func TestDiff_PartialState(t *testing.T) {
	partial := &fabric.Fabric{Failures: make([]fabric.Failure, 1)}
	n := &fabric.Node{}
	up, unread, omitted := &fabric.Port{Node: n, Info: active(nil)}, &fabric.Port{Node: n}, &fabric.Port{Node: n, Omitted: true}
	down := &fabric.Port{Node: n, Info: active(func(i *mad.PortInfo) { i.State, i.PhysState = ib.PortDown, ib.PhysPolling })}
	for _, test := range []struct {
		name     string
		from, to *fabric.Port
		want     bool
	}{
		{"up and down", up, down, true},
		{"up and omitted", up, omitted, true},
		{"omitted and up", omitted, up, true},
		{"omitted and down", omitted, down, false},
		{"up and not read", up, unread, false},
		{"not read and up", unread, up, false},
		{"up and unknown", up, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &comparison{Checks{Connection: true, State: true, Rate: true}, partial, partial}
			if got := c.portDiffers(test.from, test.to); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
