package pingpong

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
	"github.com/ibkit/ibkit/verbs"
)

// An XRCTest holds settings of ibv_xsrq_pingpong. Each client exchanges messages with the
// server over XRC.
type XRCTest struct {
	Size     int    // -s, bytes of a message
	Messages int    // -n, of each client
	Clients  int    // -c, of a server; 1 for a client
	MTU      ib.MTU // -m
	SL       uint8  // -l
	Events   bool   // -e, wait for completion events instead of polling
	OnDemand bool   // -o

	// PeerTimeout is the maximum time between messages.
	PeerTimeout time.Duration

	// Local and Remote are called with the addresses of a side when they are known.
	Local, Remote func(XRCAddress)
}

// Check returns an error if the settings are invalid.
func (t *XRCTest) Check() error {
	const maxReceives = 1 << 15
	if t.Size < 1 || t.Messages < 1 || t.Clients < 1 || t.Clients > maxReceives || t.PeerTimeout <= 0 {
		return fmt.Errorf("size %d, %d messages, %d clients, timeout %v: each must be positive", t.Size, t.Messages, t.Clients, t.PeerTimeout)
	}
	return nil
}

// An XRCAddress identifies a side's queue pairs for a client, and its SRQ.
type XRCAddress struct {
	LID     ib.LID
	RecvQPN uint32 // of the target
	SendQPN uint32 // of the initiator
	PSN     uint32 // of the first packet sent
	SRQN    uint32
	GID     netip.Addr // zero: packets have no GRH
}

// xrcSize is the length of an address as text with the final NUL.
const xrcSize = len("0000:000000:000000:000000:000000:00000000000000000000000000000000") + 1

// append appends the address in the format of the program.
func (a XRCAddress) append(b []byte) []byte {
	gid := gid16(a.GID)
	b = fmt.Appendf(b, "%04x:%06x:%06x:%06x:%06x:", a.LID, a.RecvQPN, a.SendQPN, a.PSN, a.SRQN)
	return append(hex.AppendEncode(b, gid[:]), 0)
}

// parseXRC parses an address of xrcSize bytes.
func parseXRC(b []byte) (a XRCAddress, err error) {
	var gid []byte
	if len(b) == xrcSize && b[xrcSize-1] == 0 {
		_, err = fmt.Sscanf(string(b[:xrcSize-1]), "%04x:%06x:%06x:%06x:%06x:%32x", &a.LID, &a.RecvQPN, &a.SendQPN, &a.PSN, &a.SRQN, &gid)
	}
	if err != nil || len(gid) != 16 {
		return XRCAddress{}, fmt.Errorf("the peer is not ibv_xsrq_pingpong: it sent %.70q", b)
	}
	a.GID = netip.AddrFrom16([16]byte(gid))
	return a, nil
}

// xrcDomain is the file that names the XRC domain. Clients on a host share it with each
// other: the server may send a message for a client's SRQ to another client's queue pair.
const xrcDomain = "/tmp/xrc_domain"

// xrcObjects holds the verbs objects of a side.
type xrcObjects struct {
	test           XRCTest
	place          Place
	file           *os.File
	sendCQ, recvCQ *verbs.CQ
	srq            *verbs.SRQ
	peers          []*xrcPeer
	recv           []verbs.RecvWR // one
	sge            []verbs.SGE
	gid            netip.Addr
	lid            ib.LID
	closers        []io.Closer
}

// An xrcPeer is the pair of queue pairs for a client, or for the server.
type xrcPeer struct {
	conn          net.Conn
	target, init  *verbs.QP
	local, remote XRCAddress
	sent          int
}

// RunXRC runs a side's part of ibv_xsrq_pingpong. connect returns the connection to the
// server, or to the next client.
func RunXRC(ctx context.Context, connect func(context.Context) (net.Conn, error), client bool, place Place, test XRCTest) (err error) {
	if err := test.Check(); err != nil {
		return err
	}
	o := &xrcObjects{test: test, place: place}
	defer func() { err = errors.Join(err, o.close()) }()
	if err := o.create(); err != nil {
		return err
	}
	if err := o.receive(test.Clients); err != nil {
		return err
	}
	for _, p := range o.peers {
		if err := o.meet(ctx, p, connect, client); err != nil {
			return err
		}
	}
	if !client {
		for i := range o.peers {
			if err := o.send(i); err != nil {
				return err
			}
		}
	}
	if err := o.exchange(ctx); err != nil {
		return err
	}
	return o.end(ctx, client)
}

// add records an object to close.
func add[T io.Closer](o *xrcObjects, c T, err error) (T, error) {
	if err == nil {
		o.closers = append(o.closers, c)
	}
	return c, err
}

