package umad

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Listen makes the client pass a service's packets, which are not responses to its
// requests, to receive. The port must be a [Responder]; the rules of its Listen apply.
// receive runs in the goroutine of [Client.Run] or [Client.Wait] and may call
// [Client.Respond]. The message is valid until receive returns.
func (c *Client) Listen(s Service, receive func(*Message)) error {
	port := Port(c.port)
	if single, ok := port.(singlePort); ok {
		port = single.Port
	}
	r, ok := port.(Responder)
	if !ok {
		return fmt.Errorf("listen for %v: the port receives responses only", s.Class)
	}
	if err := r.Listen(s); err != nil {
		return err
	}
	c.services = append(c.services, listener{s, receive})
	return nil
}

// A listener receives a service's packets.
type listener struct {
	Service
	receive func(*Message)
}

// Wait runs the requests that were submitted before, and then receives packets
// until a service's packet has been received, until a time, or until ctx ends. It
// returns nil for a packet, and [os.ErrDeadlineExceeded] when the time is over. The
// zero time never comes.
func (c *Client) Wait(ctx context.Context, until time.Time) error {
	heard := c.heard
	if err := c.use.enter(); err != nil {
		return err
	}
	defer c.use.leave()
	if err := c.run(ctx); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, c.port.Interrupt)()
	for c.heard == heard {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := c.port.RecvBatch(c.in, until)
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded):
			if err != nil {
				return err
			}
		case ctx.Err() == nil && !until.IsZero() && !time.Now().Before(until):
			return err
		}
		now := c.clock()
		for i := range c.in[:n] {
			c.receive(&c.in[i], now)
		}
	}
	return nil
}

// Respond sends a packet to which no reply is expected, such as the response to a
// service's packet. If the port has no room, the packet is lost as on the network.
func (c *Client) Respond(m *Message) error {
	err := c.port.Send(m)
	if errors.Is(err, ErrWouldBlock) {
		return nil
	}
	return err
}

// unsolicited passes a packet that matches no request to the listener of its service. It
// reports false for other packets.
func (c *Client) unsolicited(in *Message) bool {
	m := &in.MAD
	if in.Status != 0 || m.Method().IsResponse() {
		return false
	}
	for _, l := range c.services {
		if l.Class == m.Class() && slices.Contains(l.Methods, m.Method()) {
			c.heard++
			was := c.use.call()
			l.receive(in)
			c.use.restore(was)
			return true
		}
	}
	return false
}
