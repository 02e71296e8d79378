package serve

import (
	"context"
	"time"

	"github.com/ibkit/ibkit/internal/ibsimproto"
)

// runEvents applies the fabric's events when they are due, until the context ends.
func (s *Server) runEvents(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.changed:
		}
		s.mu.Lock()
		s.fabric.Advance()
		out := s.notifications(nil)
		due, any := s.fabric.NextEvent()
		s.mu.Unlock()
		s.deliver(out)
		if timer.Stop(); any {
			timer.Reset(time.Until(due))
		}
	}
}

// change makes runEvents check for due events and for traps.
func (s *Server) change() {
	select {
	case s.changed <- struct{}{}:
	default: // a check is pending
	}
}

// notifications appends the packets that agents have sent. The caller holds the lock.
func (s *Server) notifications(out []delivery) []delivery {
	for _, t := range s.fabric.Notifications() {
		to := s.managers[t.To.Management()]
		if to == nil {
			continue
		}
		var p ibsimproto.Packet
		p.Reset()
		p.SetLIDs(t.At, t.From)
		p.SetQueuePairs(t.QPN, t.QPN)
		copy(p.MAD(), t.MAD[:])
		out = append(out, delivery{to: to, packet: p})
	}
	return out
}
