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

// session is the connection to the agent, on the runner's side.
type session struct {
	conn  net.Conn
	hello chan wire.Hello // receives a single value
	done  chan struct{}   // closed when the agent has disconnected

	sending  sync.Mutex // guards requests; not held with mu, so that events pass meanwhile
	requests *gob.Encoder

	mu        sync.Mutex // guards the fields below
	processes map[uint32]*Process
	replies   map[uint32]func(wire.Event) // to requests with their own numbers
	last      uint32                      // number of the last request
}

func newSession(conn net.Conn) *session {
	s := &session{
		conn:      conn,
		hello:     make(chan wire.Hello, 1),
		done:      make(chan struct{}),
		requests:  gob.NewEncoder(conn),
		processes: map[uint32]*Process{},
		replies:   map[uint32]func(wire.Event){},
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
		s.pass(e)
	}
}

// pass passes an event to the process or to the request that it is about.
func (s *session) pass(e wire.Event) {
	s.mu.Lock()
	p, reply := s.processes[e.ID], s.replies[e.ID]
	delete(s.replies, e.ID)
	if e.Exit != nil {
		delete(s.processes, e.ID)
	}
	s.mu.Unlock()
	switch {
	case reply != nil:
		reply(e)
	case p != nil:
		p.receive(e)
	}
}

// ended reports whether the agent has disconnected.
func (s *session) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
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
	s.last++
	p.id = s.last
	s.processes[p.id] = p
	s.mu.Unlock()
	return s.send(wire.Request{ID: p.id, Start: &what})
}

// signal makes the agent send a signal.
func (s *session) signal(id uint32, signal int) error {
	return s.send(wire.Request{ID: id, Signal: signal})
}

// end makes the agent kill all processes of a command.
func (s *session) end(p *Process) error {
	return s.ask(wire.Request{End: p.id}, p.receive)
}

// status makes the agent list the processes in the guest. The channel receives a single value.
func (s *session) status() (<-chan []wire.Process, error) {
	list := make(chan []wire.Process, 1)
	return list, s.ask(wire.Request{Status: true}, func(e wire.Event) { list <- e.Status })
}

// ask sends a request with its own number. reply is called with the reply.
func (s *session) ask(r wire.Request, reply func(wire.Event)) error {
	s.mu.Lock()
	s.last++
	r.ID = s.last
	s.replies[r.ID] = reply
	s.mu.Unlock()
	return s.send(r)
}

func (s *session) send(r wire.Request) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if err := s.requests.Encode(r); err != nil {
		return fmt.Errorf("talk to agent: %w", err)
	}
	return nil
}