// create creates all objects.
func (o *xrcObjects) create() (err error) {
	c, t := o.place.Context, &o.test
	pd, err := c.AllocPD()
	if pd, err = add(o, pd, err); err != nil {
		return err
	}
	memory, err := c.NewMemory(t.Size, verbs.MemoryOptions{})
	if memory, err = add(o, memory, err); err != nil {
		return err
	}
	access := (&Test{OnDemand: t.OnDemand}).access()
	mr, err := pd.RegisterMR(memory, access)
	if mr, err = add(o, mr, err); err != nil {
		return err
	}
	o.sge = []verbs.SGE{mr.SGE(0, t.Size)}
	o.recv = []verbs.RecvWR{{ID: recvID, SGEs: o.sge}}
	if o.file, err = os.OpenFile(xrcDomain, os.O_RDONLY|os.O_CREATE, 0o440); err != nil {
		return fmt.Errorf("open the file of the XRC domain: %w", err)
	}
	xrcd, err := c.OpenXRCD(verbs.XRCDInit{File: o.file})
	if xrcd, err = add(o, xrcd, err); err != nil {
		return err
	}
	init := verbs.CQInit{Entries: t.Clients}
	sendCQ, err := c.CreateCQ(init)
	if o.sendCQ, err = add(o, sendCQ, err); err != nil {
		return err
	}
	if t.Events {
		channel, err := c.NewCompChannel()
		if init.Channel, err = add(o, channel, err); err != nil {
			return err
		}
	}
	recvCQ, err := c.CreateCQ(init)
	if o.recvCQ, err = add(o, recvCQ, err); err != nil {
		return err
	}
	srq, err := pd.CreateSRQ(verbs.SRQInit{MaxWR: uint32(t.Clients), MaxSGE: 1, XRCD: xrcd, CQ: o.recvCQ})
	if o.srq, err = add(o, srq, err); err != nil {
		return err
	}
	if err := o.address(); err != nil {
		return err
	}
	for range t.Clients {
		p := &xrcPeer{}
		o.peers = append(o.peers, p)
		if err := o.createQPs(p, pd, xrcd); err != nil {
			return err
		}
	}
	return nil
}

// address finds the local GID and LID.
func (o *xrcObjects) address() error {
	s := objects{test: Test{Type: verbs.QPTypeXRCInit}, place: o.place}
	gid, lid, err := s.address()
	o.gid, o.lid = gid.GID, lid
	return err
}

// createQPs creates the queue pairs of a peer in the state INIT.
func (o *xrcObjects) createQPs(p *xrcPeer, pd *verbs.PD, xrcd *verbs.XRCD) error {
	target, err := xrcd.CreateQP()
	if p.target, err = add(o, target, err); err != nil {
		return err
	}
	initiator, err := pd.CreateQP(verbs.QPInit{Type: verbs.QPTypeXRCInit, SendCQ: o.sendCQ, Cap: verbs.QPCap{
		MaxSendWR: uint32(o.test.Clients * o.test.Messages), MaxSendSGE: 1,
	}})
	if p.init, err = add(o, initiator, err); err != nil {
		return err
	}
	for _, qp := range []*verbs.QP{p.target, p.init} {
		if err := qp.Init(o.place.Port, connParam(0)); err != nil {
			return err
		}
	}
	p.local = XRCAddress{
		LID: o.lid, RecvQPN: p.target.Number(), SendQPN: p.init.Number(), PSN: rand.Uint32N(1 << 24), SRQN: o.srq.Number(), GID: o.gid,
	}
	return nil
}

// meet exchanges addresses with a peer and connects the queue pairs.
func (o *xrcObjects) meet(ctx context.Context, p *xrcPeer, connect func(context.Context) (net.Conn, error), client bool) (err error) {
	if p.conn, err = connect(ctx); err != nil {
		return err
	}
	if p.conn, err = add(o, p.conn, nil); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := p.conn.SetDeadline(time.Now().Add(o.test.PeerTimeout)); err != nil {
		return err
	}
	sendKeys := func() error {
		o.test.Local(p.local)
		_, err := p.conn.Write(p.local.append(nil))
		return err
	}
	receiveKeys := func() error {
		b := make([]byte, xrcSize)
		if _, err := io.ReadFull(p.conn, b); err != nil {
			return err
		}
		var err error
		if p.remote, err = parseXRC(b); err == nil {
			o.test.Remote(p.remote)
		}
		return err
	}
	steps := []func() error{receiveKeys, sendKeys}
	if client {
		steps = []func() error{sendKeys, receiveKeys}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("exchange addresses: %w", peererr.Classify(err))
		}
	}
	return o.connectQPs(p)
}

