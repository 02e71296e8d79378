// Package oneway implements the test in librdmacm's rdma_xclient and rdma_xserver: a
// client sends a single message to a server over a reliable connection or an extended
// reliable connection (XRC). An XRC server receives with a shared receive queue.
//
// The server's reply contains its shared receive queue number in network byte order as
// private data, 0 without XRC (librdmacm/examples/rdma_xserver.c).
package oneway

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// size is the message size.
const size = 16

// numberSize is the size in private data of a shared receive queue number.
const numberSize = 4

// An Error is the failure of a librdmacm function, or its equivalent.
type Error struct {
	Function string // "rdma_connect"
	Err      error
}

func (e *Error) Error() string { return e.Function + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// failed adds the function to an error, unless it has one.
func failed(function string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil {
		return err
	}
	return &Error{function, err}
}

// ErrDisconnected reports that the client has disconnected without a message.
var ErrDisconnected = errors.New("disconnected")

// ErrNumber reports a reply without a shared receive queue number.
var ErrNumber = errors.New("the reply has no number of a shared receive queue")

// An end is a connection end with its objects.
type end struct {
	xrc     bool
	context *verbs.Context
	pd      *verbs.PD
	cq      *verbs.CQ
	memory  *verbs.Memory
	mr      *verbs.MR
	xrcd    *verbs.XRCD
	srq     *verbs.SRQ
	qp      *verbs.QP
	conn    *rdmacm.Conn
}

// space returns the port space: XRC exists in the InfiniBand port space only.
func (e *end) space() rdmacm.PortSpace {
	if e.xrc {
		return rdmacm.PortSpaceIB
	}
	return rdmacm.PortSpaceTCP
}

// qpType returns RC, or the XRC queue pair type.
func (e *end) qpType(xrc verbs.QPType) verbs.QPType {
	if e.xrc {
		return xrc
	}
	return verbs.QPTypeRC
}

// open opens an ID's device, and creates what both ends need.
func (e *end) open(id *rdmacm.ID) error {
	at, err := id.Device()
	if err != nil {
		return err
	}
	if e.context, err = at.Open(); err != nil {
		return err
	}
	if e.pd, err = e.context.AllocPD(); err != nil {
		return err
	}
	channel, err := e.context.NewCompChannel()
	if err != nil {
		return err
	}
	if e.cq, err = e.context.CreateCQ(verbs.CQInit{Entries: 2, Channel: channel}); err != nil {
		return err
	}
	if e.memory, err = e.context.NewMemory(size, verbs.MemoryOptions{}); err != nil {
		return err
	}
	e.mr, err = e.pd.RegisterMR(e.memory, verbs.AccessLocalWrite)
	return err
}

// createQP creates a queue pair that sends or receives a single message.
func (e *end) createQP() (err error) {
	e.qp, err = e.pd.CreateQP(verbs.QPInit{
		Type: verbs.QPTypeRC, SendCQ: e.cq, RecvCQ: e.cq, SignalAll: true,
		Cap: verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	return err
}

// close ends the connection and frees the objects.
func (e *end) close() error {
	var errs []error
	if e.conn != nil {
		errs = append(errs, e.conn.Close())
	}
	if e.context != nil {
		errs = append(errs, e.context.Close())
	}
	if e.memory != nil {
		errs = append(errs, e.memory.Close())
	}
	return errors.Join(errs...)
}

// await waits for the message's completion. A failed completion counts, as in the
// librdmacm programs. The wait ends with the connection: its end flushes the queue pair,
// but not the XRC shared receive queue.
func (e *end) await(ctx context.Context) error {
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- e.conn.AwaitEnd(waiting)
		stop()
	}()
	into := make([]verbs.Completion, 2)
	_, err := e.cq.Wait(waiting, into)
	stop()
	gone := <-ended == nil
	if err != nil && gone && ctx.Err() == nil {
		var n int
		if n, err = e.cq.Poll(into); n == 0 && err == nil {
			err = ErrDisconnected
		}
	}
	return err
}

// finish disconnects. The librdmacm programs discard the disconnect error too.
func (e *end) finish(ctx context.Context) { _ = e.conn.Disconnect(ctx) }

// Send connects to a server and sends the message.
func Send(ctx context.Context, peer rdmacm.Addr, xrc bool) (err error) {
	e := &end{xrc: xrc}
	defer func() { err = errors.Join(err, e.close()) }()
	d := rdmacm.Dialer{
		Space: e.space(), QPType: e.qpType(verbs.QPTypeXRCInit),
		Setup: func(_ context.Context, id *rdmacm.ID) (*verbs.QP, error) {
			err := e.open(id)
			if err == nil {
				err = e.createSender()
			}
			return e.qp, err
		},
	}
	if e.conn, err = d.DialAddr(ctx, peer); err != nil {
		return failed(dialFunction(err), err)
	}
	wr := verbs.SendWR{Opcode: verbs.OpSend, SGEs: []verbs.SGE{e.mr.SGE(0, size)}}
	if xrc {
		data := e.conn.Param().PrivateData
		if len(data) < numberSize {
			return failed("rdma_connect", ErrNumber)
		}
		wr.RemoteSRQN = binary.BigEndian.Uint32(data)
	}
	if _, err := e.qp.PostSend([]verbs.SendWR{wr}); err != nil {
		return failed("rdma_post_send", err)
	}
	if err := e.await(ctx); err != nil {
		return failed("rdma_get_recv_comp", err) // as rdma_xclient names it
	}
	e.finish(ctx)
	return nil
}

// createSender creates a client's queue pair.
func (e *end) createSender() (err error) {
	if !e.xrc {
		return e.createQP()
	}
	e.qp, err = e.pd.CreateQP(verbs.QPInit{
		Type: verbs.QPTypeXRCInit, SendCQ: e.cq, SignalAll: true, Cap: verbs.QPCap{MaxSendWR: 1, MaxSendSGE: 1},
	})
	return err
}

// dialFunction returns the librdmacm function that a failed step belongs to.
func dialFunction(err error) string {
	if step, ok := errors.AsType[*rdmacm.StepError](err); ok && step.Step >= rdmacm.StepConnect {
		return "rdma_connect"
	}
	return "rdma_create_ep"
}

// Receive listens on an address, accepts the first request and receives that client's
// message.
func Receive(ctx context.Context, local rdmacm.Addr, xrc bool) (err error) {
	e := &end{xrc: xrc}
	defer func() { err = errors.Join(err, e.close()) }()
	r, err := e.accept(ctx, local)
	if err != nil {
		return err
	}
	function, err := e.prepare(r.ID())
	if err != nil {
		return errors.Join(failed(function, err), r.Close())
	}
	var number [numberSize]byte
	if xrc {
		binary.BigEndian.PutUint32(number[:], e.srq.Number())
	}
	if e.conn, err = r.Accept(ctx, e.qp, &rdmacm.ConnParam{PrivateData: number[:], SRQ: xrc}); err != nil {
		return failed("rdma_accept", err)
	}
	if err := e.await(ctx); err != nil {
		return failed("rdma_get_recv_comp", err)
	}
	e.finish(ctx)
	return nil
}

// accept waits for the first request.
func (e *end) accept(ctx context.Context, local rdmacm.Addr) (_ *rdmacm.Request, err error) {
	l, err := rdmacm.ListenConfig{Space: e.space(), QPType: e.qpType(verbs.QPTypeXRCTarget)}.ListenAddr(local)
	if err != nil {
		return nil, failed("rdma_create_ep", err)
	}
	defer func() {
		if closed := l.Close(); !errors.Is(closed, fs.ErrClosed) {
			err = errors.Join(err, closed)
		}
	}()
	r, err := l.Accept(ctx)
	return r, failed("rdma_get_request", err)
}

// prepare creates a server's queue pair and posts the receive. It returns the librdmacm
// function that failed.
func (e *end) prepare(id *rdmacm.ID) (function string, err error) {
	if err := e.open(id); err != nil {
		return "rdma_get_request", err
	}
	wr := []verbs.RecvWR{{SGEs: []verbs.SGE{e.mr.SGE(0, size)}}}
	if !e.xrc {
		if err := e.createQP(); err != nil {
			return "rdma_get_request", err
		}
		if err := id.InitQP(e.qp); err != nil {
			return "rdma_get_request", err
		}
		_, err := e.qp.PostRecv(wr)
		return "rdma_post_recv", err
	}
	if e.xrcd, err = e.context.OpenXRCD(verbs.XRCDInit{}); err != nil {
		return "rdma_get_request", err
	}
	if e.qp, err = e.xrcd.CreateQP(); err != nil {
		return "rdma_get_request", err
	}
	if e.srq, err = e.pd.CreateSRQ(verbs.SRQInit{MaxWR: 1, MaxSGE: 1, XRCD: e.xrcd, CQ: e.cq}); err != nil {
		return "rdma_create_srq:", err // with rdma_xserver's colon
	}
	_, err = e.srq.PostRecv(wr)
	return "rdma_post_recv", err
}

// Errno returns the error number that librdmacm has for an error, or 0.
func Errno(err error) unix.Errno {
	if step, ok := errors.AsType[*rdmacm.StepError](err); ok {
		if e, ok := step.Event(); ok {
			if e.Type == rdmacm.EventRejected {
				return unix.ECONNREFUSED
			}
			return unix.Errno(max(e.Status, -e.Status))
		}
	}
	if errors.Is(err, verbs.ErrUnsupported) || errors.Is(err, verbs.ErrOpcode) {
		return unix.EOPNOTSUPP // as the libibverbs drivers
	}
	errno, _ := errors.AsType[unix.Errno](err)
	return errno
}
