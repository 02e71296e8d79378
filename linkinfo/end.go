package linkinfo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
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

	Findings []Finding
}

// A Kind is a category of findings.
type Kind uint8

// The findings. [Finding.IsProblem] reports those that are wrong on any fabric.
const (
	NoReply   Kind = iota + 1 // the port did not respond
	NoPeer                    // the link is up, but the peer did not respond
	OneSided                  // the ends report different states, widths or speeds
	NotActive                 // the link is up, but not activated by a subnet manager
	Unstable                  // the link is training or recovers from errors
	Narrow                    // fewer lanes than both ends have enabled
	Slow                      // slower than both ends have enabled
	Disabled                  // disabled by configuration
	Limited                   // both ends support more than is enabled
	Uneven                    // one end enables less than the other
	Invalid                   // the node or the port has values that the specification does not allow
)

// Kinds contains all kinds of findings.
var Kinds = []Kind{NoReply, NoPeer, OneSided, NotActive, Unstable, Narrow, Slow, Disabled, Limited, Uneven, Invalid}

// kindNames are the texts of kinds. They are stable: scripts match them.
var kindNames = [...]string{
	NoReply:   "no-reply",
	NoPeer:    "no-peer",
	OneSided:  "one-sided",
	NotActive: "not-active",
	Unstable:  "unstable",
	Narrow:    "narrow",
	Slow:      "slow",
	Disabled:  "disabled",
	Limited:   "limited",
	Uneven:    "uneven",
	Invalid:   "invalid",
}

// String returns the text of the kind, for example "one-sided".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// MarshalText returns the text of the kind. The error is always nil.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses the text of a kind.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.IndexFunc(Kinds, func(k Kind) bool { return k.String() == string(text) })
	if i < 0 {
		return fmt.Errorf("unknown finding %q", text)
	}
	*k = Kinds[i]
	return nil
}

// A Finding is an observation about a port. Findings are comparable: those of the
// two ends of a link are equal if they state the same.
type Finding struct {
	Kind Kind

	// The values that the detail quotes. The detail is formatted on demand: on a
	// fabric without a subnet manager every port has findings.
	got, want rate
	state     ib.PortState
	phys      ib.PhysState
	port      *fabric.Port // of Invalid
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

// max returns the best width and the best speed of sets.
func (r rate) max() rate { return rate{r.width.Max(), r.speed.Max()} }

// Detail returns the finding in words, without its kind.
func (f Finding) Detail() string {
	switch f.Kind {
	case NoReply:
		return "the port did not respond"
	case NoPeer:
		return "the link is up, but the peer did not respond"
	case OneSided:
		if f.state != ib.PortNoChange {
			return "the peer reports " + f.state.String() + "/" + f.phys.String()
		}
		return "the peer reports " + f.got.String()
	case NotActive:
		if f.state == ib.PortDown {
			return fabric.ErrLinkDown.Error()
		}
		return "not activated by a subnet manager"
	case Unstable:
		return "the physical state is " + f.phys.String()
	case Narrow:
		return f.got.width.String() + ", but both ends have " + f.want.width.String() + " enabled"
	case Slow:
		return f.got.speed.String() + ", but both ends have " + f.want.speed.String() + " enabled"
	case Disabled:
		return "disabled by configuration"
	case Limited:
		return "both ends support " + f.want.String()
	case Uneven:
		return f.got.String() + " enabled, " + f.want.String() + " at the peer"
	case Invalid:
		return strings.Join(slices.Concat(f.port.Node.Invalid(), f.port.Invalid()), ", ")
	}
	return ""
}

// String returns the kind and the detail.
func (f Finding) String() string { return f.Kind.String() + ": " + f.Detail() }

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

// Has reports whether the port has a finding of a kind.
func (e *End) Has(k Kind) bool {
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
		e.add(Finding{Kind: Invalid, port: p})
	}
	if p.Info == nil {
		if complete && !invalid && !p.Omitted {
			e.add(Finding{Kind: NoReply})
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
		e.add(Finding{Kind: NoPeer})
	case p.Peer.Info != nil:
		e.checkPeer(p.Info, p.Peer.Info)
	}
}

func (e *End) add(f Finding) { e.Findings = append(e.Findings, f) }

func (e *End) checkState() {
	info := e.Port.Info
	switch info.PhysState {
	case ib.PhysDisabled:
		e.add(Finding{Kind: Disabled})
	case ib.PhysTraining, ib.PhysLinkErrorRecovery, ib.PhysTest:
		e.add(Finding{Kind: Unstable, phys: info.PhysState})
	}
	if info.State == ib.PortInit || info.State == ib.PortArmed {
		e.add(Finding{Kind: NotActive})
	}
}

// checkPeer compares the two ends of a link.
func (e *End) checkPeer(here, there *mad.PortInfo) {
	p, peer := e.Port, e.Port.Peer
	if there.State == ib.PortDown {
		e.add(Finding{Kind: OneSided, state: there.State, phys: there.PhysState})
		return
	}
	active := rate{e.Width, e.Speed}
	reported := rate{there.LinkWidthActive, e.Speed}
	if p.SpeedKnown() && peer.SpeedKnown() {
		reported.speed = peer.ActiveSpeed()
	}
	if reported != active {
		e.add(Finding{Kind: OneSided, got: reported})
	}

	supported := here.LinkWidthSupported & there.LinkWidthSupported
	speeds := p.SupportedSpeeds() & peer.SupportedSpeeds() // unknown speeds of one end leave none
	enabled := rate{supported & here.LinkWidthEnabled, speeds & p.EnabledSpeeds()}
	peerEnabled := rate{supported & there.LinkWidthEnabled, speeds & peer.EnabledSpeeds()}
	best := rate{enabled.width & peerEnabled.width, enabled.speed & peerEnabled.speed}.max()
	e.BestWidth, e.BestSpeed = best.width, best.speed
	if own, other := enabled.max(), peerEnabled.max(); own != other {
		e.add(Finding{Kind: Uneven, got: own, want: other})
	}
	if e.Width.Lanes() < e.BestWidth.Lanes() {
		e.add(Finding{Kind: Narrow, got: active, want: best})
	}
	if e.Speed < e.BestSpeed {
		e.add(Finding{Kind: Slow, got: active, want: best})
	}
	if most := (rate{supported, speeds}).max(); most.width.Lanes() > max(e.BestWidth.Lanes(), e.Width.Lanes()) ||
		most.speed > max(e.BestSpeed, e.Speed) {
		e.add(Finding{Kind: Limited, want: most})
	}
}
