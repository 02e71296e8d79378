package resolve

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A FindingKind is a kind of problem with an address.
type FindingKind string

// The kinds of problems.
const (
	NoLID     FindingKind = "no-lid"     // the port has no LID
	OtherLID  FindingKind = "other-lid"  // the port replies at a LID that is not its own
	OtherPort FindingKind = "other-port" // another port replies at the LID of the requested one
	NotActive FindingKind = "not-active" // the port is not active and carries no data
)

// A Finding is a problem with the addresses of a port.
type Finding struct {
	Kind   FindingKind
	Detail string // for display
}

// check sets the findings of a port.
func (p *Port) check() {
	p.Findings = nil
	add := func(kind FindingKind, format string, args ...any) {
		p.Findings = append(p.Findings, Finding{kind, fmt.Sprintf(format, args...)})
	}
	if p.Node != nil && p.PortGUID != 0 && p.Node.PortGUID != p.PortGUID && !slices.Contains(p.GUIDs, p.PortGUID) {
		add(OtherPort, "at %v is port 0x%016x and not 0x%016x", p.To, p.Node.PortGUID, p.PortGUID)
	}
	if p.Info == nil {
		return
	}
	first, last := p.LIDs()
	switch asked := p.To.LID; {
	case first == 0:
		add(NoLID, "the port has no LID")
	case asked != 0 && !p.To.IsDirected() && (asked < first || asked > last):
		add(OtherLID, "at LID %d is a port whose own is %d", asked, first)
	}
	if n := p.Node; n != nil && n.NodeType != mad.NodeTypeSwitch && p.Info.State != ib.PortActive {
		if p.Info.State == ib.PortDown {
			add(NotActive, "the link is down")
		} else {
			add(NotActive, "no subnet manager has activated it")
		}
	}
}
