// Package rping implements the ping in librdmacm's rping: the client announces a
// buffer, which the server reads and writes back to another client buffer.
//
// The messages match librdmacm/examples/rping.c: a buffer's address and key from the
// client, and equally long messages from the server after each transfer.
package rping

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/internal/tool/cm/internal/device"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// Program limits and defaults.
const (
	DefaultPort = 7174
	DefaultSize = 64
	MinSize     = 23
	MaxSize     = 64 << 10 // exclusive
)

// Options are the options for Serve and Ping.
type Options struct {
	Size     int // buffer size in bytes
	Count    int // client pings; 0: until the server disconnects
	Validate bool

	// Data, if not nil, is called for each ping with the data that came back to the
	// client, or that the server has read.
	Data func(text []byte)

	// Ended is called once, when the connection has ended.
	Ended func()

	// Debug is called for each step.
	Debug func(format string, args ...any)
}

var (
	// ErrMismatch reports that the data that came back differs.
	ErrMismatch = errors.New("data mismatch")

	// ErrDisconnected reports that the peer has disconnected.
	ErrDisconnected = errors.New("disconnected")
)

// A CompletionError is a failed work request.
type CompletionError struct{ Completion verbs.Completion }

func (e *CompletionError) Error() string { return e.Completion.Err().Error() }

// A WaitError is the end of a wait for a ping step: ErrDisconnected, a CompletionError
// or a LengthError.
type WaitError struct {
	Step string // as rping.c names it
	Err  error
}

func (e *WaitError) Error() string { return "wait for " + e.Step + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *WaitError) Unwrap() error { return e.Err }

// Ping steps, named after the states of rping.c.
const (
	stepReadAnnounced  = "RDMA_READ_ADV"
	stepRead           = "RDMA_READ_COMPLETE"
	stepWriteAnnounced = "RDMA_WRITE_ADV"
	stepWritten        = "RDMA_WRITE_COMPLETE"
)

// A LengthError is a message length different from announcementSize.
type LengthError struct{ Length int }

func (e *LengthError) Error() string {
	return fmt.Sprintf("received message of %d bytes, want %d", e.Length, announcementSize)
}

// announcementSize is the message size: buffer address, key and length.
const announcementSize = 16

// Offsets in the message memory. Each message has a cache line.
const (
	recvAt      = 0
	sendAt      = 64
	messageSize = 128
)

// Work request IDs.
const (
	recvID = iota
	sendID
	transferID
)

// An end is a connection end with its objects.
type end struct {
	Options
	context  *verbs.Context
	messages *verbs.Memory
	buffers  *verbs.Memory // the buffer for data from the peer, followed by the source
	local    *verbs.MR     // for messages
	shared   *verbs.MR     // for buffers
	cq       *verbs.CQ
	qp       *verbs.QP
	conn     *rdmacm.Conn

	events    []verbs.Completion
	remote    announcement
	completed map[uint64]int
}

// An announcement is a message: a client buffer.
type announcement struct {
	addr uint64
	rkey uint32
	size uint32
}

