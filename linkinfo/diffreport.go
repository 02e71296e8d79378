package linkinfo

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// DiffSchema identifies the JSON form of a [DiffReport]; schema/linkinfo-diff.json
// describes it.
const DiffSchema = "ibkit/linkinfo-diff/1"

// A DiffReport is the document that "ibkit linkinfo --diff FILE --json" prints.
type DiffReport struct {
	Schema  string           `json:"schema"`
	Partial bool             `json:"partial"` // a fabric is incomplete
	Nodes   []ReportNodeDiff `json:"nodes"`
}

// A ReportNodeDiff is a [NodeDiff].
type ReportNodeDiff struct {
	GUID  ib.GUID          `json:"guid"`
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
	Number uint8            `json:"number"`
	Old    *ReportPortState `json:"old"` // nil: the port was unknown
	New    *ReportPortState `json:"new"` // nil: the port is unknown
}

// A ReportPortState contains the properties of a port that a comparison checks.
type ReportPortState struct {
	State *string     `json:"state"` // nil: the port did not respond
	Peer  *ReportPeer `json:"peer"`
}

// NewDiffReport returns the report on the differences that [Diff] found between
// from and to.
func NewDiffReport(from, to *fabric.Fabric, diffs []NodeDiff, names *fabric.NameMap) DiffReport {
	r := DiffReport{Schema: DiffSchema, Partial: from.Partial() || to.Partial(), Nodes: []ReportNodeDiff{}}
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
	return &ReportNodeState{nonEmpty(names.Name(n)), knownLID(firstPort(n)), n.Info.NumPorts}
}

func portState(p *fabric.Port, names *fabric.NameMap) *ReportPortState {
	if p == nil {
		return nil
	}
	s := &ReportPortState{Peer: NewReportPeer(p, names)}
	if p.Info != nil {
		s.State = new(p.Info.State.String())
	}
	return s
}
