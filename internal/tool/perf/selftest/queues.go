package selftest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/verbs"
)

// queues returns the cases about queues: lists, rings, sharing and events.
func (t *tester) queues(kind verbs.QPType) []testCase {
	group, total := groups[kind], 5000
	if kind == verbs.QPTypeRC {
		total = 70000 // so that indices of 16 bits wrap
	}
	all := []testCase{
		{group, "several SGEs", []int{}, func() error { return t.scattered(kind) }},
		{group, "full queues", []int{0}, func() error { return t.full(kind) }},
		{group, fmt.Sprintf("%d messages in a ring of %d", total, ring), []int{8}, func() error { return t.wrap(kind, total) }},
		{group, "4 queue pairs, one completion queue", []int{64}, func() error { return t.several(kind) }},
		{group, "rejected work requests", []int{}, func() error { return t.rejected(kind) }},
		{group, "completion events", []int{64}, func() error { return t.events(kind) }},
		{group, "solicited events", []int{64}, func() error { return t.solicited(kind) }},
	}
	if kind == verbs.QPTypeRC || kind == verbs.QPTypeUD { // the specification has SRQs for RC and UD (10.2.9)
		all = append(all, testCase{group, "shared receive queue", []int{64}, func() error { return t.shared(kind) }})
	}
	if kind == verbs.QPTypeRC {
		all = append(all,
			testCase{group, "shared receive queue limit", []int{64}, t.limit},
			testCase{group, "fence", []int{4096}, t.fence})
	}
	return append(all,
		testCase{group, "flush", []int{}, func() error { return t.flush(kind, false) }},
		testCase{group, "flush of receives in the error state", []int{}, func() error { return t.flush(kind, true) }})
}

// scattered sends messages of several pieces to several pieces, and reads to several
// pieces.
func (t *tester) scattered(kind verbs.QPType) error {
	limit := min(int(t.port.Limits.MaxSGE), 16)
	for _, n := range []int{2, 3, limit} {
		if n > limit {
			continue
		}
		err := t.with(config{kind: kind, sges: n, room: 8192}, func(s *session) error {
			if err := s.pieces(n); err != nil || kind != verbs.QPTypeRC {
				return err
			}
			return s.readPieces(min(n, int(t.port.Limits.MaxSGERd)))
		})
		if err != nil {
			return fmt.Errorf("%d SGEs: %w", n, err)
		}
	}
	return nil
}

// pieces sends n pieces with different sizes, among them an empty piece, to n pieces.
func (s *session) pieces(n int) error {
	s.prepare()
	var payload []byte
	var from, to []verbs.SGE
	for i := range n {
		at, size := 300*i, 5*i+1
		if i == 1 {
			size = 0
		}
		from = append(from, s.a.mr.SGE(at, size))
		payload = append(payload, s.a.mr.Bytes()[at:at+size]...)
	}
	received := len(payload) + s.header()
	rest := received
	for i := range n {
		size := min(rest, max(s.header(), received/n+1))
		if i == n-1 {
			size = rest
		}
		to = append(to, s.b.mr.SGE(300*i, size))
		rest -= size
	}
	recv, err := s.receive(s.b, to...)
	if err != nil {
		return err
	}
	id, err := s.send(s.a, from...)
	if err == nil {
		_, err = s.one(s.a, id, verbs.CompletedSend)
	}
	if err != nil {
		return fmt.Errorf("requester: %w", err)
	}
	c, err := s.one(s.b, recv, verbs.CompletedRecv)
	if err == nil {
		err = s.checkReceived(c, received, 0)
	}
	if err != nil {
		return fmt.Errorf("responder: %w", err)
	}
	var got []byte
	for _, sge := range to {
		got = append(got, s.b.mr.Bytes()[sge.Addr-s.b.mr.Addr():][:sge.Length]...)
	}
	if !bytes.Equal(got[s.header():], payload) {
		return fmt.Errorf("payload: got %x, want %x", got[s.header():], payload)
	}
	return nil
}

