package watch

import (
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// state returns a port's state, nil if it is not known.
func (d *linkDiff) state(p *fabric.Port) *LinkState {
	if p == nil || p.Info == nil && !p.Omitted {
		return nil
	}
	s := &LinkState{State: ib.PortDown.String(), Findings: []string{}}
	if p.Info == nil {
		return s
	}
	e := linkinfo.NewEnd(p, false)
	s.State = p.Info.State.String()
	if e.Width != 0 && e.Speed != 0 {
		s.Width, s.Speed = new(e.Width.String()), new(e.Speed.String())
	}
	if p.Peer != nil {
		s.Peer = d.portPlace(p.Peer)
	}
	for _, f := range e.Findings {
		if f.Severity.IsProblem() {
			s.Findings = append(s.Findings, f.Brief())
		}
	}
	return s
}

// rate returns, for example, "4X HDR".
func (s *LinkState) rate() string {
	if s == nil || s.Width == nil {
		return ""
	}
	return *s.Width + " " + *s.Speed
}

// text returns the rate, the state and the findings.
func (s *LinkState) text() string {
	if s == nil {
		return "not known"
	}
	return strings.Join(append([]string{strings.TrimSpace(s.rate() + " " + s.State)}, s.Findings...), "; ")
}

// nodePlace returns a node's place.
func (r *run) nodePlace(n *fabric.Node) *report.Place {
	return &report.Place{Name: optional.NonZero(r.Names.Name(n)), NodeGUID: &n.GUID, Type: new(n.Info.NodeType.String()), LID: optional.NonZero(n.LID())}
}

// portPlace returns a port's place.
func (r *run) portPlace(p *fabric.Port) *report.Place {
	place := r.nodePlace(p.Node)
	place.Port, place.LID = new(int(p.Number)), optional.NonZero(p.LID())
	return place
}
