package linkinfo

import (
	"testing"

	"github.com/ibkit/ibkit/fabric"
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
