package guest

import (
	"crypto/rand"
	"encoding/gob"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/ibkit/ibkit/test/guest/internal/wire"
)

// session is the connection to the agent, on the side of the runner.
type session struct {
	conn  net.Conn
	hello chan wire.Hello // receives one value
	done  chan struct{}   // closed when the agent has disconnected

	mu        sync.Mutex // guards the fields below
	requests  *gob.Encoder
	processes map[uint32]*Process
	last      uint32 // number of the process started last
}

func newSession(conn net.Conn) *session {
	s := &session{
		conn:      conn,
		hello:     make(chan wire.Hello, 1),
		done:      make(chan struct{}),
		requests:  gob.NewEncoder(conn),
		processes: map[uint32]*Process{},
	}
	go s.receive()
	return s
}

// receive passes events to their processes until the agent disconnects.
func (s *session) receive() {
	defer close(s.done)
	for events := gob.NewDecoder(s.conn); ; {
		var e wire.Event
		if err := events.Decode(&e); err != nil {
			return // the console has the reason
		}
		if e.Hello != nil {
			s.hello <- *e.Hello
			continue
		}
		s.mu.Lock()
		p := s.processes[e.ID]
		if e.Exit != nil {
			delete(s.processes, e.ID)
		}
		s.mu.Unlock()
		if p != nil {
			p.receive(e)
		}
	}
}

// begin makes the agent set up the guest.
func (s *session) begin() error {
	random := make([]byte, 64)
	rand.Read(random) // never fails
	if err := s.requests.Encode(wire.Begin{Time: time.Now(), Random: random}); err != nil {
		return fmt.Errorf("talk to agent: %w", err)
	}
	return nil
}

// start makes the agent start a process.
func (s *session) start(p *Process, what wire.Start) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	p.id = s.last
	s.processes[p.id] = p
	return s.send(wire.Request{ID: p.id, Start: &what})
}

// signal makes the agent send a signal.
func (s *session) signal(id uint32, signal int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.send(wire.Request{ID: id, Signal: signal})
}

func (s *session) send(r wire.Request) error {
	if err := s.requests.Encode(r); err != nil {
		return fmt.Errorf("talk to agent: %w", err)
	}
	return nil
}
