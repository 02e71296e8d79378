package selftest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/verbs"
)

// events waits for the events of armed completion queues, some in a row.
func (t *tester) events(kind verbs.QPType) error {
	return t.with(config{kind: kind, events: true}, func(s *session) error {
		for i := range 5 {
			for _, e := range []*end{s.a, s.b} {
				if err := e.cq.Arm(false); err != nil {
					return err
				}
			}
			recv, err := s.receive(s.b, s.b.mr.SGE(0, 64+s.header()))
			if err != nil {
				return err
			}
			id, err := s.send(s.a, s.a.mr.SGE(0, 64))
			if err != nil {
				return err
			}
			for _, e := range []*end{s.a, s.b} {
				if err := s.event(e); err != nil {
					return fmt.Errorf("event %d: %w", i+1, err)
				}
			}
			if _, err := s.one(s.a, id, verbs.CompletedSend); err != nil {
				return err
			}
			if _, err := s.one(s.b, recv, verbs.CompletedRecv); err != nil {
				return err
			}
		}
		return nil
	})
}

// event waits for the event of a completion queue.
func (s *session) event(e *end) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.timeout)
	defer cancel()
	cq, err := e.channel.Wait(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("got no event in %v", s.timeout)
	case err == nil && cq != e.cq:
		return fmt.Errorf("got an event of %v, want %v", cq, e.cq)
	}
	return err
}

// quiet is the default of tester.quiet.
const quiet = 50 * time.Millisecond

// solicited checks that only a solicited message causes an event on a queue that is armed
// for solicited messages.
func (t *tester) solicited(kind verbs.QPType) error {
	return t.with(config{kind: kind, events: true}, func(s *session) error {
		if err := s.b.cq.Arm(true); err != nil {
			return err
		}
		for _, flags := range []verbs.SendFlags{0, verbs.SendSolicited} {
			recv, err := s.receive(s.b, s.b.mr.SGE(0, 64+s.header()))
			if err != nil {
				return err
			}
			id, err := s.post(s.a, verbs.SendWR{Opcode: verbs.OpSend, Flags: verbs.SendSignaled | flags, SGEs: []verbs.SGE{s.a.mr.SGE(0, 64)}})
			if err != nil {
				return err
			}
			if _, err := s.one(s.a, id, verbs.CompletedSend); err != nil {
				return err
			}
			if flags == 0 {
				ctx, cancel := context.WithTimeout(s.ctx, s.quiet)
				_, err := s.b.channel.Wait(ctx)
				cancel()
				if !errors.Is(err, context.DeadlineExceeded) {
					return fmt.Errorf("message without the flag: got an event (error %v), want none", err)
				}
			} else if err := s.event(s.b); err != nil {
				return fmt.Errorf("message with the flag: %w", err)
			}
			if _, err := s.one(s.b, recv, verbs.CompletedRecv); err != nil {
				return err
			}
		}
		return nil
	})
}

// limit waits for the event of a shared receive queue with too few receives.
func (t *tester) limit() error {
	if t.port.Limits.MaxSRQ == 0 {
		return unsupported("the device has no shared receive queues")
	}
	events, err := t.port.Context.Events()
	if err != nil {
		return err
	}
	return t.with(config{kind: verbs.QPTypeRC, shared: true, depth: 8}, func(s *session) error {
		for i := range 4 {
			if _, err := s.receive(s.b, s.b.mr.SGE(64*i, 64)); err != nil {
				return err
			}
		}
		if err := s.srq.SetLimit(3); err != nil {
			return err
		}
		for range 2 {
			id, err := s.send(s.a, s.a.mr.SGE(0, 64))
			if err != nil {
				return err
			}
			if _, err := s.one(s.a, id, verbs.CompletedSend); err != nil {
				return err
			}
		}
		if _, err := s.wait(s.b.cq, 2); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.ctx, t.timeout)
		defer cancel()
		for {
			e, err := events.Next(ctx)
			switch {
			case errors.Is(err, context.DeadlineExceeded):
				return fmt.Errorf("got no event of the limit in %v", t.timeout)
			case err != nil:
				return err
			case e.Type == verbs.EventSRQLimitReached && e.Element == s.srq.ID():
				return nil
			}
		}
	})
}
