package umad

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// saHead returns the headers of an answer from subnet administration.
func saHead() *mad.Packet {
	p := new(mad.Packet)
	p.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSA, ClassVersion: 2, Method: mad.MethodGetTableResp, TID: 0x1234, Attr: mad.AttrNodeRecord})
	p.SetSA(mad.SAHeader{AttributeOffset: 14})
	return p
}

// numbers returns n bytes that differ from the bytes 200 positions before.
func numbers(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i/200)
	}
	return b
}

// segments returns all data segments.
func segments(data []byte) []mad.Packet {
	s := NewRMPPSender(saHead(), data)
	s.window = 1 << 20
	var all []mad.Packet
	var p mad.Packet
	for s.Next(0, &p) {
		all = append(all, p)
	}
	return all
}

// TestSegments checks segment contents: each includes the 20-byte class header.
func TestSegments(t *testing.T) {
	for _, test := range []struct {
		size int
		want []mad.RMPP
	}{
		{0, []mad.RMPP{{Version: 1, Type: mad.RMPPData, RespTime: 31, Flags: mad.RMPPActive | mad.RMPPFirst | mad.RMPPLast, Segment: 1, Length: 20}}},
		{200, []mad.RMPP{{Version: 1, Type: mad.RMPPData, RespTime: 31, Flags: mad.RMPPActive | mad.RMPPFirst | mad.RMPPLast, Segment: 1, Length: 220}}},
		{401, []mad.RMPP{
			{Version: 1, Type: mad.RMPPData, RespTime: 31, Flags: mad.RMPPActive | mad.RMPPFirst, Segment: 1, Length: 461},
			{Version: 1, Type: mad.RMPPData, RespTime: 31, Flags: mad.RMPPActive, Segment: 2},
			{Version: 1, Type: mad.RMPPData, RespTime: 31, Flags: mad.RMPPActive | mad.RMPPLast, Segment: 3, Length: 21},
		}},
	} {
		var got []mad.RMPP
		for _, p := range segments(numbers(test.size)) {
			got = append(got, p.RMPP())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%d bytes: got %+v", test.size, got)
		}
	}
}

// transfer carries data from a sender to a receiver, through a network that may
// lose packets, and returns the receiver. Time advances only if no packet is in flight.
func transfer(t *testing.T, data []byte, lost func(p *mad.Packet, count int) bool) (*RMPPSender, *rmppReceiver) {
	t.Helper()
	s, r := NewRMPPSender(saHead(), data), newRMPPReceiver(1<<20)
	var now time.Duration
	var out, answer mad.Packet
	count := 0
	pass := func(p *mad.Packet) bool {
		count++
		return lost == nil || !lost(p, count)
	}
	back := func() {
		var reply mad.Packet
		if pass(&answer) && s.Receive(&answer, now, &reply) && pass(&reply) {
			r.Receive(&reply, now, &answer)
		}
	}
	for range 10000 {
		if s.Next(now, &out) {
			if pass(&out) && r.Receive(&out, now, &answer) {
				back()
			}
			continue
		}
		if s.Done() || s.Err() != nil || r.Err() != nil {
			return s, r
		}
		now = s.Deadline()
		if r.active() {
			now = min(now, r.Deadline())
		}
		if r.Wake(now, &answer) {
			back()
		}
		if s.Wake(now, &answer) && pass(&answer) {
			r.Receive(&answer, now, &out)
		}
	}
	t.Fatal("the transfer does not end")
	return nil, nil
}

func TestTransfer(t *testing.T) {
	for _, size := range []int{0, 1, 199, 200, 201, 400, 200 * 64, 200*65 + 1, 200*129 + 7, 100_000} {
		data := numbers(size)
		if _, r := transfer(t, data, nil); !r.Done() || !bytes.Equal(r.Data(), data) {
			t.Errorf("%d bytes: got %d, %v", size, len(r.Data()), r.Err())
		}
	}
}