// connectQPs connects the queue pairs of a peer.
func (o *xrcObjects) connectQPs(p *xrcPeer) error {
	s := objects{test: Test{SL: o.test.SL}, place: o.place}
	peer := verbs.RemoteQP{QPN: p.remote.SendQPN, PSN: p.remote.PSN, Path: s.path(Address{LID: p.remote.LID, GID: p.remote.GID}), MTU: o.test.MTU}
	param := connParam(p.local.PSN)
	param.MaxRdAtomic, param.MaxDestRdAtomic = 0, 0
	if err := p.target.Connect(peer, param); err != nil {
		return err
	}
	peer.QPN = p.remote.RecvQPN
	return p.init.Connect(peer, param)
}

// receive posts n receives.
func (o *xrcObjects) receive(n int) error {
	for range n {
		if _, err := o.srq.PostRecv(o.recv); err != nil {
			return err
		}
	}
	return nil
}

// send sends a message to the SRQ of a peer. As in the program, the queue pairs of all
// peers take turns, and the last message to a peer generates a completion.
func (o *xrcObjects) send(i int) error {
	p := o.peers[i]
	wr := verbs.SendWR{ID: uint64(i), Opcode: verbs.OpSend, SGEs: o.sge, RemoteSRQN: p.remote.SRQN}
	via := o.peers[(i+p.sent)%len(o.peers)].init
	if p.sent++; p.sent >= o.test.Messages {
		wr.Flags = verbs.SendSignaled
	}
	_, err := via.PostSend([]verbs.SendWR{wr})
	return err
}

// exchange answers messages until all have arrived, and waits until the last are sent.
func (o *xrcObjects) exchange(ctx context.Context) error {
	done := make([]verbs.Completion, o.test.Clients)
	for received := 0; received < o.test.Clients*o.test.Messages; {
		n, err := o.next(ctx, o.recvCQ, o.test.Events, done)
		if err != nil {
			return err
		}
		for i := range done[:n] {
			if err := done[i].Err(); err != nil {
				return err
			}
			if err := o.answer(o.find(done[i].QPN)); err != nil {
				return err
			}
		}
		received += n
	}
	for sent := 0; sent < o.test.Clients; {
		n, err := o.next(ctx, o.sendCQ, false, done)
		if err != nil {
			return err
		}
		for i := range done[:n] {
			if err := done[i].Err(); err != nil {
				return err
			}
		}
		sent += n
	}
	return nil
}

// answer posts a receive again and sends a message, unless enough are sent.
func (o *xrcObjects) answer(i int) error {
	if err := o.receive(1); err != nil {
		return err
	}
	if o.peers[i].sent >= o.test.Messages {
		return nil
	}
	return o.send(i)
}

// find returns the peer of a target. A client receives on targets of other clients, too.
func (o *xrcObjects) find(qpn uint32) int {
	for i, p := range o.peers {
		if p.target.Number() == qpn {
			return i
		}
	}
	return 0
}

// next returns the next completions.
func (o *xrcObjects) next(ctx context.Context, cq *verbs.CQ, events bool, into []verbs.Completion) (int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.test.PeerTimeout, loop.ErrStalled)
	defer cancel()
	if events {
		n, err := cq.Wait(ctx, into)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return n, err
	}
	for polls := 1; ; polls++ {
		if n, err := cq.Poll(into); n > 0 || err != nil {
			return n, err
		}
		const pollsPerCheck = 1 << 10
		if polls%pollsPerCheck == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
}

// endMark ends a test. The server sends it when all clients have, because a message to
// a client may use another client's queue pair.
const endMark = "END\x00"

// end exchanges endMark with all peers.
func (o *xrcObjects) end(ctx context.Context, client bool) error {
	sendEnd := func(p *xrcPeer) error {
		_, err := io.WriteString(p.conn, endMark)
		return err
	}
	receiveEnd := func(p *xrcPeer) error {
		b := make([]byte, len(endMark))
		if _, err := io.ReadFull(p.conn, b); err != nil {
			return err
		}
		if string(b) != endMark {
			return fmt.Errorf("got %q, want %q", b, endMark)
		}
		return nil
	}
	steps := []func(*xrcPeer) error{receiveEnd, sendEnd}
	if client {
		steps = []func(*xrcPeer) error{sendEnd, receiveEnd}
	}
	for _, step := range steps {
		for _, p := range o.peers {
			stop := context.AfterFunc(ctx, func() { _ = p.conn.SetDeadline(time.Unix(1, 0)) })
			err := p.conn.SetDeadline(time.Now().Add(o.test.PeerTimeout))
			if err == nil {
				err = step(p)
			}
			stop()
			if err != nil {
				return fmt.Errorf("end the test: %w", peererr.Classify(err))
			}
		}
	}
	return nil
}

// close closes all objects in reverse order.
func (o *xrcObjects) close() error {
	var errs []error
	for i := len(o.closers) - 1; i >= 0; i-- {
		errs = append(errs, o.closers[i].Close())
	}
	if o.file != nil {
		errs = append(errs, o.file.Close())
	}
	return errors.Join(errs...)
}
