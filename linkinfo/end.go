package linkinfo

import (
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// An End is one end of a link, or a port without one, and what is to be said of
// it.
type End struct {
	Port *fabric.Port

	// What the link runs at; 0 while it is down or where the port did not
	// answer.
	Width ib.LinkWidth
	Speed ib.Speed

	// The best that both ends can do and have enabled; 0 without a peer.
	BestWidth ib.LinkWidth
	BestSpeed ib.Speed

	Findings []Finding
}

// A Kind is a sort of finding. Its text is stable: scripts match it.
type Kind string

// The findings. Those that IsProblem reports are wrong on any fabric; the
// others are worth knowing.
const (
	NoAnswer  Kind = "no-answer"  // the port did not answer
	NoPeer    Kind = "no-peer"    // the link is up, and what is behind it did not answer
	OneSided  Kind = "one-sided"  // the two ends do not agree on the link's state, width or speed
	NotActive Kind = "not-active" // the link is up and the subnet manager did not activate it
	Unstable  Kind = "unstable"   // the link is training or recovers from errors
	Narrow    Kind = "narrow"     // fewer lanes than both ends have enabled
	Slow      Kind = "slow"       // slower than both ends have enabled
	Disabled  Kind = "disabled"   // switched off
	Limited   Kind = "limited"    // both ends can do more than is enabled
)

// Kinds are all kinds of findings.
var Kinds = []Kind{NoAnswer, NoPeer, OneSided, NotActive, Unstable, Narrow, Slow, Disabled, Limited}

// A Finding is one thing to be said of a port.
type Finding struct {
	Kind   Kind
	Detail string // for people
}

// IsProblem reports whether a finding is wrong on any fabric.
func (f Finding) IsProblem() bool { return f.Kind != Disabled && f.Kind != Limited }

// HasProblem reports whether any of the findings is a problem.
func (e *End) HasProblem() bool {
	for _, f := range e.Findings {
		if f.IsProblem() {
			return true
		}
	}
	return false
}

// Down reports whether the port says that its link is down.
func (e *End) Down() bool {
	return e.Port.Info != nil && e.Port.Info.State == ib.PortDown
}

// NewEnd judges a port. complete says that the scan came to its end: that
// nothing is known of a port or its peer means something only then.
func NewEnd(p *fabric.Port, complete bool) End {
	e := End{Port: p}
	if p.Info == nil {
		if complete {
			e.add(NoAnswer, "the port did not answer")
		}
		return e
	}
	e.judgeState()
	// While the state is Down, the other fields mean nothing
	// (InfiniBand Architecture, Volume 1, C14-24.2.1).
	if e.Down() {
		return e
	}
	e.Width = p.Info.LinkWidthActive
	if p.Caps() != nil {
		e.Speed = p.Info.ActiveSpeed(p.Caps(), p.Ext)
	}
	switch {
	case p.Peer == nil && !complete:
	case p.Peer == nil:
		e.add(NoPeer, "the link is up, but nothing answers behind it")
	case p.Peer.Info != nil:
		e.judgePeer(p.Info, p.Peer.Info)
	}
	return e
}

func (e *End) add(k Kind, format string, args ...any) {
	e.Findings = append(e.Findings, Finding{k, fmt.Sprintf(format, args...)})
}

func (e *End) judgeState() {
	info := e.Port.Info
	switch info.PhysState {
	case ib.PhysDisabled:
		e.add(Disabled, "switched off by configuration")
	case ib.PhysTraining, ib.PhysLinkErrorRecovery, ib.PhysTest:
		e.add(Unstable, "physical state is %s", info.PhysState)
	}
	if info.State == ib.PortInit || info.State == ib.PortArmed {
		e.add(NotActive, "no subnet manager has activated it")
	}
}

// judgePeer compares the two ends of a link.
func (e *End) judgePeer(here, there *mad.PortInfo) {
	p, peer := e.Port, e.Port.Peer
	if there.State == ib.PortDown {
		e.add(OneSided, "the other end says %s/%s", there.State, there.PhysState)
		return
	}
	// Without its capabilities a port's speed fields cannot be read, as those of
	// a switch whose port 0 did not answer.
	known := p.Caps() != nil && peer.Caps() != nil
	width, speed := there.LinkWidthActive, e.Speed
	if known {
		speed = there.ActiveSpeed(peer.Caps(), peer.Ext)
	}
	if width != e.Width || speed != e.Speed {
		e.add(OneSided, "the other end says %s %s", width, speed)
	}

	canWidth := here.LinkWidthSupported & there.LinkWidthSupported
	var canSpeed ib.Speed
	if known {
		canSpeed = p.Info.SupportedSpeeds(p.Caps(), p.Ext) & there.SupportedSpeeds(peer.Caps(), peer.Ext)
	}
	e.BestWidth = (canWidth & here.LinkWidthEnabled & there.LinkWidthEnabled).Max()
	e.BestSpeed = (canSpeed & p.Info.EnabledSpeeds(p.Caps(), p.Ext) & there.EnabledSpeeds(peer.Caps(), peer.Ext)).Max()

	if e.Width.Lanes() < e.BestWidth.Lanes() {
		e.add(Narrow, "%s, but both ends have %s enabled", e.Width, e.BestWidth)
	}
	if e.Speed < e.BestSpeed {
		e.add(Slow, "%s, but both ends have %s enabled", e.Speed, e.BestSpeed)
	}
	if wider, faster := canWidth.Max(), canSpeed.Max(); wider.Lanes() > max(e.BestWidth.Lanes(), e.Width.Lanes()) ||
		faster > max(e.BestSpeed, e.Speed) {
		e.add(Limited, "both ends can do %s %s", wider, faster)
	}
}
