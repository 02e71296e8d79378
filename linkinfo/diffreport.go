package linkinfo

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/report"
)

// DiffSchema identifies the JSON form of a [ReportDiff]; schema/linkinfo-diff.json
// describes it.
const DiffSchema = "ibkit/linkinfo-diff/3"

// A ReportDiff is the document that "ibkit linkinfo --diff FILE --json" prints.
type ReportDiff struct {
	report.Head                  // partial: a fabric is incomplete
	Nodes       []ReportNodeDiff `json:"nodes"`
}

// A ReportNodeDiff is a [NodeDiff].
type ReportNodeDiff struct {
	GUID  ib.GUID          `json:"node_guid"`
	Type  string           `json:"type"`
	Old   *ReportNodeState `json:"old"` // nil: the node was added
	New   *ReportNodeState `json:"new"` // nil: the node was removed
	Ports []ReportPortDiff `json:"ports"`
}

// A ReportNodeState contains the properties of a node that a comparison checks.
type ReportNodeState struct {
	Name     *string `json:"name"`
	LID      *ib.LID `json:"lid"` // 0: not assigned; nil: unknown
	NumPorts uint8   `json:"num_ports"`
}

// A ReportPortDiff is a [PortDiff].
type ReportPortDiff struct {
	Number uint8            `json:"port"`
	Old    *ReportPortState `json:"old"` // nil: the port was unknown
	New    *ReportPortState `json:"new"` // nil: the port is unknown
}

// A ReportPortState contains the properties of a port that a comparison checks.
type ReportPortState struct {
	State *string      `json:"state"` // nil: the port did not respond
	Width *string      `json:"width"` // active; nil: unknown, or the link is down
	Speed *string      `json:"speed"`
	Peer  *report.Peer `json:"peer"`
}

// NewReportDiff returns the report on the differences that [Diff] found between
// from and to.
func NewReportDiff(from *fabric.Fabric, to *Result, diffs []NodeDiff, names *fabric.NameMap) *ReportDiff {
	r := &ReportDiff{Head: report.NewHead(DiffSchema, to.Began), Nodes: []ReportNodeDiff{}}
	r.Fail(append(from.ReportFailures(names), to.Fabric.ReportFailures(names)...)...)
	r.Partial = from.Partial() || to.Fabric.Partial()
	for _, d := range diffs {
		n := d.New
		if n == nil {
			n = d.Old
		}
		node := ReportNodeDiff{
			GUID:  n.GUID,
			Type:  n.Info.NodeType.String(),
			Old:   nodeState(d.Old, names),
			New:   nodeState(d.New, names),
			Ports: []ReportPortDiff{},
		}
		for _, p := range d.Ports {
			node.Ports = append(node.Ports, ReportPortDiff{p.number(), portState(p.Old, names), portState(p.New, names)})
		}
		r.Nodes = append(r.Nodes, node)
	}
	return r
}

// number returns the number of the port in the fabric that contains it.
func (d PortDiff) number() uint8 {
	if d.New != nil {
		return d.New.Number
	}
	return d.Old.Number
}

func nodeState(n *fabric.Node, names *fabric.NameMap) *ReportNodeState {
	if n == nil {
		return nil
	}
	return &ReportNodeState{optional.NonZero(names.Name(n)), knownLID(firstPort(n)), n.Info.NumPorts}
}

func portState(p *fabric.Port, names *fabric.NameMap) *ReportPortState {
	if p == nil {
		return nil
	}
	s := &ReportPortState{Peer: NewReportPeer(p, names)}
	if p.Info != nil {
		s.State = new(p.Info.State.String())
	}
	e := NewEnd(p, false)
	s.Width, s.Speed = textOf(e.Width), textOf(e.Speed)
	return s
}
