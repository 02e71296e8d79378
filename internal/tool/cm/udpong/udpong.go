// Package udpong implements librdmacm's udpong over UDP sockets: a client measures
// round-trip times, or the message rate in a single direction.
//
// A message has an operation, the client number, a sequence number and, when a test
// ends, the received message count (librdmacm/examples/udpong.c).
package udpong

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

// Message operations.
const (
	opLogin = iota
	opStart
	opData
	opEcho
	opEnd
)

// Offsets in a message.
const (
	atOp   = 0
	atID   = 1
	atSeq  = 2
	atData = 4
)

const (
	// MinSize is the control message size.
	MinSize = 16

	// maxSize is the longest message that a server receives.
	maxSize = 8 + 2048

	// defaultBuffer is the socket buffer size.
	defaultBuffer = 1 << 19

	// maxDatagram is the maximum UDP datagram size over IPv4.
	maxDatagram = 65507
)

// A SocketError is a failed socket operation.
type SocketError struct {
	Op  string // as librdmacm names it
	Err error
}

func (e *SocketError) Error() string { return e.Op + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *SocketError) Unwrap() error { return e.Err }

// setBuffers sets a socket's buffer sizes, 0 for the default.
func setBuffers(c *net.UDPConn, size int) error {
	if size == 0 {
		size = defaultBuffer
	}
	return errors.Join(c.SetReadBuffer(size), c.SetWriteBuffer(size))
}

// Serve answers client messages until ctx ends. login is called for each new client.
func Serve(ctx context.Context, local netip.AddrPort, buffer int, login func(netip.Addr)) error {
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(local))
	if err != nil {
		return &SocketError{"rbind", err}
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	if err := setBuffers(c, buffer); err != nil {
		return &SocketError{"rbind", err}
	}
	s := server{login: login}
	message := make([]byte, maxSize)
	for {
		n, from, err := c.ReadFromUDPAddrPort(message)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return &SocketError{"rrecv", err}
		}
		if !s.handle(message[:n], from) {
			continue
		}
		if _, err := c.WriteToUDPAddrPort(message[:n], from); err != nil {
			return &SocketError{"rsend", err}
		}
	}
}

// A server counts its clients' messages.
type server struct {
	login    func(netip.Addr)
	last     uint8 // last client's number
	received [256]uint32
}

// handle handles a message and reports whether to send it back, as changed.
func (s *server) handle(m []byte, from netip.AddrPort) (reply bool) {
	if len(m) < atData+4 {
		return false
	}
	switch count := &s.received[m[atID]]; m[atOp] {
	case opLogin:
		s.login(from.Addr().Unmap())
		m[atID] = s.last
		s.last++
		s.received[m[atID]] = 0
	case opStart:
		*count = 0
	case opEcho:
		*count++
	case opEnd:
		binary.BigEndian.PutUint32(m[atData:], *count)
	default:
		*count++
		return false
	}
	return true
}

// A Client is logged in to a server.
type Client struct {
	conn    *net.UDPConn
	message []byte
	seq     uint8
}

// Dial logs in to a server.
func Dial(server netip.AddrPort, buffer int) (*Client, error) {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(server))
	if err != nil {
		return nil, &SocketError{"rconnect", err}
	}
	c := &Client{conn: conn, message: make([]byte, maxDatagram)}
	if err = setBuffers(conn, buffer); err == nil {
		err = c.exchange(opLogin, MinSize, controlTimeout)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

// Close closes the socket.
func (c *Client) Close() error { return c.conn.Close() }

// The times after which a message is sent again.
const (
	controlTimeout = time.Second
	dataTimeout    = time.Millisecond
)

// exchange sends a message until the reply comes.
func (c *Client) exchange(op byte, size int, timeout time.Duration) error {
	for {
		c.message[atOp], c.message[atSeq] = op, c.seq
		if err := c.send(size); err != nil {
			return err
		}
		if err := c.conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
		_, err := c.conn.Read(c.message[:size])
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return &SocketError{"rrecv", err}
		}
		if err == nil && c.message[atSeq] == c.seq {
			c.seq++
			return nil
		}
	}
}

func (c *Client) send(size int) error {
	if _, err := c.conn.Write(c.message[:size]); err != nil {
		return &SocketError{"rsend", err}
	}
	return nil
}

// A Test is a measurement.
type Test struct {
	Size  int
	Count int
	Echo  bool // the server sends each message back
}

// A Result is a Test's result.
type Result struct {
	Transfers int // in both directions with Echo, otherwise the messages that the server received
	Elapsed   time.Duration
}

// Run runs a test.
func (c *Client) Run(t Test) (Result, error) {
	if err := c.exchange(opStart, MinSize, controlTimeout); err != nil {
		return Result{}, err
	}
	began := time.Now()
	for range t.Count {
		var err error
		if t.Echo {
			err = c.exchange(opEcho, t.Size, dataTimeout)
		} else {
			c.message[atOp] = opData
			err = c.send(t.Size)
		}
		if err != nil {
			return Result{}, err
		}
	}
	if err := c.exchange(opEnd, MinSize, dataTimeout); err != nil {
		return Result{}, err
	}
	r := Result{Transfers: 2 * t.Count, Elapsed: time.Since(began)}
	if !t.Echo {
		r.Transfers = int(binary.BigEndian.Uint32(c.message[atData:]))
	}
	return r, nil
}