// readPieces reads into n pieces.
func (s *session) readPieces(n int) error {
	s.prepare()
	a, b := s.a.mr.Bytes(), s.b.mr.Bytes()
	copy(b, a)
	var to []verbs.SGE
	var got []byte
	length := 0
	for i := range n {
		to = append(to, s.a.mr.SGE(300*i, 7*i+1))
		length += 7*i + 1
	}
	id, err := s.post(s.a, verbs.SendWR{
		Opcode: verbs.OpRead, Flags: verbs.SendSignaled, SGEs: to, RemoteAddr: s.b.mr.Addr() + 5000, RKey: s.b.mr.RKey(),
	})
	if err == nil {
		_, err = s.one(s.a, id, verbs.CompletedRead)
	}
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	for _, sge := range to {
		got = append(got, a[sge.Addr-s.a.mr.Addr():][:sge.Length]...)
	}
	if want := b[5000 : 5000+length]; !bytes.Equal(got, want) {
		return fmt.Errorf("read: got %x, want %x", got, want)
	}
	return nil
}

// full fills both queues in a single call each. A work request more does not fit until
// the others are complete.
func (t *tester) full(kind verbs.QPType) error {
	return t.with(config{kind: kind, depth: 16}, func(s *session) error {
		receives := int(s.b.Cap().MaxRecvWR)
		wrs := make([]verbs.RecvWR, 4*receives+64) // rings may be larger than the capacity
		for i := range wrs {
			wrs[i] = verbs.RecvWR{ID: uint64(i)}
			if h := s.header(); h > 0 {
				wrs[i].SGEs = []verbs.SGE{s.b.mr.SGE(0, h)}
			}
		}
		n, err := s.b.PostRecv(wrs)
		if n < receives || !errors.Is(err, verbs.ErrFull) {
			return fmt.Errorf("post %d receives: got %d posted, error %v, want at least %d and %v", len(wrs), n, err, receives, verbs.ErrFull)
		}
		var posted []uint64 // receives
		for _, wr := range wrs[:n] {
			posted = append(posted, wr.ID)
		}
		capacity := min(int(s.a.Cap().MaxSendWR), receives)
		for range 3 {
			var sends []verbs.SendWR
			var sent []uint64
			for i := range capacity {
				wr := verbs.SendWR{ID: uint64(i), Opcode: verbs.OpSend, Flags: verbs.SendSignaled}
				s.address(&wr, s.b)
				sends, sent = append(sends, wr), append(sent, wr.ID)
			}
			if n, err := s.a.PostSend(sends); n != capacity || err != nil {
				return fmt.Errorf("post %d sends: got %d posted, error %v", capacity, n, err)
			}
			all, err := s.wait(s.a.cq, capacity)
			if err == nil {
				_, err = s.retire(s.a, all, sent, verbs.StatusOK)
			}
			if err != nil {
				return err
			}
			if all, err = s.wait(s.b.cq, capacity); err == nil {
				posted, err = s.retire(s.b, all, posted, verbs.StatusOK)
			}
			if err != nil {
				return err
			}
			if n, err := s.b.PostRecv(wrs[:capacity]); n != capacity || err != nil {
				return fmt.Errorf("post %d receives again: got %d posted, error %v", capacity, n, err)
			}
			posted = append(posted, sent...) // the same IDs
		}
		return nil
	})
}

// ring is the size of the rings of wrap in work requests.
const ring = 64

// wrap sends at least total messages in full batches, of which the last one has a
// completion or, over SRD, all.
func (t *tester) wrap(kind verbs.QPType, total int) error {
	const depth, each = ring, ring
	return t.with(config{kind: kind, depth: depth, room: 8192}, func(s *session) error {
		slot := 8 + s.header()
		recvs, sends := make([]verbs.RecvWR, each), make([]verbs.SendWR, each)
		for i := range each {
			recvs[i].SGEs, sends[i].SGEs = make([]verbs.SGE, 1), make([]verbs.SGE, 1)
		}
		sent := 1 // completions of a batch
		if kind == verbs.QPTypeSRD {
			sent = each
		}
		for first := 0; first < total; first += each {
			var pending []uint64
			for i := range each {
				n := first + i
				pending = append(pending, uint64(n))
				setWord(s.a.mr, n%depth*8, uint64(n))
				recvs[i].ID, recvs[i].SGEs[0] = uint64(n), s.b.mr.SGE(n%depth*slot, slot)
				wr := &sends[i]
				wr.ID, wr.Opcode, wr.Flags, wr.SGEs[0] = uint64(n), verbs.OpSend, 0, s.a.mr.SGE(n%depth*8, 8)
				s.address(wr, s.b)
				if i >= each-sent {
					wr.Flags = verbs.SendSignaled
				}
			}
			if _, err := s.b.PostRecv(recvs); err != nil {
				return fmt.Errorf("message %d: %w", first, err)
			}
			if _, err := s.a.PostSend(sends); err != nil {
				return fmt.Errorf("message %d: %w", first, err)
			}
			for _, e := range []struct {
				*end
				n int
			}{{s.a, sent}, {s.b, each}} {
				all, err := s.wait(e.cq, e.n)
				if err == nil {
					_, err = s.retire(e.end, all, pending[each-e.n:], verbs.StatusOK)
				}
				if err != nil {
					return fmt.Errorf("message %d: %w", first, err)
				}
			}
			for n := first; n < first+each; n++ {
				got := word(s.b.mr, n%depth*slot+s.header())
				i := s.place(pending, got)
				if got != pending[i] {
					return fmt.Errorf("message %d: got payload %d", n, got)
				}
				pending = slices.Delete(pending, i, i+1)
			}
		}
		return nil
	})
}