func TestTransferLossy(t *testing.T) {
	data := numbers(50_000)
	for name, lost := range map[string]func(p *mad.Packet, count int) bool{
		"every 7th":       func(_ *mad.Packet, count int) bool { return count%7 == 0 },
		"every 2nd":       func(_ *mad.Packet, count int) bool { return count%2 == 0 && count < 500 },
		"the first":       func(_ *mad.Packet, count int) bool { return count == 1 },
		"the first ACK":   func(_ *mad.Packet, count int) bool { return count == 2 },
		"a whole window":  func(p *mad.Packet, count int) bool { return count > 2 && count < 67 },
		"the last once":   func(p *mad.Packet, _ int) bool { return p.RMPP().Flags.Has(mad.RMPPLast) && once() },
		"acknowledgement": func(p *mad.Packet, count int) bool { return p.RMPP().Type == mad.RMPPAck && count%3 == 0 },
	} {
		seen = false
		s, r := transfer(t, data, lost)
		if !r.Done() || !bytes.Equal(r.Data(), data) || s.Err() != nil {
			t.Errorf("%s: got %d bytes, receiver %v, sender %v", name, len(r.Data()), r.Err(), s.Err())
		}
	}
}

var seen bool

// once is true the first time.
func once() bool {
	was := seen
	seen = true
	return !was
}

// TestTransferDead checks that both sides give up after the network fails.
func TestTransferDead(t *testing.T) {
	s, r := transfer(t, numbers(50_000), func(p *mad.Packet, count int) bool { return count > 10 })
	var e *rmppError
	if err := errors.Join(s.Err(), r.Err()); !errors.As(err, &e) || e.Status != mad.RMPPTooManyRetries || e.Remote {
		t.Errorf("got %v", err)
	}
}

// TestReceiverOrder: any order and any copy count will do.
func TestReceiverOrder(t *testing.T) {
	data := numbers(2000)
	all := segments(data)
	r := newRMPPReceiver(1 << 20)
	var answer mad.Packet
	if !r.Receive(&all[0], 0, &answer) {
		t.Fatal("the first segment is not acknowledged")
	}
	if h := answer.RMPP(); h.Type != mad.RMPPAck || h.Segment != 1 || h.Length != 65 || answer.Method() != mad.MethodGetTable || answer.TID() != 0x1234 {
		t.Errorf("acknowledged with %+v, %v", h, answer.Method())
	}
	for i := len(all) - 1; i > 0; i-- {
		acked := r.Receive(&all[i], 0, &answer)
		if r.Receive(&all[i], 0, &answer) != (i == 1) || acked != (i == 1) {
			t.Errorf("segment %d: acknowledged %v", i+1, acked)
		}
	}
	if h := answer.RMPP(); !r.Done() || !bytes.Equal(r.Data(), data) || h.Segment != 10 {
		t.Errorf("got %d bytes, acknowledged %d", len(r.Data()), h.Segment)
	}
	if !r.Receive(&all[4], 0, &answer) || answer.RMPP().Segment != 10 {
		t.Error("a copy that comes too late is not acknowledged")
	}
}

