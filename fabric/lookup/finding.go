package lookup

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// check sets a port's findings.
func (p *Port) check() {
	p.Findings = nil
	add := func(kind report.Kind, format string, args ...any) {
		f := report.New(kind, "", fmt.Sprintf(format, args...))
		if p.Node != nil {
			f = f.At(p.Node.NodeGUID, int(p.Node.LocalPort))
		}
		p.Findings = append(p.Findings, f)
	}
	if p.Node != nil && p.PortGUID != 0 && p.Node.PortGUID != p.PortGUID && !slices.Contains(p.GUIDs, p.PortGUID) {
		add(report.OtherPort, "at %v is port 0x%016x and not 0x%016x", p.To, p.Node.PortGUID, p.PortGUID)
	}
	if p.Info == nil {
		return
	}
	first, last := p.LIDs()
	switch asked := p.To.LID; {
	case first == 0:
		add(report.ZeroLID, "the port has no LID")
	case asked != 0 && !p.To.IsDirected() && (asked < first || asked > last):
		add(report.OtherLID, "at LID %d is a port with LID %d", asked, first)
	}
	if n := p.Node; n != nil && n.NodeType != mad.NodeTypeSwitch && p.Info.State != ib.PortActive {
		if p.Info.State == ib.PortDown {
			add(report.NotActive, "the link is down")
		} else {
			add(report.NotActive, "no subnet manager has activated it")
		}
	}
}