// several sends over several queue pairs with responders that share a completion queue.
func (t *tester) several(kind verbs.QPType) error {
	return t.with(config{kind: kind, pairs: 4, common: true}, func(s *session) error {
		return s.interleave(func(p pair) *end { return p.b })
	})
}

// shared sends over several queue pairs with responders that share a receive queue.
func (t *tester) shared(kind verbs.QPType) error {
	if t.port.Limits.MaxSRQ == 0 {
		return unsupported("the device has no shared receive queues")
	}
	return t.with(config{kind: kind, pairs: 4, shared: true}, func(s *session) error {
		return s.interleave(func(pair) *end { return s.b })
	})
}

// interleave sends a message over each pair, three times, and checks the queue pairs and
// payloads of completions. into is the end that receives.
func (s *session) interleave(into func(pair) *end) error {
	const size = 64
	for round := range 3 {
		recvs := map[uint64]int{} // offset by ID
		s.prepare()
		for i, p := range s.pairs {
			id, err := s.receive(into(p), into(p).mr.SGE(256*i, size+s.header()))
			if err != nil {
				return err
			}
			recvs[id] = 256*i + s.header()
		}
		byQP := map[uint32]pair{}
		for i, p := range s.pairs {
			for j := range size {
				p.a.mr.Bytes()[j] = byte(16*round + i)
			}
			id, err := s.send(p.a, p.a.mr.SGE(0, size))
			if err != nil {
				return err
			}
			if _, err := s.one(p.a, id, verbs.CompletedSend); err != nil {
				return fmt.Errorf("requester %d: %w", i, err)
			}
			byQP[p.b.Number()] = p
		}
		for i := range s.pairs {
			all, err := s.wait(into(s.pairs[i]).cq, 1)
			if err != nil {
				return fmt.Errorf("responder %d: %w", i, err)
			}
			c := all[0]
			p, ok := byQP[c.QPN]
			at, posted := recvs[c.ID]
			if c.Status != verbs.StatusOK || !ok || !posted {
				return fmt.Errorf("responder %d: got %v on QP %#x with ID %#x", i, c.Status, c.QPN, c.ID)
			}
			delete(byQP, c.QPN)
			delete(recvs, c.ID)
			if want := p.a.mr.Bytes()[:size]; !bytes.Equal(into(p).mr.Bytes()[at:at+size], want) {
				return fmt.Errorf("payload on QP %#x: got %x, want %x", c.QPN, into(p).mr.Bytes()[at:at+size], want)
			}
		}
	}
	return nil
}

