// Package umadtest provides a simulated [umad.Port] for tests on programs that
// send and receive management datagrams. The test determines the replies to each
// message that is sent.
//
// A Port keeps real time. In a testing/synctest bubble it keeps the bubble's time, so
// that timeouts take no time and are exact.
package umadtest

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Port is a simulated port. The zero value accepts all messages and receives
// none. Fields must not be changed while the port is in use; hooks run in the
// goroutine that calls Send, Recv or Listen.
type Port struct {
	Attributes umad.PortAttr // returned by Attr

	// OnSend, if set, is called by Send with a copy of the message. It calls
	// [Port.Deliver] for the messages to be received. Send returns its error.
	OnSend func(p *Port, m umad.Message) error

	// OnRecv, if set, is called at the start of each Recv, which returns
	// an error from it.
	OnRecv func(p *Port) error

	// OnIdle, if set, is called by a Recv without a deadline before it waits
	// with no message to be received.
	OnIdle func(p *Port)

	// OnListen, if set, is called by Listen, which returns its error.
	OnListen func(s umad.Service) error

	// Pick, if set, returns the index of the message that Recv returns, out of the
	// messages that have arrived. Otherwise it is the first message.
	Pick func(arrived []umad.Message) int

	mu       sync.Mutex
	arrivals []arrival // in time order
	sent     []umad.Message
	services []umad.Service
	closed   bool
	wake     chan struct{} // made on first use; holds an Interrupt
	news     chan struct{} // holds a Deliver
}

type arrival struct {
	at time.Time
	m  umad.Message
}

var (
	_ umad.Port      = (*Port)(nil)
	_ umad.Responder = (*Port)(nil)
)

// Attr returns p.Attributes.
func (p *Port) Attr() umad.PortAttr { return p.Attributes }

// Send records a message and calls OnSend.
func (p *Port) Send(m *umad.Message) error {
	if p.Closed() {
		return fmt.Errorf("send MAD: %w", fs.ErrClosed)
	}
	c := clone(m)
	if p.OnSend != nil {
		if err := p.OnSend(p, c); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, c)
	return nil
}

// clone returns a message copy that shares no memory with it.
func clone(m *umad.Message) umad.Message {
	c := *m
	if m.Addr.GRH != nil {
		c.Addr.GRH = new(*m.Addr.GRH)
	}
	c.Rest = slices.Clone(m.Rest)
	return c
}

// Sent returns the messages that were sent successfully so far.
func (p *Port) Sent() []umad.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.sent)
}

// Deliver makes a message arrive after a delay. Messages with the same arrival time
// arrive in call order. Deliver may be called concurrently with other methods.
func (p *Port) Deliver(delay time.Duration, m umad.Message) {
	at := time.Now().Add(delay)
	m = clone(&m)
	p.mu.Lock()
	i := len(p.arrivals)
	for i > 0 && p.arrivals[i-1].at.After(at) {
		i--
	}
	p.arrivals = slices.Insert(p.arrivals, i, arrival{at, m})
	_, news := p.channels()
	p.mu.Unlock()
	notify(news)
}

// Pending returns the count of messages that were delivered and not received.
func (p *Port) Pending() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.arrivals)
}

// channels returns the channels that end a wait. The caller holds the mutex.
func (p *Port) channels() (wake, news chan struct{}) {
	if p.wake == nil {
		p.wake, p.news = make(chan struct{}, 1), make(chan struct{}, 1)
	}
	return p.wake, p.news
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Recv waits for a message as [umad.Port] describes.
func (p *Port) Recv(m *umad.Message, deadline time.Time) error {
	if p.Closed() {
		return fmt.Errorf("receive MAD: %w", fs.ErrClosed)
	}
	if p.OnRecv != nil {
		if err := p.OnRecv(p); err != nil {
			return err
		}
	}
	for {
		next, ok := p.take(m)
		if ok {
			return nil
		}
		if next.IsZero() && deadline.IsZero() && p.OnIdle != nil {
			p.OnIdle(p)
			if p.Pending() > 0 {
				continue
			}
		}
		if next.IsZero() || !deadline.IsZero() && deadline.Before(next) {
			next = deadline
		}
		if !p.wait(next) || !deadline.IsZero() && !time.Now().Before(deadline) && !p.due() {
			return os.ErrDeadlineExceeded
		}
	}
}

// take receives a message that has arrived. If there is none it returns the time
// at which the next message arrives, or the zero time.
func (p *Port) take(m *umad.Message) (next time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.countDue()
	if n == 0 {
		if len(p.arrivals) > 0 {
			next = p.arrivals[0].at
		}
		return next, false
	}
	i := 0
	if p.Pick != nil {
		arrived := make([]umad.Message, n)
		for j := range arrived {
			arrived[j] = p.arrivals[j].m
		}
		i = p.Pick(arrived)
	}
	*m = p.arrivals[i].m
	if i == 0 {
		p.arrivals = p.arrivals[1:] // the usual case, without a copy
	} else {
		p.arrivals = slices.Delete(p.arrivals, i, i+1)
	}
	return next, true
}

// countDue returns the count of messages that have arrived. The caller holds the mutex.
func (p *Port) countDue() int {
	now := time.Now()
	n := 0
	for n < len(p.arrivals) && !p.arrivals[n].at.After(now) {
		n++
	}
	return n
}

func (p *Port) due() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.countDue() > 0
}

