package crew

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/ibkit/ibkit/internal/jsonframe"
)

// handshakeLimit is the time that a peer has for each message until it is welcome.
const handshakeLimit = 10 * time.Second

// extraHandshakes is the number of connections, above the number of workers, that may be in
// a handshake at the same time.
const extraHandshakes = 64

// maxRefused limits the refusals that are kept.
const maxRefused = 50

// A Refusal is a connection that did not become a member.
type Refusal struct {
	Name   string // "": it did not prove that it knows the token
	From   string // address
	Reason string
}

// String returns the reason with the origin.
func (r Refusal) String() string {
	if r.Name == "" {
		return fmt.Sprintf("%s: %s", r.From, r.Reason)
	}
	return fmt.Sprintf("%s (%s): %s", r.Name, r.From, r.Reason)
}

// accept serves connections until the listener closes.
func (c *Crew) accept() {
	slots := make(chan struct{}, c.o.size()+extraHandshakes)
	for {
		conn, err := c.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe):
			return
		case err != nil: // may be temporary, such as too many open files
			select {
			case <-time.After(time.Second):
			case <-c.over:
				return
			}
			continue
		}
		select {
		case slots <- struct{}{}:
			c.running.Go(func() {
				defer func() { <-slots }()
				c.greet(conn)
			})
		default:
			c.refuse(conn, Refusal{Reason: "too many connections without proof"})
		}
	}
}

// greet admits a worker or refuses it. An admitted worker's messages are read in a new
// goroutine.
func (c *Crew) greet(conn net.Conn) {
	stop := make(chan struct{})
	defer close(stop)
	c.running.Go(func() { // the end of the run ends the handshake
		select {
		case <-stop:
		case <-c.over:
			_ = conn.SetDeadline(time.Unix(1, 0))
		}
	})
	input := bufio.NewReader(conn)
	j, nonce, err := c.challenge(conn, input)
	if err != nil {
		c.refuse(conn, Refusal{Reason: reason(err)})
		return
	}
	if !proven(j.Proof, c.o.Token, workerRole, nonce, j.Nonce, j.Name) {
		c.refuse(conn, Refusal{Reason: fmt.Sprintf("wrong token, from a worker with the name %.80s", j.Name)})
		return
	}
	m := &member{Name: j.Name, index: j.Index, conn: conn, input: input}
	if j.Offer != nil {
		m.offer = *j.Offer
	}
	c.lock.Lock()
	stale := c.replace(m, j.Version)
	why := c.seat(m, j.Version)
	c.lock.Unlock()
	for _, r := range stale {
		c.note(r)
	}
	if why != "" {
		c.refuse(conn, Refusal{Name: j.Name, Reason: why})
		return
	}
	w := &welcome{Proof: prove(c.o.Token, coordinatorRole, nonce, j.Nonce, j.Name), Silence: c.o.silence()}
	if err := m.send(message{Welcome: w}); err != nil {
		c.drop(m)
		return
	}
	_ = conn.SetReadDeadline(time.Time{}) // fails only on a closed connection, which the reader reports
	keepAlive(conn)
	c.running.Go(func() { c.receive(m) })
	c.admit(m)
}

// challenge exchanges nonces and returns the worker's answer.
func (c *Crew) challenge(conn net.Conn, input io.Reader) (*join, []byte, error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeLimit)); err != nil {
		return nil, nil, err
	}
	nonce := random(nonceSize)
	if err := jsonframe.Write(conn, message{Challenge: &challenge{Version: c.o.Version, Nonce: nonce}}, maxHandshake); err != nil {
		return nil, nil, err
	}
	m, err := read(input, maxHandshake)
	switch {
	case err != nil:
		return nil, nil, err
	case m.Join == nil || len(m.Join.Nonce) != nonceSize:
		return nil, nil, jsonframe.ErrInvalid
	}
	return m.Join, nonce, nil
}

// refuse sends the peer the reason, closes its connection and keeps the reason.
func (c *Crew) refuse(conn net.Conn, r Refusal) {
	r.From = fmt.Sprint(conn.RemoteAddr())
	r.Name, r.Reason = jsonframe.Printable(r.Name), jsonframe.Printable(r.Reason)
	_ = conn.SetWriteDeadline(time.Now().Add(sendLimit))
	_ = jsonframe.Write(conn, message{Refused: r.Reason}, maxHandshake) // the peer may be gone
	_ = conn.Close()
	c.note(r)
}

// note keeps a refusal.
func (c *Crew) note(r Refusal) {
	c.lock.Lock()
	c.refusals++
	kept := len(c.refused) < maxRefused
	if kept {
		c.refused = append(c.refused, r)
	}
	c.lock.Unlock()
	if kept {
		c.o.event(Event{Refused: &r})
	}
}

// reason returns why a handshake failed.
func reason(err error) string {
	length, foreign := errors.AsType[*jsonframe.LengthError](err)
	switch {
	case foreign:
		return fmt.Sprintf("not a worker: it begins with %q", length.Head[:])
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("not a worker: no answer within %v", handshakeLimit)
	}
	return "not a worker: " + reasonOfEnd(err)
}

// keepAlive makes the kernel detect the loss of the peer's host within some 20 seconds.
func keepAlive(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3})
	}
}
