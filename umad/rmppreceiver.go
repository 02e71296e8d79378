package umad

import (
	"time"

	"github.com/ibkit/ibkit/mad"
)

// An rmppReceiver reassembles a message from its segments. It does no input or output
// and has no clock: the caller passes received packets and their times, and sends the
// answers. Segments may arrive in any order, and more than once.
//
// An invalid packet ends the transfer, with an ABORT for the sender.
type rmppReceiver struct {
	limit int // data size limit in bytes

	head     mad.Packet // last segment, the template for answers
	data     []byte     // data from segments 1 to have
	have     uint32     // all segments up to this segment were received
	window   uint32     // last segment that the sender may send
	total    uint32     // segment count according to the first segment; 0: unknown
	ahead    map[uint32]mad.Packet
	done     bool
	err      *rmppError
	received time.Duration // when the last segment arrived
	repeated int           // acknowledgements since then
}

// newRMPPReceiver returns a receiver for a message with at most limit data bytes. It
// stops a longer message.
func newRMPPReceiver(limit int) *rmppReceiver {
	return &rmppReceiver{limit: limit, window: 1, ahead: map[uint32]mad.Packet{}}
}

// Receive processes a packet that was received at a time. If it returns true, the
// caller sends answer.
func (r *rmppReceiver) Receive(p *mad.Packet, now time.Duration, answer *mad.Packet) bool {
	h := p.RMPP()
	if r.err != nil {
		return false
	}
	if err := check(h); err != nil {
		if r.done {
			return false // the transfer is complete
		}
		r.head = *p
		return r.fail(err, answer)
	}
	if h.Type == mad.RMPPAck {
		return false // a receiver sends no segments
	}
	if (h.Segment == 1) != h.Flags.Has(mad.RMPPFirst) || h.Segment == 0 {
		r.head = *p
		return r.fail(abort(mad.RMPPBadSegment), answer)
	}
	switch {
	case h.Segment <= r.have || r.done:
		// The acknowledgement was lost.
		r.acknowledge(answer)
		return true
	case h.Segment > r.window:
		return false
	}
	r.head, r.received, r.repeated = *p, now, 0
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
func (r *rmppReceiver) take(p *mad.Packet, h mad.RMPP) *rmppError {
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
		size := int64(h.Length) - int64(r.total)*int64(header)
		if size > int64(r.limit) {
			return &rmppError{Type: mad.RMPPStop, Status: mad.RMPPNoResources}
		}
		r.data = make([]byte, 0, max(size, 0))
	}
	if r.total > 0 && (h.Segment > r.total || last != (h.Segment == r.total)) {
		return abort(mad.RMPPBadLength)
	}
	if len(r.data)+size > r.limit {
		return &rmppError{Type: mad.RMPPStop, Status: mad.RMPPNoResources}
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

// acknowledge fills answer with the acknowledgement for the segments so far.
func (r *rmppReceiver) acknowledge(answer *mad.Packet) {
	*answer = control(&r.head, mad.RMPP{Type: mad.RMPPAck, Segment: r.have, Length: max(r.window, r.have)})
}

// fail ends the transfer, with an answer unless the sender ended it.
func (r *rmppReceiver) fail(err *rmppError, answer *mad.Packet) bool {
	r.err, r.data = err, nil
	clear(r.ahead)
	if err.Remote {
		return false
	}
	*answer = control(&r.head, mad.RMPP{Type: err.Type, Status: err.Status})
	return true
}

// Wake must be called at the [rmppReceiver.Deadline]. If it returns true, the caller
// sends answer: a repeated acknowledgement, or the transfer's end.
func (r *rmppReceiver) Wake(now time.Duration, answer *mad.Packet) bool {
	if !r.active() || now < r.Deadline() {
		return false
	}
	if r.repeated >= rmppRepeats {
		return r.fail(abort(mad.RMPPTooManyRetries), answer)
	}
	r.received = now
	r.repeated++
	r.acknowledge(answer)
	return true
}

// Deadline returns the next Wake time, unless a segment arrives before. It is valid from
// the first segment to the transfer's end.
func (r *rmppReceiver) Deadline() time.Duration { return r.received + rmppAckAfter }

// Abandon ends a transfer that takes too long. If it returns true, the caller sends
// answer.
func (r *rmppReceiver) Abandon(answer *mad.Packet) bool {
	return r.active() && r.fail(abort(mad.RMPPTimeTooLong), answer)
}

// active reports whether the transfer has started and not ended.
func (r *rmppReceiver) active() bool { return r.have > 0 && !r.done && r.err == nil }

// Done reports whether the message is complete.
func (r *rmppReceiver) Done() bool { return r.done }

// Err returns nil, or the [*rmppError] that ended the transfer.
func (r *rmppReceiver) Err() error {
	if r.err == nil {
		return nil
	}
	return r.err
}

// Data returns the data received so far, without the class headers.
func (r *rmppReceiver) Data() []byte { return r.data }