// TestReceiver_Invalid has a packet break the rules after the first segment of three.
func TestReceiver_Invalid(t *testing.T) {
	for _, test := range []struct {
		name   string
		number int // number of the segment that is sent
		change func(h *mad.RMPP)
		want   rmppError
		answer mad.RMPPType // 0: no loss
	}{
		{"version", 2, func(h *mad.RMPP) { h.Version = 2 }, *abort(mad.RMPPBadVersion), mad.RMPPAbort},
		{"type", 2, func(h *mad.RMPP) { h.Type = 5 }, *abort(mad.RMPPBadType), mad.RMPPAbort},
		{"status", 2, func(h *mad.RMPP) { h.Status = 1 }, *abort(mad.RMPPBadStatus), mad.RMPPAbort},
		{"segment 0", 2, func(h *mad.RMPP) { h.Segment = 0 }, *abort(mad.RMPPBadSegment), mad.RMPPAbort},
		{"first again", 2, func(h *mad.RMPP) { h.Flags |= mad.RMPPFirst }, *abort(mad.RMPPBadSegment), mad.RMPPAbort},
		{"first without flag", 1, func(h *mad.RMPP) { h.Flags &^= mad.RMPPFirst }, *abort(mad.RMPPBadSegment), mad.RMPPAbort},
		{"last too early", 2, func(h *mad.RMPP) { h.Flags |= mad.RMPPLast; h.Length = 220 }, *abort(mad.RMPPBadLength), mad.RMPPAbort},
		{"last too long", 2, func(h *mad.RMPP) { h.Flags |= mad.RMPPLast; h.Length = 221 }, *abort(mad.RMPPBadLength), mad.RMPPAbort},
		{"last too short", 2, func(h *mad.RMPP) { h.Flags |= mad.RMPPLast; h.Length = 19 }, *abort(mad.RMPPBadLength), mad.RMPPAbort},
		{"stopped", 2, func(h *mad.RMPP) { h.Type = mad.RMPPStop; h.Status = 1 },
			rmppError{mad.RMPPStop, mad.RMPPNoResources, true}, 0},
		{"aborted", 2, func(h *mad.RMPP) { h.Type = mad.RMPPAbort; h.Status = mad.RMPPTimeTooLong },
			rmppError{mad.RMPPAbort, mad.RMPPTimeTooLong, true}, 0},
		{"aborted by a class", 2, func(h *mad.RMPP) { h.Type = mad.RMPPAbort; h.Status = 200 },
			rmppError{mad.RMPPAbort, 200, true}, 0},
		{"aborted for nothing", 2, func(h *mad.RMPP) { h.Type = mad.RMPPAbort }, *abort(mad.RMPPBadStatus), mad.RMPPAbort},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := segments(numbers(500))
			r := newRMPPReceiver(1 << 20)
			var answer mad.Packet
			r.Receive(&all[0], 0, &answer)
			p := all[test.number-1]
			h := p.RMPP()
			test.change(&h)
			p.SetRMPP(h)
			sent := r.Receive(&p, 0, &answer)
			var e *rmppError
			if !errors.As(r.Err(), &e) || *e != test.want {
				t.Errorf("got %v, want %v", r.Err(), &test.want)
			}
			if got := answer.RMPP(); sent != (test.answer != 0) || sent && (got.Type != test.answer || got.Status != test.want.Status) {
				t.Errorf("answered %v with %+v", sent, got)
			}
			if r.Receive(&all[1], 0, &answer) || r.Wake(time.Hour, &answer) || r.Abandon(&answer) {
				t.Error("says more after the end")
			}
		})
	}
}

// TestReceiverLimit checks that a transfer above the limit is stopped: at its start if it
// announces its length, otherwise at the limit.
func TestReceiverLimit(t *testing.T) {
	for _, announced := range []bool{true, false} {
		all := segments(numbers(1000))
		if !announced {
			h := all[0].RMPP()
			h.Length = 0
			all[0].SetRMPP(h)
		}
		r := newRMPPReceiver(999)
		var answer mad.Packet
		count := 0
		for i := range all {
			if count++; r.Receive(&all[i], 0, &answer) && answer.RMPP().Type == mad.RMPPStop {
				break
			}
		}
		var e *rmppError
		if !errors.As(r.Err(), &e) || e.Type != mad.RMPPStop || e.Status != mad.RMPPNoResources || len(r.Data()) != 0 {
			t.Errorf("got %v", r.Err())
		}
		if want := map[bool]int{true: 1, false: 5}[announced]; count != want {
			t.Errorf("stopped after %d segments, want %d", count, want)
		}
	}
	r := newRMPPReceiver(1000)
	var answer mad.Packet
	for _, p := range segments(numbers(1000)) {
		r.Receive(&p, 0, &answer)
	}
	if !r.Done() {
		t.Errorf("1000 bytes are too many for 1000: %v", r.Err())
	}
}

// TestReceiverWindow: segments beyond the window are not kept.
func TestReceiverWindow(t *testing.T) {
	all := segments(numbers(200 * 200))
	r := newRMPPReceiver(1 << 20)
	var answer mad.Packet
	r.Receive(&all[0], 0, &answer)
	for i := len(all) - 1; i > 1; i-- {
		r.Receive(&all[i], 0, &answer)
	}
	if len(r.ahead) != rmppWindow-1 {
		t.Errorf("%d segments are kept, want %d", len(r.ahead), rmppWindow-1)
	}
	if !r.Receive(&all[1], 0, &answer) || answer.RMPP().Segment != 65 || answer.RMPP().Length != 129 {
		t.Errorf("acknowledged with %+v", answer.RMPP())
	}
}