// rejected posts work requests that cannot be executed. They leave no trace.
func (t *tester) rejected(kind verbs.QPType) error {
	return t.with(config{kind: kind, inline: 32}, func(s *session) error {
		sge := s.a.mr.SGE(0, 8)
		capacity := s.a.Cap()
		for _, c := range []struct {
			name string
			wr   verbs.SendWR
			want error
		}{
			{"too many SGEs", verbs.SendWR{Opcode: verbs.OpSend, SGEs: make([]verbs.SGE, capacity.MaxSendSGE+1)}, verbs.ErrSGEs},
			{"too much inline data", verbs.SendWR{Opcode: verbs.OpSend, Flags: verbs.SendInline, Inline: make([]byte, capacity.MaxInline+1)}, verbs.ErrInline},
			{"undefined operation", verbs.SendWR{Opcode: 31, SGEs: []verbs.SGE{sge}}, verbs.ErrOpcode},
			{"atomic of 4 bytes", verbs.SendWR{Opcode: verbs.OpFetchAdd, SGEs: []verbs.SGE{s.a.mr.SGE(0, 4)}}, verbs.ErrLength},
			{"read", verbs.SendWR{Opcode: verbs.OpRead, SGEs: []verbs.SGE{sge}}, verbs.ErrOpcode},
		} {
			want := c.want
			switch {
			case c.wr.Opcode == verbs.OpRead && (kind == verbs.QPTypeRC || kind == verbs.QPTypeSRD), c.wr.Opcode.IsAtomic() && t.port.Limits.AtomicCap == 0:
				continue
			case kind != verbs.QPTypeRC && c.wr.Opcode.IsAtomic():
				want = verbs.ErrOpcode
			}
			if _, err := s.post(s.a, c.wr); !errors.Is(err, want) {
				return fmt.Errorf("%s: got error %v, want %v", c.name, err, want)
			}
		}
		return s.message(verbs.OpSend, 8, 0)
	})
}

// fence sends the data that a read before it has returned.
func (t *tester) fence() error {
	const size = 4096
	return t.with(config{kind: verbs.QPTypeRC, room: 3 * size}, func(s *session) error {
		for round := range 16 {
			s.prepare()
			b := s.b.mr.Bytes()
			for i := range size {
				b[i] = byte(i) ^ byte(round)
			}
			recv, err := s.receive(s.b, s.b.mr.SGE(size, size))
			if err != nil {
				return err
			}
			wrs := []verbs.SendWR{
				{ID: s.id(), Opcode: verbs.OpRead, SGEs: []verbs.SGE{s.a.mr.SGE(0, size)}, RemoteAddr: s.b.mr.Addr(), RKey: s.b.mr.RKey()},
				{ID: s.id(), Opcode: verbs.OpSend, Flags: verbs.SendSignaled | verbs.SendFence, SGEs: []verbs.SGE{s.a.mr.SGE(0, size)}},
			}
			if _, err := s.a.PostSend(wrs); err != nil {
				return err
			}
			if _, err := s.one(s.a, wrs[1].ID, verbs.CompletedSend); err != nil {
				return err
			}
			if _, err := s.one(s.b, recv, verbs.CompletedRecv); err != nil {
				return err
			}
			if err := verify(b[size:], 0, b[:size]); err != nil {
				return fmt.Errorf("round %d: %w", round+1, err)
			}
		}
		return nil
	})
}

// flushedEarly are the drivers that flush only work requests from before the error state.
// libefa refuses later ones (efa_post_send_validate, efa_post_recv_validate in its verbs.c).
var flushedEarly = map[verbs.DriverID]bool{verbs.DriverRXE: true, verbs.DriverEFA: true}

// flush changes queue pairs to the error state: all work requests complete as flushed, in
// order unless over SRD, both from before and later.
func (t *tester) flush(kind verbs.QPType, later bool) error {
	driver := t.port.Context.Driver()
	if later && flushedEarly[driver] {
		return unsupported("%v flushes only work requests that were posted before the error state", driver)
	}
	return t.with(config{kind: kind, depth: 8}, func(s *session) error {
		if later {
			if err := s.b.Modify(verbs.QPStateError, verbs.QPAttr{}); err != nil {
				return err
			}
		}
		var ids []uint64
		for range 4 {
			id, err := s.receive(s.b, s.b.mr.SGE(0, 64))
			if err != nil {
				return err
			}
			ids = append(ids, id)
		}
		if !later {
			if err := s.b.Modify(verbs.QPStateError, verbs.QPAttr{}); err != nil {
				return err
			}
		}
		all, err := s.wait(s.b.cq, len(ids))
		if err == nil {
			_, err = s.retire(s.b, all, ids, verbs.StatusFlushed)
		}
		if err != nil {
			return fmt.Errorf("receive: %w", err)
		}
		if driver == verbs.DriverEFA {
			return s.recovered()
		}
		id, err := s.send(s.b)
		if err != nil {
			return err
		}
		if _, err := s.fails(s.b, id, verbs.StatusFlushed); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		return s.recovered()
	})
}

// recovered connects the queue pairs again and sends a message.
func (s *session) recovered() error {
	if err := s.reconnect(); err != nil {
		return err
	}
	if err := s.message(verbs.OpSend, 64, 0); err != nil {
		return fmt.Errorf("after a reset: %w", err)
	}
	return nil
}
