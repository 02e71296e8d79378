package ping

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// servedPort is a port that a server has.
type servedPort struct {
	server *Server
	device string
	number uint8

	in, out umad.Message
	full    bool // the way out, when it was tried last

	mu      sync.Mutex // over what follows; only the port's goroutine changes it
	sources sources
	queue   fairQueue
	ignored uint64
}

const (
	// drainEvery is how often all that has come in is looked at, and not only
	// what is answered next: then who sent little does not wait behind who sent
	// much. In between a ping costs a system call less.
	drainEvery = 8

	// drainMost is how much is read before something is answered again, and
	// answerMost how much is answered before something is read: under a flood
	// more is read than is answered, so that nobody waits unseen.
	drainMost  = 256
	answerMost = 64

	// fullPause is how long to wait for room on the way out, if nothing comes in
	// before.
	fullPause = time.Millisecond
)

// past is a deadline that does not wait.
var past = time.Unix(1, 0)

// serve answers what comes in.
func (p *servedPort) serve(ctx context.Context, port umad.Responder) error {
	if err := waitInThread(port); err != nil {
		return fmt.Errorf("serve pings: %w", err)
	}
	defer context.AfterFunc(ctx, port.Interrupt)()
	for round := 1; ctx.Err() == nil; round++ {
		var deadline time.Time
		switch {
		case p.full:
			deadline = time.Now().Add(fullPause)
		case p.queue.len > 0:
			deadline = past
		}
		n := 1
		if p.queue.len > 0 || round%drainEvery == 0 {
			n = drainMost
		}
		for ; n > 0; n-- {
			err := port.Recv(&p.in, deadline)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return fmt.Errorf("serve pings: %w", err)
			}
			p.take()
			deadline = past
		}
		if err := p.answer(port); err != nil {
			return fmt.Errorf("serve pings: %w", err)
		}
	}
	return nil
}

// take counts what came in and, where it is a ping, has it wait for its answer.
func (p *servedPort) take() {
	o := &p.server.o
	p.mu.Lock()
	defer p.mu.Unlock()
	if reason := notPing(&p.in, o.OUI); reason != "" {
		p.ignored++
		p.log("ignored", &p.in.Addr, reason)
		return
	}
	now := p.server.clock()
	s := p.sources.of(sourceOf(&p.in.Addr), now, o.Rate)
	s.counts.Received++
	if !s.allow(now, o.Rate) {
		s.counts.Limited++
		p.log("limited", &p.in.Addr, "")
		return
	}
	if loser := p.queue.push(s, &p.in); loser != nil {
		loser.counts.Dropped++
	}
}

// answer answers what waits, as far as the port takes it.
func (p *servedPort) answer(port umad.Responder) error {
	p.full = false
	for range answerMost {
		p.mu.Lock()
		s := p.queue.pop(&p.out)
		p.mu.Unlock()
		if s == nil {
			return nil
		}
		request := p.out
		pong(&p.out, p.server.o.Name)
		err := port.Send(&p.out)
		p.mu.Lock()
		switch {
		case errors.Is(err, umad.ErrWouldBlock):
			p.queue.putBack(s, &request)
			p.full = true
		case err != nil:
			s.counts.Failed++
			p.log("failed", &request.Addr, err.Error())
		default:
			s.counts.Answered++
			p.log("answered", &request.Addr, "")
		}
		p.mu.Unlock()
		switch {
		case errors.Is(err, umad.ErrDeviceRemoved):
			return err
		case p.full:
			return nil
		}
	}
	return nil
}

// log tells what became of a ping.
func (p *servedPort) log(what string, from *umad.Addr, why string) {
	log := p.server.o.Log
	if !log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{slog.String("device", p.device), slog.Int("port", int(p.number)), slog.String("source", sourceOf(from).String())}
	if why != "" {
		attrs = append(attrs, slog.String("reason", why))
	}
	log.LogAttrs(context.Background(), slog.LevelDebug, what, attrs...)
}

// addTo adds what was counted at the port.
func (p *servedPort) addTo(c *ServeCounts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.Ignored += p.ignored
	c.Forgotten += p.sources.forgotten
	c.Total.add(&p.sources.forgottenCounts)
	for s := p.sources.newest; s != nil; s = s.older {
		c.Total.add(&s.counts)
		c.Sources = append(c.Sources, SourceCount{
			Device: p.device,
			Port:   p.number,
			From:   s.from,
			Counts: s.counts,
			First:  p.server.start.Add(s.first),
			Last:   p.server.start.Add(s.last),
		})
	}
}
