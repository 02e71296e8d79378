// Package ibsim attaches to a running ibsim server, the linux-rdma fabric simulator, as a
// node in the fabric that it simulates.
//
// The protocol is the same as for ibsim's own clients (ibsim: include/ibsim.h,
// ibsim/sim_net.c, umad2sim/sim_client.c): datagrams on abstract Unix sockets, or UDP to
// a server on another host. A control socket attaches to a node and reads its attributes;
// a data socket carries MADs.
package ibsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/internal/nonblock"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options specify the server and the node. The zero value is ibsim's default server, and
// the first node in its net file.
type Options struct {
	SockName string // server name on this host; "": "sim"
	Node     string // ID or description of the node to attach to; "": the server's choice

	// Responder attaches as the client that receives the requests to the node,
	// which only a single client can do at a time. [Port.Listen] requires it.
	Responder bool

	Server string // other host with a server; "": SockName on this host
	Port   int    // Server's UDP port; 0: 7070
}

// OptionsFromEnv returns the options that ibsim's own clients read from the
// environment: IBSIM_SOCKNAME, SIM_HOST, IBSIM_SERVER_NAME, IBSIM_SERVER_PORT.
func OptionsFromEnv(getenv func(string) string) (Options, error) {
	o := Options{
		SockName: getenv("IBSIM_SOCKNAME"),
		Node:     getenv("SIM_HOST"),
		Server:   getenv("IBSIM_SERVER_NAME"),
	}
	if s := getenv("IBSIM_SERVER_PORT"); s != "" && o.Server != "" {
		port, err := strconv.ParseUint(s, 10, 16)
		if err != nil || port == 0 {
			return o, fmt.Errorf("invalid IBSIM_SERVER_PORT %q: not a port number", s)
		}
		o.Port = int(port)
	}
	return o, nil
}

// Port is an ibsim client. It implements [umad.Port].
type Port struct {
	attr    umad.PortAttr
	control net.Conn
	data    net.Conn
	conn    *nonblock.Conn // over data
	slot    uint32

	routesFromLID bool // the server is ibkit's

	responder bool
	services  []umad.Service

	foreign  int
	answerIn time.Duration // time limit for replies to control requests

	out, in *nonblock.Batch
	dropped runtime.Cleanup // detaches a port that is dropped without Close
	closed  bool
}

// batchSize is the maximum datagram count per system call. A Unix socket queues 11 by
// default (net.unix.max_dgram_qlen).
const batchSize = 32

// Open attaches to a server.
func Open(ctx context.Context, o Options) (*Port, error) {
	p, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("attach to %s: %w", o.server(), err)
	}
	return p, nil
}

func (o Options) server() string {
	if o.Server != "" {
		return "ibsim at " + net.JoinHostPort(o.Server, strconv.Itoa(cmp.Or(o.Port, ibsimproto.DefaultPort)))
	}
	return fmt.Sprintf("ibsim %q", cmp.Or(o.SockName, ibsimproto.DefaultSockName))
}

func open(ctx context.Context, o Options) (*Port, error) {
	if len(o.Node) >= ibsimproto.NodeIDSize {
		return nil, fmt.Errorf("node %q: longer than %d characters", o.Node, ibsimproto.NodeIDSize-1)
	}
	var e endpoint
	var err error
	if o.Server != "" {
		e, err = dialUDP(ctx, o.Server, cmp.Or(o.Port, ibsimproto.DefaultPort))
	} else {
		e, err = dialUnix(ibsimproto.SockName(cmp.Or(o.SockName, ibsimproto.DefaultSockName)))
	}
	if err != nil {
		return nil, err
	}
	p := &Port{
		control:   e.control,
		data:      e.data,
		responder: o.Responder,
		answerIn:  controlTimeout,
		out:       nonblock.NewBatch(batchSize, ibsimproto.PacketSize),
		// A byte more, to recognise a datagram that is too long.
		in: nonblock.NewBatch(batchSize, ibsimproto.PacketSize+1),
	}
	if err := p.attach(e, o.Node); err != nil {
		e.control.Close()
		e.data.Close()
		return nil, err
	}
	p.dropped = runtime.AddCleanup(p, detach, attachment{p.control, p.data, p.conn, p.slot})
	return p, nil
}

// An attachment is a port's part that outlives it.
type attachment struct {
	control, data net.Conn
	conn          *nonblock.Conn
	slot          uint32
}

