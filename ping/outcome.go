package ping

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/enum"
)

// An Outcome is the result of a probe, or of a further reply to the probe.
type Outcome uint8

// A probe ends with any of the first seven outcomes. The other two are replies that arrive
// after a probe has ended.
const (
	Received    Outcome = iota // a valid reply in time
	Lost                       // no reply in time
	Refused                    // the reply has a status other than 0
	Corrupted                  // the reply has invalid content
	WrongOUI                   // the reply has another vendor's OUI
	WrongSource                // the reply is from another port or node than the target
	Unreachable                // the probe could not be sent

	Late       // a reply to a probe that counts as lost
	Duplicated // another reply to a probe that was answered
)

var outcomeNames = [...]string{
	"received", "lost", "refused", "corrupted", "wrong OUI", "wrong source", "unreachable", "late", "duplicated",
}

// String returns the outcome in words, such as "wrong source".
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// MarshalText returns the same as String.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText parses the text from MarshalText.
func (o *Outcome) UnmarshalText(text []byte) error {
	return enum.Parse(o, Received, Duplicated, "outcome", text)
}

// A Probe describes a probe that ended, or a further reply to the probe.
type Probe struct {
	Target  *Target
	Seq     int // probe number for the target, from 0
	Outcome Outcome
	Sent    time.Time     // last attempt
	RTT     time.Duration // from the last attempt to the reply; 0: no reply
	Host    []byte        // ping server name, which may hold control characters
	Node    ib.GUID       // node that replied to [AgentSMA]
	Total   *Stats        // for all targets, this probe included
	Err     error         // cause if the outcome is not Received and there is more to report than the outcome
}

// Reason returns the cause in words if the outcome is not Received.
func (p *Probe) Reason() string {
	if p.Err != nil {
		return p.Err.Error()
	}
	return p.Outcome.String()
}
