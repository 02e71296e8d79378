package counters

import (
	"errors"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Node is a node with the last pass's result.
type Node struct {
	*fabric.Node

	// Its PMA's capabilities, if Described.
	Described bool
	Caps      mad.PerfCapMask
	Caps2     mad.PerfCapMask2

	Total *Sample // sums over all ports; nil: not read

	// Ports are the ports that were read or requested, by number.
	Ports []*Port

	// Failures are the last pass's requests without a valid response.
	Failures []Failure

	byNumber  []*Port
	began     bool // ClassPortInfo was queried
	responds  bool // the agent responded
	wantPorts bool
	redirect  *umad.Addr // of the agent of all ports
}

// port returns the port with a number, nil if it was not read or requested.
func (n *Node) port(number uint8) *Port {
	if int(number) >= len(n.byNumber) {
		return nil
	}
	return n.byNumber[number]
}

// add adds a port.
func (n *Node) add(p *Port) {
	if grow := max(int(p.Number)+1, len(n.Node.Ports)) - len(n.byNumber); grow > 0 {
		n.byNumber = append(n.byNumber, make([]*Port, grow)...)
		n.Ports = slices.Grow(n.Ports, grow)
	}
	n.byNumber[p.Number] = p
	n.Ports = append(n.Ports, p)
}

// A Port is a port with its last samples.
type Port struct {
	*fabric.Port

	Now    *Sample // of the last pass; nil: not read
	Before *Sample // of the pass before, or of a baseline

	Tick *uint8 // PortSamplesControl.Tick, which defines the unit of XmitWait; nil: unknown

	node     *Node
	redirect *umad.Addr
	fec      *mad.PortInfoExtended // nil: not queried yet
	state    *ib.PortState         // since the link went down in a window; nil: as scanned
	next     *Port                 // in the queue

	pass    int32 // in which the port was last read
	missing uint8 // replies
	suspect bool  // to be read again in this pass
	failed  bool
}

// LID returns the LID of the port's agent.
func (p *Port) LID() ib.LID { return p.Port.LID() }

// State returns the link state, as the scan or a later pass read it. It returns 0 if the
// state is unknown.
func (p *Port) State() ib.PortState {
	switch {
	case p.state != nil:
		return *p.state
	case p.Info != nil:
		return p.Info.State
	case p.Omitted:
		return ib.PortDown
	}
	return 0
}

// A Failure is a request without a valid response, in the list of its node. It is no
// report.Failure, because collectors compare Attr and Err, and names come from a view:
// [Result.Head].
type Failure struct {
	Port uint8 // mad.AllPorts: all ports on the node
	Attr mad.AttrID
	Err  error
}

// Attribute returns the name of the attribute, which is a performance management attribute
// unless the error has another class.
func (f Failure) Attribute() string {
	if e, ok := errors.AsType[*umad.Error](f.Err); ok {
		return e.Class.AttrName(f.Attr)
	}
	return mad.ClassPM.AttrName(f.Attr)
}
