package topology

import (
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// A Kind is a category of findings. The texts are stable: scripts match them.
type Kind string

// The findings of [Check].
const (
	Blind         Kind = "blind" // the scan found no other node: see [fabric.Fabric.Blind]
	ZeroLID       Kind = "zero-lid"
	DuplicateLID  Kind = "duplicate-lid" // LID ranges of two ports overlap
	LIDRange      Kind = "lid-range"     // the base LID contradicts the LMC
	ZeroGUID      Kind = "zero-guid"
	DuplicateGUID Kind = "duplicate-guid"
	EmptyName     Kind = "empty-name"     // the description of a node is empty
	DuplicateName Kind = "duplicate-name" // nodes share a description; also of [Plan.Compare]
)

// The findings of [Plan.Compare].
const (
	MissingNode     Kind = "missing-node"
	MissingCable    Kind = "missing-cable"
	WrongPeer       Kind = "wrong-peer"
	Swapped         Kind = "swapped" // two cables are exchanged
	UnexpectedCable Kind = "unexpected-cable"
	Slower          Kind = "slower"    // than planned
	Ambiguous       Kind = "ambiguous" // a name in the plan fits several nodes
)

// A Finding is a defect of a fabric. Findings of a comparison with a plan have a job
// for the technician at the rack.
type Finding struct {
	Kind   Kind   `json:"kind"`
	Detail string `json:"detail"`
	Ends   []End  `json:"ends"`
	Job    string `json:"job,omitempty"`
	Line   int    `json:"line,omitempty"` // of the plan

	ports []*fabric.Port
}

// Ports returns the ports of the finding.
func (f Finding) Ports() []*fabric.Port { return f.ports }

// An End identifies a node, or a port of a node.
type End struct {
	Name string  `json:"name"`
	GUID *string `json:"guid"` // of the node; nil if unknown
	Port *string `json:"port"` // number or label; nil for the whole node
}

// endOf returns the end of a port.
func endOf(p *fabric.Port, names *fabric.NameMap) End {
	return End{Name: names.Name(p.Node), GUID: new(p.Node.GUID.String()), Port: new(fmt.Sprint(p.Number))}
}

func nodeEnd(n *fabric.Node, names *fabric.NameMap) End {
	return End{Name: names.Name(n), GUID: new(n.GUID.String())}
}

// portText returns name and port number.
func portText(p *fabric.Port, names *fabric.NameMap) string {
	text := names.PortName(p)
	if p.Label != "" {
		text += " (" + p.Label + ")"
	}
	return text
}

// An endPort is a port with LIDs of its own: a switch's port 0, or a port of another
// node.
type endPort struct {
	*fabric.Port
	first, last ib.LID
}
