package umad

import (
	"time"

	"github.com/ibkit/ibkit/mad"
)

// An RMPPReceiver puts a message together from its segments. It neither sends
// nor keeps time by itself: it is told what came and when, and says what is to
// be sent. It takes segments in any order, and each as often as it comes.
//
// A packet that breaks the rules ends the transfer; the receiver then has an
// ABORT for the other side.
type RMPPReceiver struct {
	limit int // of data, in bytes

	head     mad.Packet // the segment that came last, which what is sent is made from
	data     []byte     // of the segments up to have
	have     uint32     // all segments up to this one have come
	window   uint32     // the last segment that may be sent
	total    uint32     // number of segments that the first one tells; 0: it does not
	ahead    map[uint32]mad.Packet
	done     bool
	err      *RMPPError
	heard    time.Duration // when the last segment came
	repeated int           // how often it was acknowledged since
}

// NewRMPPReceiver returns a receiver for a message of at most limit bytes of
// data; a longer one is stopped.
func NewRMPPReceiver(limit int) *RMPPReceiver {
	return &RMPPReceiver{limit: limit, window: 1, ahead: map[uint32]mad.Packet{}}
}

// Receive takes in a packet that came at a time. It reports whether answer is
// to be sent, which it fills in.
func (r *RMPPReceiver) Receive(p *mad.Packet, now time.Duration, answer *mad.Packet) bool {
	h := p.RMPP()
	if r.err != nil {
		return false
	}
	if err := check(h); err != nil {
		if r.done {
			return false // too late to end anything
		}
		r.head = *p
		return r.fail(err, answer)
	}
	if h.Type == mad.RMPPAck {
		return false // nothing was sent that there could be one for
	}
	if (h.Segment == 1) != h.Flags.Has(mad.RMPPFirst) || h.Segment == 0 {
		r.head = *p
		return r.fail(abort(mad.RMPPBadSegment), answer)
	}
	switch {
	case h.Segment <= r.have || r.done:
		// The other side has not got the acknowledgement.
		r.acknowledge(answer)
		return true
	case h.Segment > r.window:
		return false
	}
	r.head, r.heard, r.repeated = *p, now, 0
	if h.Segment != r.have+1 {
		r.ahead[h.Segment] = *p
		return false
	}
	if err := r.take(p, h); err != nil {
		return r.fail(err, answer)
	}
	for !r.done {
		next, ok := r.ahead[r.have+1]
		if !ok {
			break
		}
		delete(r.ahead, r.have+1)
		if err := r.take(&next, next.RMPP()); err != nil {
			return r.fail(err, answer)
		}
	}
	if !r.done {
		if r.have < r.window {
			return false
		}
		r.window += rmppWindow
	}
	r.acknowledge(answer)
	return true
}

// take appends the next segment's data.
func (r *RMPPReceiver) take(p *mad.Packet, h mad.RMPP) *RMPPError {
	header, size := classHeader(p)
	last := h.Flags.Has(mad.RMPPLast)
	if last {
		size = int(h.Length) - header
		if h.Length > mad.RMPPPayloadSize || size < 0 {
			return abort(mad.RMPPBadLength)
		}
	}
	if h.Segment == 1 && !last && h.Length > 0 {
		r.total = (h.Length-1)/mad.RMPPPayloadSize + 1
		if int64(h.Length)-int64(r.total)*int64(header) > int64(r.limit) {
			return &RMPPError{Type: mad.RMPPStop, Status: mad.RMPPNoResources}
		}
	}
	if r.total > 0 && (h.Segment > r.total || last != (h.Segment == r.total)) {
		return abort(mad.RMPPBadLength)
	}
	if len(r.data)+size > r.limit {
		return &RMPPError{Type: mad.RMPPStop, Status: mad.RMPPNoResources}
	}
	offset, _ := p.Class().DataRange()
	r.data = append(r.data, p[offset:offset+size]...)
	r.have = h.Segment
	if last {
		r.done = true
		clear(r.ahead)
	}
	return nil
}

// acknowledge makes the ACK for what has come so far.
func (r *RMPPReceiver) acknowledge(answer *mad.Packet) {
	*answer = control(&r.head, mad.RMPP{Type: mad.RMPPAck, Segment: r.have, Length: max(r.window, r.have)})
}

// fail ends the transfer. What this side ends, the other is told of.
func (r *RMPPReceiver) fail(err *RMPPError, answer *mad.Packet) bool {
	r.err, r.data = err, nil
	clear(r.ahead)
	if err.Remote {
		return false
	}
	*answer = control(&r.head, mad.RMPP{Type: err.Type, Status: err.Status})
	return true
}

// Wake is to be called at the time that [RMPPReceiver.Deadline] says. It
// reports whether answer is to be sent: what has come so far is acknowledged
// again, as something was lost, until it is of no use any more.
func (r *RMPPReceiver) Wake(now time.Duration, answer *mad.Packet) bool {
	if !r.active() || now < r.Deadline() {
		return false
	}
	if r.repeated >= rmppRepeats {
		return r.fail(abort(mad.RMPPTooManyRetries), answer)
	}
	r.heard = now
	r.repeated++
	r.acknowledge(answer)
	return true
}

// Deadline returns when Wake is to be called, unless a segment comes before.
// It means nothing before the first one has come and after the transfer ended.
func (r *RMPPReceiver) Deadline() time.Duration { return r.heard + rmppPatience }

// Abandon ends a transfer that takes too long. It reports whether answer is to
// be sent.
func (r *RMPPReceiver) Abandon(answer *mad.Packet) bool {
	return r.active() && r.fail(abort(mad.RMPPTimeTooLong), answer)
}

// active reports whether the transfer has begun and not ended.
func (r *RMPPReceiver) active() bool { return r.have > 0 && !r.done && r.err == nil }

// Done reports whether the whole message has come.
func (r *RMPPReceiver) Done() bool { return r.done }

// Err returns why the transfer ended before its end: nil, or an [*RMPPError].
func (r *RMPPReceiver) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Data returns the data that has come so far, without the headers of the class.
func (r *RMPPReceiver) Data() []byte { return r.data }
