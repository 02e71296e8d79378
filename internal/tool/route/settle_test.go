package route

import (
	"context"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// A tablePort calls a function before each request for a linear forwarding table, with the
// count of these requests.
type tablePort struct {
	umad.Port
	requests int
	before   func(request int)
}

func (p *tablePort) Send(m *umad.Message) error {
	if m.MAD.Attr() == mad.AttrLinearForwardingTable {
		p.requests++
		p.before(p.requests)
	}
	return p.Port.Send(m)
}

// Switch entries that change after they were read, without a new highest LID and
// without a finding, are read again.
func TestCheck_Changing(t *testing.T) {
	const leaf, lid = "leaf001", 100
	f := build(t, "fat-tree:radix=16,pods=16")
	pass := 0 // requests to read all tables once
	for _, n := range f.Nodes {
		if n.IsSwitch() {
			pass += (len(n.LFT) + lftBlock - 1) / lftBlock
		}
	}
	for _, test := range []struct {
		name     string
		changes  int // pass count during which the entry changes
		passes   int
		changing int
	}{
		{"no change", 0, 1, 0},
		{"during the first read", 1, 2, 0},
		{"during two reads", 2, 3, 0},
		{"during all reads", 3, 3, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := build(t, "fat-tree:radix=16,pods=16")
			port := uint8(0)
			p := &tablePort{before: func(request int) {
				if request%pass == 0 && request/pass <= test.changes {
					port = uplink(f, leaf, f.Node(leaf).LFT[lid])
					do(t, f, fmt.Sprintf("lft %s %d %d", leaf, lid, port))
				}
			}}
			a, err := Check(t.Context(), Options{Source: fabric.Source{OpenPort: func(context.Context) (port umad.Port, err error) {
				p.Port, err = f.Open("")
				return p, err
			}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(a.Routing.Changing); got != test.changing || p.requests != test.passes*pass {
				t.Errorf("got %d changing switches after %d requests, want %d after %d", got, p.requests, test.changing, test.passes*pass)
			}
			if got := a.Routing.NodeByGUID(f.Node(leaf).Info.NodeGUID).Tables.LFT[lid]; port != 0 && test.changing == 0 && got != port {
				t.Errorf("got port %d, want the new one, %d", got, port)
			}
			if findings := a.Findings(nil); len(findings) != test.changing || test.changing > 0 && findings[0].Kind != report.Changing {
				t.Errorf("got findings %v, want %d changing switches", findings, test.changing)
			}
		})
	}
}

// uplink returns a switch's port to another switch, other than a given switch.
func uplink(f *sim.Fabric, id string, other uint8) uint8 {
	for i, p := range f.Node(id).Ports {
		if p.Peer != nil && p.Peer.Node.IsSwitch() && uint8(i) != other {
			return uint8(i)
		}
	}
	return NoRoute
}
