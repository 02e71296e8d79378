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

// portServer is the part of a server that serves a port.
type portServer struct {
	server *Server
	at     ServedPort

	in, out umad.Message
	full    bool // the port had no room at the last attempt

	mu      sync.Mutex // guards the following, which only the port's goroutine changes
	sources sources
	queue   fairQueue
	ignored uint64
}

const (
	// drainEvery is the number of rounds after which the server receives all packets that
	// have arrived, and not only the next packet. This keeps a source with few pings from
	// waiting behind a source with many. The other rounds save a system call per ping.
	drainEvery = 8

	// maxDrain is the maximum number of packets received before a reply is sent
	// again, and maxReplies the maximum number of replies before packets are
	// received again. Under a flood, the server receives more than it answers,
	// so that no source waits in the port's queue.
	maxDrain   = 256
	maxReplies = 64

	// fullPause is how long the server waits for room in a port, unless a packet
	// arrives before.
	fullPause = time.Millisecond
)

// past is a deadline that does not wait.
var past = time.Unix(1, 0)

// serve answers pings until ctx ends or the port breaks.
func (p *portServer) serve(ctx context.Context, port umad.Responder) error {
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
			n = maxDrain
		}
		for ; n > 0; n-- {
			err := port.Recv(&p.in, deadline)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return fmt.Errorf("serve pings: %w", err)
			}
			p.accept()
			deadline = past
		}
		if err := p.reply(port); err != nil {
			return fmt.Errorf("serve pings: %w", err)
		}
	}
	return nil
}

// accept counts the received packet and, if it is a ping, queues it.
func (p *portServer) accept() {
	o := &p.server.o
	p.mu.Lock()
	defer p.mu.Unlock()
	if reason := rejectReason(&p.in, o.OUI); reason != "" {
		p.ignored++
		p.log("ignored", &p.in.Addr, reason)
		return
	}
	now := p.server.clock()
	s := p.sources.get(sourceOf(&p.in.Addr), now, o.Rate)
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

// reply answers queued pings, as far as the port has room.
func (p *portServer) reply(port umad.Responder) error {
	p.full = false
	for range maxReplies {
		p.mu.Lock()
		s := p.queue.pop(&p.out)
		p.mu.Unlock()
		if s == nil {
			return nil
		}
		request := p.out
		makeReply(&p.out, p.server.o.Name)
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

// log logs the outcome for a ping.
func (p *portServer) log(outcome string, from *umad.Addr, reason string) {
	log := p.server.o.Log
	if !log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{slog.String("device", p.at.Device), slog.Int("port", int(p.at.Port)), slog.String("source", sourceOf(from).String())}
	if reason != "" {
		attrs = append(attrs, slog.String("reason", reason))
	}
	log.LogAttrs(context.Background(), slog.LevelDebug, outcome, attrs...)
}

// addTo adds the port's counts.
func (p *portServer) addTo(c *ServeCounts) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.Ignored += p.ignored
	c.Forgotten += p.sources.forgotten
	c.Total.add(&p.sources.forgottenCounts)
	for s := p.sources.newest; s != nil; s = s.older {
		c.Total.add(&s.counts)
		c.Sources = append(c.Sources, SourceCount{
			ServedPort: p.at,
			From:       s.from,
			Counts:     s.counts,
			First:      p.server.start.Add(s.first),
			Last:       p.server.start.Add(s.last),
		})
	}
}