// wait waits until a time (the zero time: for ever) or the next Deliver. It
// returns false if it was interrupted.
func (p *Port) wait(until time.Time) bool {
	p.mu.Lock()
	wake, news := p.channels()
	p.mu.Unlock()
	select {
	case <-wake: // even if there is no time to wait
		return false
	default:
	}
	var timer <-chan time.Time
	if !until.IsZero() {
		left := time.Until(until)
		if left <= 0 {
			return true
		}
		t := time.NewTimer(left)
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-wake:
		return false
	case <-news:
	case <-timer:
	}
	return true
}

// Interrupt ends the current Recv wait, or the next wait.
func (p *Port) Interrupt() {
	p.mu.Lock()
	wake, _ := p.channels()
	p.mu.Unlock()
	notify(wake)
}

// Listen records a service and calls OnListen.
func (p *Port) Listen(s umad.Service) error {
	if p.OnListen != nil {
		if err := p.OnListen(s); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.services = append(p.services, s)
	return nil
}

// Services returns the services that the port listens for.
func (p *Port) Services() []umad.Service {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.services)
}

// Close marks the port as closed.
func (p *Port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return nil
}

// Closed reports whether Close was called.
func (p *Port) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// A BatchPort is a Port that carries several messages per call.
type BatchPort struct {
	*Port
	Room int // how many messages SendBatch accepts in a call; 0: all

	// Sends and Receives are the message counts of the calls so far that carried any.
	Sends, Receives []int
}

// SendBatch sends messages, up to the room that there is.
func (p *BatchPort) SendBatch(m []umad.Message) (n int, err error) {
	for n < len(m) && err == nil {
		if p.Room > 0 && n == p.Room {
			err = umad.ErrWouldBlock
		} else if err = p.Send(&m[n]); err == nil {
			n++
		}
	}
	if n > 0 {
		p.Sends = append(p.Sends, n)
	}
	return n, err
}

// RecvBatch receives the messages that have arrived.
func (p *BatchPort) RecvBatch(m []umad.Message, deadline time.Time) (int, error) {
	if err := p.Recv(&m[0], deadline); err != nil {
		return 0, err
	}
	n := 1
	for n < len(m) && p.due() && p.Recv(&m[n], time.Unix(1, 0)) == nil {
		n++
	}
	p.Receives = append(p.Receives, n)
	return n, nil
}

// responseBit marks a response's method (InfiniBand Architecture, Volume 1, 13.4.5).
const responseBit = 0x80

// tidOfTransport is an upper half for transaction IDs, as the kernel and ibsim write
// theirs into requests.
const tidOfTransport = 0xabcd << 48

// Reply returns the response to m with m's data and status 0, as an agent sends it that
// agrees with all of m. The upper half of the transaction ID is the transport's.
func Reply(m umad.Message) umad.Message {
	m.MAD.SetMethod(m.MAD.Method() | responseBit)
	m.MAD.SetTID(m.MAD.TID()&0xffffffff | tidOfTransport)
	m.Timeout = 0
	return m
}

// ReplyWith returns the response to m with an attribute's data.
func ReplyWith(m umad.Message, a mad.Attribute) umad.Message {
	m = Reply(m)
	if err := mad.Encode(a, m.MAD.Data()); err != nil {
		panic("umadtest: " + err.Error())
	}
	return m
}

// headerSize is the common MAD header length in bytes.
const headerSize = 24

// Returned returns m as a transport returns a request that got no reply: with
// status ETIMEDOUT and without the data.
func Returned(m umad.Message) umad.Message {
	m.Status = syscall.ETIMEDOUT
	m.Timeout = 0
	clear(m.MAD[headerSize:])
	return m
}