// setup creates a connection's objects and posts the first receive.
func (e *end) setup(_ context.Context, id *rdmacm.ID) (_ *verbs.QP, err error) {
	at, err := id.Device()
	if err != nil {
		return nil, err
	}
	if e.context, err = at.Open(); err != nil {
		return nil, err
	}
	pd, err := e.context.AllocPD()
	if err != nil {
		return nil, err
	}
	if e.messages, err = e.context.NewMemory(messageSize, verbs.MemoryOptions{}); err != nil {
		return nil, err
	}
	if e.buffers, err = e.context.NewMemory(2*e.Size, verbs.MemoryOptions{}); err != nil {
		return nil, err
	}
	if e.local, err = pd.RegisterMR(e.messages, verbs.AccessLocalWrite); err != nil {
		return nil, err
	}
	if e.shared, err = pd.RegisterMR(e.buffers, verbs.AccessLocalWrite|verbs.AccessRemoteRead|verbs.AccessRemoteWrite); err != nil {
		return nil, err
	}
	channel, err := e.context.NewCompChannel()
	if err != nil {
		return nil, err
	}
	const depth = 16
	if e.cq, err = e.context.CreateCQ(verbs.CQInit{Entries: 2 * depth, Channel: channel}); err != nil {
		return nil, err
	}
	if e.qp, err = pd.CreateQP(verbs.QPInit{
		Type: verbs.QPTypeRC, SendCQ: e.cq, RecvCQ: e.cq,
		Cap: verbs.QPCap{MaxSendWR: depth, MaxRecvWR: 2, MaxSendSGE: 1, MaxRecvSGE: 1},
	}); err != nil {
		return nil, err
	}
	if err := id.InitQP(e.qp); err != nil {
		return nil, err
	}
	e.events, e.completed = make([]verbs.Completion, 4), map[uint64]int{}
	return e.qp, e.receive()
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
	for _, m := range []*verbs.Memory{e.messages, e.buffers} {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}

// receive posts the receive for the next message.
func (e *end) receive() error {
	_, err := e.qp.PostRecv([]verbs.RecvWR{{ID: recvID, SGEs: []verbs.SGE{e.local.SGE(recvAt, announcementSize)}}})
	return err
}

// send sends a message, for the server the last message that it has sent.
func (e *end) send() error {
	return e.post(verbs.SendWR{ID: sendID, Opcode: verbs.OpSend, SGEs: []verbs.SGE{e.local.SGE(sendAt, announcementSize)}})
}

func (e *end) post(wr verbs.SendWR) error {
	wr.Flags = verbs.SendSignaled
	_, err := e.qp.PostSend([]verbs.SendWR{wr})
	return err
}

// announce sends a buffer part's address.
func (e *end) announce(offset int) error {
	to := e.messages.Bytes()[sendAt:]
	binary.BigEndian.PutUint64(to, e.shared.Addr()+uint64(offset))
	binary.BigEndian.PutUint32(to[8:], e.shared.RKey())
	binary.BigEndian.PutUint32(to[12:], uint32(e.Size))
	e.Debug("RDMA addr %x rkey %x len %d\n", e.shared.Addr()+uint64(offset), e.shared.RKey(), e.Size)
	return e.send()
}

// await waits until a work request with the ID is complete, which completes a step.
func (e *end) await(ctx context.Context, id uint64, step string) error {
	for e.completed[id] == 0 {
		n, err := device.Spin(e.cq, e.events)
		if n == 0 && err == nil {
			n, err = e.cq.Wait(ctx, e.events)
		}
		if err != nil {
			return err
		}
		for _, c := range e.events[:n] {
			if err := e.complete(c); err != nil {
				return &WaitError{step, err}
			}
		}
	}
	e.completed[id]--
	return nil
}

// complete takes a completion into account.
func (e *end) complete(c verbs.Completion) error {
	switch {
	case c.Status == verbs.StatusFlushed:
		return ErrDisconnected
	case c.Err() != nil:
		return &CompletionError{c}
	case c.ID != recvID:
	case c.ByteLen != announcementSize:
		return &LengthError{int(c.ByteLen)}
	default:
		from := e.messages.Bytes()[recvAt:]
		e.remote = announcement{
			addr: binary.BigEndian.Uint64(from), rkey: binary.BigEndian.Uint32(from[8:]), size: binary.BigEndian.Uint32(from[12:]),
		}
		e.Debug("Received rkey %x addr %x len %d from peer\n", e.remote.rkey, e.remote.addr, e.remote.size)
		if err := e.receive(); err != nil {
			return err
		}
	}
	e.completed[c.ID]++
	return nil
}

// transfer reads or writes n bytes in the announced buffer. If the local buffer is smaller,
// the device reports a protection error, as with the C tool.
func (e *end) transfer(ctx context.Context, op verbs.Opcode, n int, step string) error {
	sge := e.shared.SGE(0, 0)
	sge.Length = uint32(n)
	if err := e.post(verbs.SendWR{
		ID: transferID, Opcode: op, SGEs: []verbs.SGE{sge}, RemoteAddr: e.remote.addr, RKey: e.remote.rkey,
	}); err != nil {
		return err
	}
	return e.await(ctx, transferID, step)
}

// session runs f while the connection lasts. When the connection ends, its queue pair
// is flushed, and f returns ErrDisconnected. ended is true if the end has been received
// and reported, which may also be just after f has returned without an error.
func (e *end) session(ctx context.Context, f func(context.Context) error) (ended bool, err error) {
	watched, stop := context.WithCancel(ctx)
	defer stop()
	result := make(chan error, 1)
	go func() { result <- e.conn.AwaitEnd(watched) }()
	if err = f(ctx); !errors.Is(err, ErrDisconnected) {
		stop()
	}
	if ended = <-result == nil; ended {
		e.Ended()
	}
	return ended, err
}

// Serve accepts a connection and serves its pings until the client disconnects.
func Serve(ctx context.Context, r *rdmacm.Request, o Options) (err error) {
	e := &end{Options: o}
	defer func() { err = errors.Join(err, e.close()) }()
	qp, err := e.setup(ctx, r.ID())
	if err != nil {
		return errors.Join(err, r.Close())
	}
	o.Debug("accepting client connection request\n")
	if e.conn, err = r.Accept(ctx, qp, nil); err != nil {
		return err
	}
	_, err = e.session(ctx, e.serve)
	return err
}

// serve answers pings until the client disconnects.
func (e *end) serve(ctx context.Context) error {
	for {
		if err := e.answer(ctx); err != nil {
			return err
		}
	}
}

// answer answers a single ping.
func (e *end) answer(ctx context.Context) error {
	if err := e.await(ctx, recvID, stepReadAnnounced); err != nil {
		return err
	}
	e.Debug("server received sink adv\n")
	n := int(e.remote.size)
	if err := e.transfer(ctx, verbs.OpRead, n, stepRead); err != nil {
		return err
	}
	e.Debug("server received read complete\n")
	data := cString(e.buffers.Bytes()[:min(n, e.Size)])
	if e.Data != nil {
		e.Data(data)
	}
	if err := e.send(); err != nil {
		return err
	}
	e.Debug("server posted go ahead\n")
	if err := e.await(ctx, recvID, stepWriteAnnounced); err != nil {
		return err
	}
	e.Debug("server received sink adv\n")
	if err := e.transfer(ctx, verbs.OpWrite, min(len(data)+1, e.Size), stepWritten); err != nil {
		return err
	}
	e.Debug("server rdma write complete\n")
	if err := e.send(); err != nil {
		return err
	}
	e.Debug("server posted go ahead\n")
	return nil
}

// cString returns the bytes before the first zero.
func cString(b []byte) []byte {
	text, _, _ := bytes.Cut(b, []byte{0})
	return text
}

// Ping connects with a dialer and sends pings.
func Ping(ctx context.Context, d rdmacm.Dialer, peer rdmacm.Addr, o Options) (err error) {
	e := &end{Options: o}
	defer func() { err = errors.Join(err, e.close()) }()
	d.Setup = e.setup
	if e.conn, err = d.DialAddr(ctx, peer); err != nil {
		return err
	}
	o.Debug("rdma_connect successful\n")
	ended, err := e.session(ctx, e.pings)
	if ended || errors.Is(err, ErrDisconnected) {
		return err
	}
	if failed := e.conn.Disconnect(ctx); failed != nil {
		return errors.Join(err, failed)
	}
	o.Ended()
	return err
}

// pings sends all pings.
func (e *end) pings(ctx context.Context) error {
	start := byte('A')
	for i := 0; e.Count == 0 || i < e.Count; i++ {
		source := e.buffers.Bytes()[e.Size:]
		fill(source, i, start)
		start = next(start)
		// The server reads the source, then writes to the buffer.
		for _, part := range []struct {
			offset int
			step   string
		}{{e.Size, stepWriteAnnounced}, {0, stepWritten}} {
			if err := e.announce(part.offset); err != nil {
				return err
			}
			if err := e.await(ctx, recvID, part.step); err != nil {
				return err
			}
		}
		got := e.buffers.Bytes()[:e.Size]
		if e.Validate && !bytes.Equal(got, source) {
			return ErrMismatch
		}
		if e.Data != nil {
			e.Data(cString(got))
		}
	}
	return nil
}

// fill fills a buffer with the ping text, which ends with a zero.
func fill(b []byte, ping int, start byte) {
	n := copy(b, fmt.Sprintf("rdma-ping-%d: ", ping))
	for c := start; n < len(b); n++ {
		b[n] = c
		c = next(c)
	}
	b[len(b)-1] = 0
}

// next returns the character after c, from A to z.
func next(c byte) byte {
	if c == 'z' {
		return 'A'
	}
	return c + 1
}
