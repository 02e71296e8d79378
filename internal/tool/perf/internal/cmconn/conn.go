// Package cmconn exchanges messages through a queue pair that the connection manager has
// connected, as the perftest programs do with their option -z.
package cmconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// A Conn is a connection for messages up to MaxMessage bytes. It implements net.Conn:
// each Write sends a message, and each Read returns a message.
type Conn struct {
	client  bool
	link    *rdmacm.Conn
	local   net.Addr
	device  string
	context *verbs.Context
	memory  *verbs.Memory
	region  *verbs.MR
	cq      *verbs.CQ
	qp      *verbs.QP

	messages chan []byte   // closed when the connection ends
	sent     chan error    // send results
	ended    chan struct{} // closed when the peer has disconnected
	err      error         // end reason, once messages is closed
	stop     context.CancelFunc
	running  sync.WaitGroup

	pending     []byte // received message; nil until it has arrived
	read, write deadline
	failed      bool // Close does not wait: a Read or Write has failed, or Finish
}

// MaxMessage is the maximum message size in bytes.
const MaxMessage = 512

// receives is the number of posted receives. Perftest messages alternate, so that two
// are in flight at most.
const receives = 4

// The memory's slot sendSlot holds the message to send, the others hold receives.
const sendSlot = receives

// Param are the connection parameters. The programs use the same.
var Param = rdmacm.ConnParam{RetryCount: 6, RNRRetryCount: 7}

// Dial connects to a program that listens at an address. The dialer has no Setup and no
// Param.
func Dial(ctx context.Context, d rdmacm.Dialer, peer rdmacm.Addr) (_ *Conn, err error) {
	c := &Conn{client: true}
	defer c.closeAfter(&err)
	d.Setup, d.Param = c.setup, &Param
	if c.link, err = d.DialAddr(ctx, peer); err != nil {
		return nil, err
	}
	return c, c.start()
}

// Accept accepts a program's request.
func Accept(ctx context.Context, r *rdmacm.Request) (_ *Conn, err error) {
	c := new(Conn)
	defer c.closeAfter(&err)
	qp, err := c.setup(ctx, r.ID())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if c.link, err = r.Accept(ctx, qp, &Param); err != nil {
		return nil, err
	}
	return c, c.start()
}

// closeAfter releases the objects after an error.
func (c *Conn) closeAfter(err *error) {
	if *err != nil {
		*err = errors.Join(*err, c.release())
	}
}

