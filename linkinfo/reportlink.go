package linkinfo

import (
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/report"
)

// A ReportLink is a link in a [Report], once for both ends.
type ReportLink struct {
	A        *report.Peer  `json:"a"`
	B        *report.Peer  `json:"b"` // nil: the peer is unknown
	State    *string       `json:"state"`
	Width    *string       `json:"width"`
	Speed    *string       `json:"speed"`
	Gbps     *float64      `json:"gbps"`     // signalling rate, 10^9 bits per second
	Findings []report.Kind `json:"findings"` // of both ends, each once
}

// NewReportLink returns the report on a link, with its first end's state and rate.
func NewReportLink(l Link, names *fabric.NameMap) ReportLink {
	e := l.Near
	r := ReportLink{
		A: reportEnd(e.Port, names), B: reportEnd(e.Port.Peer, names), Width: textOf(e.Width), Speed: textOf(e.Speed),
		Findings: report.KindsOf(slices.Concat(e.Findings, l.FarFindings())),
	}
	if e.Port.Info != nil {
		r.State = textOf(e.Port.Info.State)
	}
	if e.Width != 0 && e.Speed != 0 {
		r.Gbps = new(ib.LinkGbps(e.Width, e.Speed))
	}
	return r
}

// reportEnd returns the report on a port as an end of a link; p may be nil.
func reportEnd(p *fabric.Port, names *fabric.NameMap) *report.Peer {
	if p == nil {
		return nil
	}
	return &report.Peer{
		Name: optional.NonZero(names.Name(p.Node)), Type: p.Node.Info.NodeType.String(),
		NodeGUID: p.Node.GUID, PortGUID: p.GUID, Port: p.Number, LID: knownLID(p),
	}
}
