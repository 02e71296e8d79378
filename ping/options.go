package ping

import (
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options say how to ping.
type Options struct {
	OUI     uint32 // of ping servers
	MKey    uint64 // sent to subnet management agents
	Payload []byte // sent to ping servers, at most PayloadSize bytes; those of ibkit send it back

	Count    int           // probes to each target; negative: until the context ends
	Interval time.Duration // from one probe to a target to the next; 0: as soon as the one before has ended
	Deadline time.Duration // no probe is sent after so long; 0: for ever
	Timeout  time.Duration // for an answer to come; 0: a second
	Attempts int           // how often a probe is sent in all before it is lost, at most 255; 0: once

	// Answer is the method of answers to one-way pings, from [ListenForAnswers] for
	// the port. It has to be set where a target is OneWay.
	Answer mad.Method

	// Window is how many probes are under way at most, without those whose answer
	// takes much longer than others do; 0: 64.
	Window int

	// Done, where set, is called for each probe that ended, and for each packet
	// that came beside. What it is given is valid until it returns. Packets that
	// have come in wait meanwhile, so it should be quick, and Idle write what
	// there is to write.
	Done func(*Probe)

	// Idle, where set, is called when Done was and there is nothing to do.
	Idle func()

	// Status, where set, is called with how things stand whenever something is
	// received from Ask.
	Ask    <-chan struct{}
	Status func(*Result)

	// Trace, where set, is called for each packet.
	Trace func(umad.Event)
}

const (
	defaultTimeout = time.Second
	defaultWindow  = 64
)

func (o *Options) setDefaults() {
	if o.Count < 0 {
		o.Count = int(^uint(0) >> 1)
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Window <= 0 {
		o.Window = defaultWindow
	}
	o.Attempts = min(max(o.Attempts, 1), 255)
	o.Payload = o.Payload[:min(len(o.Payload), PayloadSize)]
}

// A Result is the account of a run.
type Result struct {
	Targets []*Target
	Total   Stats
	Stray   int // packets that answer nothing that was asked
	Began   time.Time
	Took    time.Duration
}