// setup creates the queue pair and posts its receives.
func (c *Conn) setup(_ context.Context, id *rdmacm.ID) (_ *verbs.QP, err error) {
	at, err := id.Device()
	if err != nil {
		return nil, err
	}
	c.device = at.Name
	if c.context, err = at.Open(); err != nil {
		return nil, err
	}
	pd, err := c.context.AllocPD()
	if err != nil {
		return nil, err
	}
	if c.memory, err = c.context.NewMemory((receives+1)*MaxMessage, verbs.MemoryOptions{}); err != nil {
		return nil, err
	}
	if c.region, err = pd.RegisterMR(c.memory, verbs.AccessLocalWrite); err != nil {
		return nil, err
	}
	channel, err := c.context.NewCompChannel()
	if err != nil {
		return nil, err
	}
	if c.cq, err = c.context.CreateCQ(verbs.CQInit{Entries: receives + 2, Channel: channel}); err != nil {
		return nil, err
	}
	c.qp, err = pd.CreateQP(verbs.QPInit{
		Type: verbs.QPTypeRC, SendCQ: c.cq, RecvCQ: c.cq,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: receives, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	if err != nil {
		return nil, err
	}
	if err := id.InitQP(c.qp); err != nil {
		return nil, err
	}
	for slot := range uint64(receives) {
		if err := c.receive(slot); err != nil {
			return nil, err
		}
	}
	return c.qp, nil
}

// receive posts a slot's receive.
func (c *Conn) receive(slot uint64) error {
	_, err := c.qp.PostRecv([]verbs.RecvWR{{ID: slot, SGEs: []verbs.SGE{c.region.SGE(int(slot)*MaxMessage, MaxMessage)}}})
	return err
}

// start starts to receive messages.
func (c *Conn) start() error {
	a, err := c.link.ID().Addresses()
	if err != nil {
		return err
	}
	if c.local, _ = a.Local.(net.Addr); c.local == nil {
		return errors.New("query addresses: the ID has no local address")
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.messages, c.sent, c.ended = make(chan []byte, receives), make(chan error, 1), make(chan struct{})
	c.running.Go(func() {
		c.err = c.complete(ctx)
		close(c.messages)
	})
	c.running.Go(func() {
		defer close(c.ended)
		for {
			// The connection's end flushes the queue pair, which ends complete.
			e, err := c.link.Next(ctx)
			if err != nil || e.Type == rdmacm.EventDisconnected || e.Type == rdmacm.EventDeviceRemoval {
				return
			}
		}
	})
	return nil
}

// complete takes completions until the connection ends. It returns the end reason.
func (c *Conn) complete(ctx context.Context) error {
	var into [receives + 1]verbs.Completion
	for {
		n, err := c.cq.Wait(ctx, into[:])
		if err != nil {
			return err
		}
		for _, one := range into[:n] {
			err := one.Err()
			if one.Status == verbs.StatusFlushed {
				err = io.EOF
			}
			if one.ID == sendSlot {
				c.sent <- err
				continue
			}
			if err != nil {
				return err
			}
			at := int(one.ID) * MaxMessage
			select {
			case c.messages <- append([]byte{}, c.region.Bytes()[at:at+int(one.ByteLen)]...):
			default:
				return fmt.Errorf("receive message: more than %d wait", receives)
			}
			if err := c.receive(one.ID); err != nil {
				return err
			}
		}
	}
}

// Read reads the next message. It returns io.ErrShortBuffer if the message is longer than
// b, and discards the rest.
func (c *Conn) Read(b []byte) (int, error) {
	if err := c.Await(); err != nil {
		c.failed = true
		return 0, err
	}
	n := copy(b, c.pending)
	short := n < len(c.pending)
	c.pending = nil
	if short {
		return n, io.ErrShortBuffer
	}
	return n, nil
}

// Await waits until Read would not block. It returns io.EOF after the connection has
// ended and os.ErrDeadlineExceeded after the read deadline.
func (c *Conn) Await() error {
	for c.pending == nil {
		limit := c.read.current()
		select {
		case m, ok := <-c.messages:
			if !ok {
				return c.err
			}
			c.pending = m
		case <-limit.Done():
			if limit == c.read.current() {
				return os.ErrDeadlineExceeded
			}
		}
	}
	return nil
}

// Write sends a message and waits until the peer has received it.
func (c *Conn) Write(b []byte) (int, error) {
	if len(b) > MaxMessage {
		return 0, fmt.Errorf("send message of %d bytes: above the maximum of %d", len(b), MaxMessage)
	}
	n, err := c.send(b)
	if err != nil {
		c.failed = true
	}
	return n, err
}

func (c *Conn) send(b []byte) (int, error) {
	const at = sendSlot * MaxMessage
	copy(c.region.Bytes()[at:], b)
	wr := verbs.SendWR{ID: sendSlot, Opcode: verbs.OpSend, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{c.region.SGE(at, len(b))}}
	if _, err := c.qp.PostSend([]verbs.SendWR{wr}); err != nil {
		if errors.Is(err, verbs.ErrState) { // disconnected by the peer
			err = syscall.EPIPE
		}
		return 0, err
	}
	for {
		limit := c.write.current()
		select {
		case err := <-c.sent:
			if err != nil {
				return 0, err
			}
			return len(b), nil
		case <-limit.Done():
			if limit == c.write.current() {
				return 0, os.ErrDeadlineExceeded
			}
		}
	}
}

// Finish ends the connection and waits until the peer confirms it, or ctx ends. The
// perftest programs do so when they end themselves.
func (c *Conn) Finish(ctx context.Context) error {
	c.failed = true              // Close need not wait
	_ = c.link.ID().Disconnect() // fails if the peer has been first
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// farewell is the time that a client waits for the server to end the connection, which
// proves that the server has received its last message's acknowledgement.
const farewell = time.Second

// Close ends the connection and releases its objects.
func (c *Conn) Close() error {
	if c.client && !c.failed {
		select {
		case <-c.ended:
		case <-time.After(farewell):
		}
	}
	return c.release()
}

// release releases all objects that exist.
func (c *Conn) release() error {
	if c.stop != nil {
		c.stop()
		c.running.Wait()
	}
	var errs []error
	if c.link != nil {
		errs = append(errs, c.link.Close())
	}
	if c.context != nil {
		errs = append(errs, c.context.Close())
	}
	if c.memory != nil {
		errs = append(errs, c.memory.Close())
	}
	return errors.Join(errs...)
}

// Device returns the local device name.
func (c *Conn) Device() string { return c.device }

// LocalAddr returns the local address.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the peer's address.
func (c *Conn) RemoteAddr() net.Addr { return c.link.Peer() }

// SetDeadline sets the read and the write deadline.
func (c *Conn) SetDeadline(t time.Time) error {
	c.read.set(t)
	c.write.set(t)
	return nil
}

// SetReadDeadline sets the deadline for current and future reads.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.read.set(t)
	return nil
}

// SetWriteDeadline sets the deadline for current and future writes.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.write.set(t)
	return nil
}