// detach releases a dropped port's slot and sockets. It does not wait for a reply.
func detach(a attachment) {
	request := ibsimproto.NewControl(ibsimproto.Disconnect, a.slot, [ibsimproto.ControlDataSize]byte{})
	_, _ = a.control.Write(request[:])
	_ = errors.Join(a.data.Close(), a.control.Close(), a.conn.Release())
}

// attach attaches to a node in the fabric.
func (p *Port) attach(e endpoint, node string) error {
	reply, err := p.request(ibsimproto.Connect, ibsimproto.ClientInfo{ID: e.id, IsSM: p.responder, Node: node}.Encode())
	switch {
	case errors.Is(err, errRefused) && p.responder:
		err = fmt.Errorf("no node %q, or the node has a responder, or all slots for clients are in use", node)
	case errors.Is(err, errRefused):
		err = fmt.Errorf("no node %q, or all slots for clients are in use", node)
	}
	if err != nil {
		return err
	}
	info := ibsimproto.DecodeClientInfo(reply[:])
	p.slot, p.routesFromLID = info.ID, info.RoutesFromLID
	if err := p.begin(e); err != nil {
		_, detached := p.request(ibsimproto.Disconnect, [ibsimproto.ControlDataSize]byte{})
		return errors.Join(err, detached)
	}
	return nil
}

// begin prepares an attached port for MADs.
func (p *Port) begin(e endpoint) (err error) {
	if err := e.connectData(p.slot); err != nil {
		return err
	}
	if p.conn, err = nonblock.New(p.data.(nonblock.File)); err != nil {
		return err
	}
	return p.readAttr()
}

// readAttr reads the port's attributes from the server.
func (p *Port) readAttr() error {
	var node mad.NodeInfo
	var port mad.PortInfo
	for _, q := range []struct {
		kind ibsimproto.Kind
		attr mad.Attribute
	}{{ibsimproto.GetNodeInfo, &node}, {ibsimproto.GetPortInfo, &port}} {
		reply, err := p.request(q.kind, [ibsimproto.ControlDataSize]byte{})
		if err == nil {
			err = mad.Decode(q.attr, reply[:])
		}
		if err != nil {
			return fmt.Errorf("read %s of the local node: %w", q.attr.Spec().ID, err)
		}
	}
	// The server's NodeInfo lacks the port GUID. The server computes it like this, and a
	// switch's port 0 has the node GUID.
	portGUID := node.NodeGUID
	if !node.IsSwitch() {
		portGUID += ib.GUID(port.LocalPort)
	}
	p.attr = umad.PortAttr{
		Device:    "ibsim0", // as in libumad2sim, for any slot
		Number:    port.LocalPort,
		LinkLayer: "InfiniBand",
		NodeGUID:  node.NodeGUID,
		PortGUID:  portGUID,
		LID:       port.LID,
		LMC:       port.LMC,
		SMLID:     port.SMLID,
		SMSL:      port.SMSL,
		State:     port.State,
		PhysState: port.PhysState,
		GIDPrefix: port.GIDPrefix,
	}
	return nil
}

// Attr returns the attributes of the port that the client is attached to.
func (p *Port) Attr() umad.PortAttr { return p.attr }

// Foreign returns the count of received datagrams that are not ibsim's packets.
func (p *Port) Foreign() int { return p.foreign }

// errLIDThenRoute is the error for packets that ibsim, unlike ibkit's server, would discard
// silently.
var errLIDThenRoute = errors.New("send MAD: ibsim does not simulate directed routes that start at a LID")

// Send sends a MAD to the server.
func (p *Port) Send(m *umad.Message) error {
	if p.closed {
		return p.failed("send MAD", fs.ErrClosed)
	}
	out, err := p.encode(0, m)
	if err != nil {
		return err
	}
	return p.sendError(p.conn.Send(out))
}

// SendBatch sends several MADs to the server
func (p *Port) SendBatch(m []umad.Message) (int, error) {
	if p.closed {
		return 0, p.failed("send MAD", fs.ErrClosed)
	}
	for sent := 0; sent < len(m); {
		n := 0
		var invalid error
		for ; n < p.out.Size() && sent+n < len(m) && invalid == nil; n++ {
			if _, invalid = p.encode(n, &m[sent+n]); invalid != nil {
				break
			}
		}
		if n > 0 {
			done, err := p.conn.SendBatch(p.out, n)
			if sent += done; err != nil {
				return sent, p.sendError(err)
			}
		}
		if invalid != nil {
			return sent, invalid
		}
	}
	return len(m), nil
}

