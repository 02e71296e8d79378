package umad

import (
	"time"

	"github.com/ibkit/ibkit/mad"
)

// An RMPPSender takes a message apart into segments. As [RMPPReceiver] it
// neither sends nor keeps time by itself.
type RMPPSender struct {
	head    mad.Packet // headers of each segment
	data    []byte
	count   uint32 // of segments
	sent    uint32 // the last segment that was sent, or is taken to have been
	top     uint32 // the last one that was ever sent
	acked   uint32 // the last one that was acknowledged
	window  uint32 // the last one that may be sent
	err     *RMPPError
	touched time.Duration // when a segment was sent last
	retries int           // since something was acknowledged
}

// NewRMPPSender returns a sender of data, with the headers of head in each
// segment.
func NewRMPPSender(head *mad.Packet, data []byte) *RMPPSender {
	s := &RMPPSender{head: *head, data: data, window: 1}
	_, size := classHeader(head)
	s.count = uint32(max((len(data)+size-1)/size, 1))
	return s
}

// Next fills p with the next segment to be sent now. It reports false where
// there is none until something is acknowledged.
func (s *RMPPSender) Next(now time.Duration, p *mad.Packet) bool {
	if s.err != nil || s.sent >= min(s.window, s.count) {
		return false
	}
	header, size := classHeader(&s.head)
	first := int(s.sent) * size
	part := s.data[first:min(first+size, len(s.data))]
	s.sent++
	s.top = max(s.top, s.sent)
	s.touched = now
	h := mad.RMPP{Version: mad.RMPPVersion, Type: mad.RMPPData, RespTime: mad.NoRespTime, Flags: mad.RMPPActive, Segment: s.sent}
	if s.sent == 1 {
		h.Flags |= mad.RMPPFirst
		h.Length = uint32(int(s.count)*header + len(s.data))
	}
	if s.sent == s.count {
		h.Flags |= mad.RMPPLast
		h.Length = uint32(header + len(part))
	}
	*p = s.head
	p.SetRMPP(h)
	offset, _ := p.Class().DataRange()
	clear(p[offset+copy(p[offset:], part):])
	return true
}

// Receive takes in a packet of the other side. It reports whether answer is to
// be sent, which it fills in. There may be more segments to send after it.
func (s *RMPPSender) Receive(p *mad.Packet, now time.Duration, answer *mad.Packet) bool {
	h := p.RMPP()
	if s.err != nil || s.Done() {
		return false
	}
	if err := check(h); err != nil {
		return s.fail(err, p, answer)
	}
	switch {
	case h.Type != mad.RMPPAck:
		return s.fail(abort(mad.RMPPBadType), p, answer)
	case h.Length < h.Segment:
		return s.fail(abort(mad.RMPPWindowTooSmall), p, answer)
	case h.Segment > s.top:
		return s.fail(abort(mad.RMPPSegmentTooBig), p, answer)
	case h.Segment < s.acked || h.Length < s.window:
		return false // overtaken by a later one
	case h.Segment > s.acked:
		s.acked, s.window, s.retries = h.Segment, h.Length, 0
		s.sent = max(s.sent, s.acked)
	case h.Length > s.window:
		s.window = h.Length
	case now-s.touched >= rmppPause:
		return s.again(now, answer)
	}
	return false
}

// Wake is to be called at the time that [RMPPSender.Deadline] says: all that
// was not acknowledged is to be sent again. It reports whether answer is to be
// sent, which ends a transfer that the other side does not answer.
func (s *RMPPSender) Wake(now time.Duration, answer *mad.Packet) bool {
	if s.err != nil || s.Done() || now < s.Deadline() {
		return false
	}
	return s.again(now, answer)
}

// Deadline returns when Wake is to be called, unless a packet comes before.
func (s *RMPPSender) Deadline() time.Duration { return s.touched + rmppRetry }

// again goes back to what was not acknowledged.
func (s *RMPPSender) again(now time.Duration, answer *mad.Packet) bool {
	if s.retries++; s.retries > rmppRepeats {
		return s.fail(abort(mad.RMPPTooManyRetries), nil, answer)
	}
	s.sent, s.touched = s.acked, now
	return false
}

// fail ends the transfer. p is what it ends for, nil where that is nothing that
// came.
func (s *RMPPSender) fail(err *RMPPError, p, answer *mad.Packet) bool {
	s.err, s.data = err, nil
	if err.Remote {
		return false
	}
	if p != nil {
		*answer = control(p, mad.RMPP{Type: err.Type, Status: err.Status})
		return true
	}
	*answer = control(&s.head, mad.RMPP{Type: err.Type, Status: err.Status})
	answer[offMethod] ^= responseBit
	return true
}

// Done reports whether all has been acknowledged.
func (s *RMPPSender) Done() bool { return s.acked == s.count }

// Err returns why the transfer ended before its end: nil, or an [*RMPPError].
func (s *RMPPSender) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
}
