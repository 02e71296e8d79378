package ping

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
)

// An Outcome is what became of a probe, or what came beside it.
type Outcome uint8

// What becomes of a probe is one of the first seven. The others are packets that
// came although the probe had ended.
const (
	Received    Outcome = iota // answered in time, by the right one, and well
	Lost                       // no answer in time
	Refused                    // answered with a status that is not 0
	Corrupted                  // the answer does not hold what it has to
	WrongOUI                   // answered for another vendor
	WrongSource                // answered by another port or node than the target
	Unreachable                // the port has no way to send there

	Late       // answer to a probe that had been given up as lost
	Duplicated // one more answer to a probe that was answered
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

// A Probe is one request, or one more answer to it, and what became of it.
type Probe struct {
	Target  *Target
	Seq     int // counted from 0, for each target
	Outcome Outcome
	Sent    time.Time     // when it was, the last time
	RTT     time.Duration // from then to the answer; 0: there was none
	Host    []byte        // what a ping server calls itself; not safe for a terminal
	Node    ib.GUID       // GUID of the node that answered, of ViaSMA
	Total   *Stats        // of all targets, this one included
	Err     error         // nil: Received; of others why, where more is known than the outcome
}

// Reason says in words why a probe was not received.
func (p *Probe) Reason() string {
	if p.Err != nil {
		return p.Err.Error()
	}
	return p.Outcome.String()
}
