package topology

import (
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// WriteList writes a line for each node of the given types, channel adapters first.
func (t *Text) WriteList(w io.Writer, f *fabric.Fabric, types ...mad.NodeType) error {
	t.start(w)
	r := f.Replay(nil)
	for _, kind := range types {
		for _, n := range r.Nodes {
			if n.Info.NodeType == kind {
				fmt.Fprintf(t.out, "%s\t : 0x%016x ports %d devid 0x%x vendid 0x%x \"%s\"\n",
					wordsOf(kind).list, uint64(n.GUID), n.Info.NumPorts, n.Info.DeviceID, n.Info.VendorID, t.Names.Name(n))
			}
		}
	}
	return t.finish()
}

// WritePorts writes a line for each port, with its peer if it has a peer.
func (t *Text) WritePorts(w io.Writer, f *fabric.Fabric) error {
	t.start(w)
	for _, n := range f.Replay(nil).Nodes {
		for number := int(n.Info.NumPorts); number > 0; number-- {
			if number < len(n.Ports) && n.Ports[number] != nil {
				t.reportPort(n.Ports[number])
			}
		}
	}
	return t.finish()
}

func (t *Text) reportPort(p *fabric.Port) {
	_, _, width, speed := linkOf(p)
	if p.Caps() == nil {
		width = "??"
	}
	t.reportEnd(p)
	fmt.Fprintf(t.out, " %s %s", width, speed)
	if p.Peer == nil {
		fmt.Fprintf(t.out, "%36s'%s'\n", "", t.Names.Name(p.Node))
		return
	}
	t.out.WriteString(" - ")
	t.reportEnd(p.Peer)
	fmt.Fprintf(t.out, " ( '%s' - '%s' )\n", t.Names.Name(p.Node), t.Names.Name(p.Peer.Node))
}

func (t *Text) reportEnd(p *fabric.Port) {
	fmt.Fprintf(t.out, "%2s %5d %2d 0x%016x", wordsOf(p.Node.Info.NodeType).report, p.LID(), p.Number, uint64(p.GUID))
}

// WriteVisits writes a line for each NodeInfo response in the discovery.
func WriteVisits(w io.Writer, f *fabric.Fabric) error {
	t := &Text{}
	t.start(w)
	f.Replay(func(v fabric.Visit) {
		n, prompt := v.Port.Node, "known"
		if v.New {
			prompt = "new"
		}
		number := v.Port.Number
		if n.IsSwitch() {
			number = 0
		}
		fmt.Fprintf(t.out, "DR path slid 0; dlid 0; %s -> %s %s {%016x} portnum %d lid %d-%d \"%s\"\n",
			v.Route, prompt, typeText(n.Info.NodeType), uint64(n.GUID), number, v.LID, int(v.LID)+1<<v.LMC-1,
			strings.TrimRight(v.Desc.String(), "\x00"))
	})
	return t.finish()
}

// typeText returns a node type's name as libibmad prints it.
func typeText(t mad.NodeType) string {
	switch t {
	case mad.NodeTypeCA:
		return "Channel Adapter"
	case mad.NodeTypeSwitch, mad.NodeTypeRouter:
		return t.String()
	}
	return fmt.Sprintf("?(%d)?", t)
}
