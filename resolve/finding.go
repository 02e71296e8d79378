package resolve

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A FindingKind names what can be wrong with an address.
type FindingKind string

// What can be wrong.
const (
	NoLID     FindingKind = "no-lid"     // the port has no LID
	OtherLID  FindingKind = "other-lid"  // it answers to a LID that is none of its own
	OtherPort FindingKind = "other-port" // another port is where the one that is meant should be
	NotActive FindingKind = "not-active" // no data get through
)

// A Finding is something that is wrong with a port's addresses.
type Finding struct {
	Kind   FindingKind
	Detail string // for people
}

// check looks for what is wrong with a port that was described.
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
	case asked != 0 && p.To.Route == "" && (asked < first || asked > last):
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
