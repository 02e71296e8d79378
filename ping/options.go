package ping

import (
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options configure [Run].
type Options struct {
	OUI     uint32  // of ping servers, usually [OUI]
	MKey    mad.Key // for subnet management agents
	Payload []byte  // for ping servers, at most [PayloadSize] bytes; ibkit servers return it

	Count    int           // probes per target; negative: until the context ends
	Interval time.Duration // between two probes to a target; 0: the next probe follows the reply
	Deadline time.Duration // after which no probe is sent; 0: none
	Timeout  time.Duration // for a reply; 0: 1s
	Attempts int           // maximum number of times a probe is sent, up to 255; 0: 1

	// Answer is the method for answers to one-way pings. It is required if a target is
	// OneWay; [ListenForAnswers] returns it.
	Answer mad.Method

	// Window is the maximum number of probes in flight (default 64). Probes with a late
	// reply do not count.
	Window int

	// Done, if set, is called for each probe that ended, and for each late or
	// duplicate reply. The Probe is valid until Done returns. Replies wait
	// meanwhile, so Done should be fast; Idle can write the output.
	Done func(*Probe)

	// Idle, if set, is called after Done when no reply is waiting.
	Idle func()

	// Status, if set, is called with the results so far for each value that
	// StatusRequests delivers.
	StatusRequests <-chan struct{}
	Status         func(*Result)

	// Trace, if set, is called for each packet.
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

// A Result holds the run statistics.
type Result struct {
	Targets  []*Target
	Total    Stats
	Stray    int // packets that match no probe
	Start    time.Time
	Duration time.Duration
}