// encode writes a message's packet into a buffer and returns it.
func (p *Port) encode(buffer int, m *umad.Message) ([]byte, error) {
	if m.MAD.Class() == mad.ClassSMPDirected && m.Addr.LID != ib.PermissiveLID && !p.routesFromLID {
		return nil, errLIDThenRoute
	}
	out := p.out.Buffer(buffer)
	encodePacket((*ibsimproto.Packet)(out), m)
	return out, nil
}

// sendError returns a Port's error for a socket error.
func (p *Port) sendError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOBUFS):
		return umad.ErrWouldBlock
	}
	return p.failed("send MAD", err)
}

// Recv returns the next MAD. It skips datagrams that are not ibsim's packets.
func (p *Port) Recv(m *umad.Message, deadline time.Time) error {
	if p.closed {
		return p.failed("receive MAD", fs.ErrClosed)
	}
	for {
		in := p.in.Buffer(0)
		n, err := p.conn.Receive(in, deadline)
		if err != nil {
			return p.recvError(err)
		}
		if decodePacket(m, in[:n]) {
			if p.reject(m) {
				continue
			}
			return nil
		}
		if err := p.skipped(1, deadline); err != nil {
			return err
		}
	}
}

// RecvBatch returns the MADs that have arrived
func (p *Port) RecvBatch(m []umad.Message, deadline time.Time) (int, error) {
	if p.closed {
		return 0, p.failed("receive MAD", fs.ErrClosed)
	}
	for {
		received, err := p.conn.ReceiveBatch(p.in, min(len(m), p.in.Size()), deadline)
		if err != nil {
			return 0, p.recvError(err)
		}
		n, rejected := 0, 0
		for i := range received {
			switch {
			case !decodePacket(&m[n], p.in.Message(i)):
			case p.reject(&m[n]):
				rejected++
			default:
				n++
			}
		}
		if n == received {
			return n, nil
		}
		err = p.skipped(received-n-rejected, deadline)
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// skipped counts datagrams that are not packets. It returns an error after the
// deadline, so that a flood does not keep the caller.
func (p *Port) skipped(n int, deadline time.Time) error {
	p.foreign += n
	if !deadline.IsZero() && time.Now().After(deadline) {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// recvError returns a Port's error for a socket error.
func (p *Port) recvError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return p.failed("receive MAD", err)
}

// failed returns a data socket operation's error.
func (p *Port) failed(op string, err error) error {
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.ENOTCONN) {
		err = &endedError{err}
	}
	return fmt.Errorf("%s: %w", op, err)
}

// An endedError reports that the server has ended. It is an
// [umad.ErrDeviceRemoved].
type endedError struct{ err error }

func (e *endedError) Error() string        { return "ibsim has ended: " + e.err.Error() }
func (e *endedError) Unwrap() error        { return e.err }
func (e *endedError) Is(target error) bool { return target == umad.ErrDeviceRemoved }

// WaitInThread makes Recv wait in a system call from now on. No Recv may be in progress.
func (p *Port) WaitInThread() error { return p.conn.WaitInThread() }

// Interrupt ends the current Recv wait, or the next wait.
func (p *Port) Interrupt() { p.conn.Interrupt() }

// Close detaches from the node. A client that exits without Close occupies one of the
// server's ten slots until the server exits. A Port that is garbage collected is detached.
func (p *Port) Close() error {
	p.closed = true
	p.dropped.Stop()
	// ibsim handles control requests before packets, and discards a disconnecting
	// client's packets (ibsim/ibsim.c, sim_run). When it answers a first request, it has
	// read the packets that were sent before.
	_, err := p.request(ibsimproto.GetPort, [ibsimproto.ControlDataSize]byte{})
	if err == nil {
		_, err = p.request(ibsimproto.Disconnect, [ibsimproto.ControlDataSize]byte{})
	}
	err = errors.Join(p.data.Close(), p.control.Close(), p.conn.Release(), err)
	if errors.Is(err, unix.ECONNREFUSED) {
		return nil // the server ended first
	}
	return err
}
