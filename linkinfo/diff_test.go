package linkinfo

import (
	"testing"

	"github.com/ibkit/ibkit/fabric"
)

// A cable that was put into another port of the same switch makes the host
// another one, but not for iblinkinfo, which compares the GUIDs of peers.
func TestDiffPeerPort(t *testing.T) {
	at := func(peer uint8) *fabric.Node {
		p := link(active(nil), active(nil))
		p.Peer.Number = peer
		return p.Node
	}
	for _, peerPort := range []bool{false, true} {
		_, differs := diffNode(at(1), at(2), Checks{Connection: true, PeerPort: peerPort})
		if differs != peerPort {
			t.Errorf("with PeerPort %t: differs %t", peerPort, differs)
		}
	}
}
