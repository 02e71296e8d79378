package umad

import (
	"time"

	"github.com/ibkit/ibkit/mad"
)

// An RMPPSender splits a message into segments. Like the receiver, it does no input or
// output and has no clock.
type RMPPSender struct {
	head    mad.Packet // headers for all segments
	data    []byte
	count   uint32 // segment count
	sent    uint32 // last segment sent, in the current pass
	top     uint32 // last segment sent in any pass
	acked   uint32 // last segment acknowledged
	window  uint32 // last segment that may be sent
	err     *rmppError
	touched time.Duration // last segment time
	retries int           // since the last new acknowledgement
}

// NewRMPPSender returns a sender for data. Each segment has head's headers.
func NewRMPPSender(head *mad.Packet, data []byte) *RMPPSender {
	s := &RMPPSender{head: *head, data: data, window: 1}
	_, size := classHeader(head)
	s.count = uint32(max((len(data)+size-1)/size, 1))
	return s
}

// Next fills p with the next segment to be sent. It returns false if the sender has to
// wait for an acknowledgement.
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

// Receive processes a packet from the receiver. If it returns true, the caller sends
// answer. Then there may be further segments to send.
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
		return false // older than another acknowledgement
	case h.Segment > s.acked:
		s.acked, s.window, s.retries = h.Segment, h.Length, 0
		s.sent = max(s.sent, s.acked)
	case h.Length > s.window:
		s.window = h.Length
	case now-s.touched >= rmppPause:
		return s.resync(now, answer)
	}
	return false
}

// Wake must be called at the [RMPPSender.Deadline]. Segments without acknowledgement
// are then sent again. If it returns true, the caller sends answer, which ends the
// transfer.
func (s *RMPPSender) Wake(now time.Duration, answer *mad.Packet) bool {
	if s.err != nil || s.Done() || now < s.Deadline() {
		return false
	}
	return s.resync(now, answer)
}

// Deadline returns the next Wake time, unless a packet arrives before.
func (s *RMPPSender) Deadline() time.Duration { return s.touched + rmppRetry }

// resync returns to the first segment without acknowledgement.
func (s *RMPPSender) resync(now time.Duration, answer *mad.Packet) bool {
	if s.retries++; s.retries > rmppRepeats {
		return s.fail(abort(mad.RMPPTooManyRetries), nil, answer)
	}
	s.sent, s.touched = s.acked, now
	return false
}

// fail ends the transfer. p is the packet that caused the error, or nil.
func (s *RMPPSender) fail(err *rmppError, p, answer *mad.Packet) bool {
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

// Done reports whether all segments are acknowledged.
func (s *RMPPSender) Done() bool { return s.acked == s.count }

// Err returns nil, or the [*rmppError] that ended the transfer.
func (s *RMPPSender) Err() error {
	if s.err == nil {
		return nil
	}
	return s.err
}
