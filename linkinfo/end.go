package linkinfo

import (
	"iter"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// An End is one end of a link, or a port without a link, and its findings.
type End struct {
	Port *fabric.Port

	// The active width and speed; 0 if the link is down or the port did not
	// respond.
	Width ib.LinkWidth
	Speed ib.Speed

	// The best width and speed that both ends support and have enabled; 0 without
	// a peer.
	BestWidth ib.LinkWidth
	BestSpeed ib.Speed

	// Findings are the kinds and details of the findings. [End.Located] adds the port.
	Findings []report.Finding
}

// Kinds are the kinds of findings about links.
var Kinds = []report.Kind{
	report.NoReply, report.NoPeer, report.OneSided, report.NotActive, report.Unstable, report.Narrow,
	report.Slow, report.Disabled, report.Limited, report.Uneven, report.Invalid,
	report.SlowParallel,
}

// A rate is the width and the speed of a link, or a set of widths and one of speeds.
type rate struct {
	width ib.LinkWidth
	speed ib.Speed
}

// String returns, for example, "4X HDR", "4X" with an unknown speed.
func (r rate) String() string {
	if r.speed == 0 {
		return r.width.String()
	}
	return r.width.String() + " " + r.speed.String()
}

// gbps returns the signalling rate of a link.
func (r rate) gbps() float64 { return ib.LinkGbps(r.width, r.speed) }

// max returns the best width and the best speed of sets.
func (r rate) max() rate { return rate{r.width.Max(), r.speed.Max()} }

// HasProblem reports whether any of the findings is a problem.
func (e *End) HasProblem() bool {
	for _, f := range e.Findings {
		if f.Severity.IsProblem() {
			return true
		}
	}
	return false
}

// Has reports whether the port has a finding of a kind.
func (e *End) Has(k report.Kind) bool {
	for _, f := range e.Findings {
		if f.Kind == k {
			return true
		}
	}
	return false
}

// Down reports whether the port reports that its link is down.
func (e *End) Down() bool {
	return e.Port.Info != nil && e.Port.Info.State == ib.PortDown
}

// NewEnd checks a port and its link. complete states that the scan reached every
// node: only then is a missing response a finding.
func NewEnd(p *fabric.Port, complete bool) End {
	e := End{Port: p}
	e.check(complete)
	return e
}

func (e *End) check(complete bool) {
	p := e.Port
	invalid := len(p.Node.Invalid()) > 0 || len(p.Invalid()) > 0
	if invalid {
		e.add(report.Invalid, strings.Join(slices.Concat(p.Node.Invalid(), p.Invalid()), ", "))
	}
	if p.Info == nil {
		if complete && !invalid && !p.Omitted {
			e.add(report.NoReply, "the port did not respond")
		}
		return
	}
	e.checkState()
	// While the state is Down, the other fields are undefined
	// (InfiniBand Architecture, Volume 1, C14-24.2.1).
	if e.Down() {
		return
	}
	e.Width = p.Info.LinkWidthActive
	e.Speed = p.ActiveSpeed()
	switch {
	case p.Peer == nil && (!complete || p.IsManagement()):
	case p.Peer == nil:
		e.add(report.NoPeer, "the link is up, but the peer did not respond")
	case p.Peer.Info != nil:
		e.checkPeer(p.Info, p.Peer.Info)
	}
}

func (e *End) add(kind report.Kind, detail string) {
	e.Findings = append(e.Findings, report.New(kind, "", detail))
}

// Located returns the findings with the port as their place.
func (e *End) Located(names *fabric.NameMap) []report.Finding {
	if len(e.Findings) == 0 {
		return nil
	}
	subject := names.PortName(e.Port)
	located := make([]report.Finding, len(e.Findings))
	for i, f := range e.Findings {
		f.Subject = subject
		located[i] = f.At(e.Port.Node.GUID, int(e.Port.Number))
	}
	return located
}

// Findings yields the findings of link ends as [End.Located] returns them.
func Findings(ends []End, names *fabric.NameMap) iter.Seq[report.Finding] {
	return func(yield func(report.Finding) bool) {
		for i := range ends {
			for _, f := range ends[i].Located(names) {
				if !yield(f) {
					return
				}
			}
		}
	}
}

func (e *End) checkState() {
	info := e.Port.Info
	switch info.PhysState {
	case ib.PhysDisabled:
		e.add(report.Disabled, "disabled by configuration")
	case ib.PhysTraining, ib.PhysLinkErrorRecovery, ib.PhysTest:
		e.add(report.Unstable, "the physical state is "+info.PhysState.String())
	}
	if info.State == ib.PortInit || info.State == ib.PortArmed {
		e.add(report.NotActive, "not activated by a subnet manager")
	}
}

// checkParallel compares the link with parallel links between the same switches, unless
// another finding has the cause. This is evidence in files without the enabled speeds, too.
func (e *End) checkParallel() {
	p := e.Port
	if e.Width == 0 || e.Speed == 0 || p.Peer == nil || !p.Node.IsSwitch() || !p.Peer.Node.IsSwitch() || p.Peer.Node == p.Node {
		return
	}
	for _, cause := range []report.Kind{report.Narrow, report.Slow, report.OneSided, report.Uneven} {
		if e.Has(cause) {
			return
		}
	}
	own := rate{e.Width, e.Speed}
	best := own
	for _, q := range p.Node.Ports {
		if q == nil || q.Peer == nil || q.Peer.Node != p.Peer.Node || q.Info == nil || q.Info.State == ib.PortDown {
			continue
		}
		if other := (rate{q.Info.LinkWidthActive, q.ActiveSpeed()}); other.speed != 0 && other.gbps() > best.gbps() {
			best = other
		}
	}
	if best != own {
		e.add(report.SlowParallel, own.String()+", but a parallel link runs at "+best.String())
	}
}

// agree reports whether two ends report the same. In a stored fabric without states, 0 is an
// unknown width or speed.
func agree[T ib.LinkWidth | ib.Speed](here, there T, stored bool) bool {
	return here == there || stored && (here == 0 || there == 0)
}

// checkPeer compares the two ends of a link.
func (e *End) checkPeer(here, there *mad.PortInfo) {
	p, peer := e.Port, e.Port.Peer
	if there.State == ib.PortDown {
		e.add(report.OneSided, "the peer reports "+there.State.String()+"/"+there.PhysState.String())
		return
	}
	active := rate{e.Width, e.Speed}
	reported := rate{there.LinkWidthActive, e.Speed}
	if p.SpeedKnown() && peer.SpeedKnown() {
		reported.speed = peer.ActiveSpeed()
	}
	stored := here.State == ib.PortNoChange || there.State == ib.PortNoChange
	if !agree(active.width, reported.width, stored) || !agree(active.speed, reported.speed, stored) {
		e.add(report.OneSided, "the peer reports "+reported.String())
	}

	supported := here.LinkWidthSupported & there.LinkWidthSupported
	speeds := p.SupportedSpeeds() & peer.SupportedSpeeds() // unknown speeds of one end leave none
	enabled := rate{supported & here.LinkWidthEnabled, speeds & p.EnabledSpeeds()}
	peerEnabled := rate{supported & there.LinkWidthEnabled, speeds & peer.EnabledSpeeds()}
	best := rate{enabled.width & peerEnabled.width, enabled.speed & peerEnabled.speed}.max()
	e.BestWidth, e.BestSpeed = best.width, best.speed
	if own, other := enabled.max(), peerEnabled.max(); own != other {
		e.add(report.Uneven, own.String()+" enabled, "+other.String()+" at the peer")
	}
	if e.Width.Lanes() < e.BestWidth.Lanes() {
		e.add(report.Narrow, active.width.String()+", but both ends have "+best.width.String()+" enabled")
	}
	if e.Speed < e.BestSpeed {
		e.add(report.Slow, active.speed.String()+", but both ends have "+best.speed.String()+" enabled")
	}
	if most := (rate{supported, speeds}).max(); most.width.Lanes() > max(e.BestWidth.Lanes(), e.Width.Lanes()) ||
		most.speed > max(e.BestSpeed, e.Speed) {
		e.add(report.Limited, "both ends support "+most.String())
	}
}