// TestReceiverTime checks that the receiver acknowledges the received segments during
// silence, and finally ends the transfer.
func TestReceiverTime(t *testing.T) {
	all := segments(numbers(500))
	r := newRMPPReceiver(1 << 20)
	var answer mad.Packet
	if r.Wake(time.Hour, &answer) || r.Abandon(&answer) {
		t.Fatal("says something before the first segment")
	}
	r.Receive(&all[0], 5*time.Second, &answer)
	for range rmppRepeats {
		if r.Wake(r.Deadline()-1, &answer) || !r.Wake(r.Deadline(), &answer) || answer.RMPP().Type != mad.RMPPAck {
			t.Fatal("does not acknowledge again")
		}
	}
	if !r.Wake(r.Deadline(), &answer) || answer.RMPP().Status != mad.RMPPTooManyRetries {
		t.Errorf("got %+v, %v", answer.RMPP(), r.Err())
	}
	r = newRMPPReceiver(1 << 20)
	r.Receive(&all[0], 0, &answer)
	if !r.Abandon(&answer) || answer.RMPP().Type != mad.RMPPAbort || answer.RMPP().Status != mad.RMPPTimeTooLong {
		t.Errorf("abandoned with %+v", answer.RMPP())
	}
}

func TestSender_Invalid(t *testing.T) {
	for _, test := range []struct {
		name   string
		h      mad.RMPP
		status mad.RMPPStatus // 0: no end
		remote bool
	}{
		{"good", mad.RMPP{Version: 1, Type: mad.RMPPAck, Segment: 1, Length: 65}, 0, false},
		{"old", mad.RMPP{Version: 1, Type: mad.RMPPAck, Segment: 0, Length: 1}, 0, false},
		{"what was not sent", mad.RMPP{Version: 1, Type: mad.RMPPAck, Segment: 2, Length: 65}, mad.RMPPSegmentTooBig, false},
		{"window", mad.RMPP{Version: 1, Type: mad.RMPPAck, Segment: 1, Length: 0}, mad.RMPPWindowTooSmall, false},
		{"data", mad.RMPP{Version: 1, Type: mad.RMPPData, Segment: 1}, mad.RMPPBadType, false},
		{"version", mad.RMPP{Version: 3, Type: mad.RMPPAck}, mad.RMPPBadVersion, false},
		{"stop", mad.RMPP{Version: 1, Type: mad.RMPPStop, Status: 1}, mad.RMPPNoResources, true},
		{"abort", mad.RMPP{Version: 1, Type: mad.RMPPAbort, Status: 127}, mad.RMPPUnspecified, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := NewRMPPSender(saHead(), numbers(5000))
			var p, answer mad.Packet
			s.Next(0, &p)
			test.h.Flags = mad.RMPPActive
			p.SetRMPP(test.h)
			sent := s.Receive(&p, 0, &answer)
			var e *rmppError
			switch errors.As(s.Err(), &e) {
			case false:
				if test.status != 0 {
					t.Error("goes on")
				}
			case true:
				if e.Status != test.status || e.Remote != test.remote || sent == e.Remote {
					t.Errorf("got %v, sent %v", e, sent)
				}
				if s.Next(0, &p) {
					t.Error("sends on")
				}
			}
		})
	}
}

// FuzzRMPP lets any packets come to a receiver, and to a sender: neither may
// take more than its limit, or say anything once it ended.
func FuzzRMPP(f *testing.F) {
	for _, p := range segments(numbers(500)) {
		f.Add(p[24:40], uint32(2))
	}
	f.Fuzz(func(t *testing.T, header []byte, repeat uint32) {
		r := newRMPPReceiver(300)
		s := NewRMPPSender(saHead(), numbers(900))
		var out, answer mad.Packet
		s.Next(0, &out)
		for i := range repeat % 8 {
			p := *saHead()
			copy(p[24:36], header)
			p[31] += byte(i)
			now := time.Duration(i) * rmppPause
			ended := r.Err() != nil
			if r.Receive(&p, now, &answer) && ended || len(r.Data()) > 300 || len(r.ahead) > rmppWindow {
				t.Errorf("%d bytes, %d ahead, ended %v", len(r.Data()), len(r.ahead), ended)
			}
			s.Receive(&p, now, &answer)
			for n := 0; s.Next(now, &out); n++ {
				if n > 5 {
					t.Fatal("sends more segments than there are")
				}
			}
		}
	})
}
