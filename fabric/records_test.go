package fabric

import (
	"slices"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// pairRecords returns the records for a switch at LID 1 and an adapter at LID 2, which
// is at its port 3.
func pairRecords() *recordSet {
	node := func(lid ib.LID, t mad.NodeType, ports uint8) mad.NodeRecord {
		guid := ib.GUID(0x100 * uint64(lid))
		return mad.NodeRecord{LID: lid, NodeInfo: mad.NodeInfo{NodeType: t, NumPorts: ports, NodeGUID: guid, PortGUID: guid + 1, LocalPort: 1}}
	}
	return &recordSet{
		nodes:    []mad.NodeRecord{node(1, mad.NodeTypeSwitch, 4), node(2, mad.NodeTypeCA, 2)},
		ports:    []mad.PortInfoRecord{{LID: 1, PortNum: 0}, {LID: 1, PortNum: 3}, {LID: 2, PortNum: 1}},
		switches: []mad.SwitchInfoRecord{{LID: 1}},
		links:    []mad.LinkRecord{{FromLID: 1, FromPort: 3, ToLID: 2, ToPort: 1}, {FromLID: 2, FromPort: 1, ToLID: 1, ToPort: 3}},
		local:    umad.PortAttr{NodeGUID: 0x200, Number: 1},
	}
}

// Records that contradict others become conflicts, and the rest is kept.
func TestRecordSet_Conflicts(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*recordSet)
		want   []string
	}{
		{"none", func(*recordSet) {}, nil},
		{"LID 0", func(r *recordSet) { r.nodes = append(r.nodes, mad.NodeRecord{NodeInfo: mad.NodeInfo{NodeGUID: 0x300}}) },
			[]string{"port 0 of 0x0000000000000300 has LID 0"}},
		{"LID of another node", func(r *recordSet) {
			r.nodes = append(r.nodes, mad.NodeRecord{LID: 1, NodeInfo: mad.NodeInfo{NodeGUID: 0x300, LocalPort: 1}})
		}, []string{"port 1 of 0x0000000000000300 has LID 1, as 0x0000000000000100 has"}},
		{"GUID of another node", func(r *recordSet) {
			r.nodes = append(r.nodes, mad.NodeRecord{LID: 3, NodeInfo: mad.NodeInfo{NodeGUID: 0x200, NodeType: mad.NodeTypeSwitch}})
		}, []string{"two nodes have GUID 0x0000000000000200"}},
		{"unknown ports", func(r *recordSet) {
			r.ports = append(r.ports, mad.PortInfoRecord{LID: 1, PortNum: 5, PortInfo: mad.PortInfo{State: ib.PortActive}}, mad.PortInfoRecord{LID: 9, PortInfo: mad.PortInfo{State: ib.PortDown}})
		}, []string{"1 PortInfoRecords of unknown ports"}},
		{"unknown switches", func(r *recordSet) {
			r.switches = append(r.switches, mad.SwitchInfoRecord{LID: 2}, mad.SwitchInfoRecord{LID: 9})
		},
			[]string{"2 SwitchInfoRecords of unknown switches"}},
		{"unknown links", func(r *recordSet) {
			r.links = append(r.links, mad.LinkRecord{FromLID: 1, FromPort: 9, ToLID: 2, ToPort: 1}, mad.LinkRecord{FromLID: 1, FromPort: 0, ToLID: 2, ToPort: 1}, mad.LinkRecord{FromLID: 1, FromPort: 3, ToLID: 1, ToPort: 3})
		}, []string{"3 LinkRecords of unknown ports"}},
		{"two links", func(r *recordSet) {
			r.links = append(r.links, mad.LinkRecord{FromLID: 1, FromPort: 4, ToLID: 2, ToPort: 1})
		}, []string{"port 4 of 0x0000000000000100 has two links"}},
		{"no local port", func(r *recordSet) { r.local.NodeGUID = 0x999 }, []string{"the local port has no NodeRecord"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := pairRecords()
			test.change(r)
			f := r.assemble()
			var got []string
			for _, c := range f.Conflicts {
				got = append(got, c.Detail[len("subnet administration: "):])
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got conflicts %q, want %q", got, test.want)
			}
			if len(f.Nodes) != len(r.nodes) || f.NodeByGUID(0x100).Ports[3].Peer != f.PortByGUID(0x201) {
				t.Errorf("got %d nodes and the link %v, want %d nodes and the link to the adapter", len(f.Nodes), f.NodeByGUID(0x100).Ports[3].Peer, len(r.nodes))
			}
		})
	}
}

// Any bytes decode to records, and no record combination makes assemble panic.
func FuzzRecordSet(f *testing.F) {
	f.Add([]byte("\x01\x02\x01\x03\x00\x01\x02\x02\x03"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, choices []byte) {
		next := func() uint8 {
			if len(choices) == 0 {
				return 0
			}
			c := choices[0]
			choices = choices[1:]
			return c
		}
		r := &recordSet{local: umad.PortAttr{NodeGUID: ib.GUID(next()), Number: next()}}
		for range 1 + next()%4 {
			r.nodes = append(r.nodes, mad.NodeRecord{LID: ib.LID(next() % 5), NodeInfo: mad.NodeInfo{
				NodeType: mad.NodeType(next() % 4), NumPorts: next(), NodeGUID: ib.GUID(next() % 4), PortGUID: ib.GUID(next() % 4), LocalPort: next(),
			}})
		}
		for len(choices) > 0 {
			r.ports = append(r.ports, mad.PortInfoRecord{LID: ib.LID(next() % 5), PortNum: next()})
			r.switches = append(r.switches, mad.SwitchInfoRecord{LID: ib.LID(next() % 5)})
			r.links = append(r.links, mad.LinkRecord{FromLID: ib.LID(next() % 5), FromPort: next(), ToLID: ib.LID(next() % 5), ToPort: next()})
		}
		fabric := r.assemble()
		for _, n := range fabric.Nodes {
			for _, p := range n.Ports {
				if p != nil && p.Peer != nil && p.Peer.Peer != p {
					t.Fatalf("the link of port %d of %v has one end", p.Number, n.GUID)
				}
			}
		}
	})
}
