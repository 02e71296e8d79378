package pingpong

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
	"github.com/ibkit/ibkit/verbs"
)

// Run exchanges addresses with the program over a TCP connection and then answers each
// message with a message. The client sends the first message. Run returns the figures
// until then together with an error. It calls connect once, when its objects exist, and
// does not close the connection.
func Run(ctx context.Context, connect func(context.Context) (net.Conn, error), client bool, place Place, test Test) (_ Result, err error) {
	if err := test.Check(); err != nil {
		return Result{}, err
	}
	o, err := newObjects(place, test)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	if test.Chk {
		fillPages(o.out(), client)
	}
	if test.Local != nil {
		test.Local(o.local)
	}
	conn, err := connect(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := conn.SetDeadline(time.Now().Add(test.PeerTimeout)); err != nil {
		return Result{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // exchanges return
	defer stop()
	x := &exchanger{objects: o}
	var remote []Address
	if client {
		if remote, err = exchangeClient(conn, o.local, test.Shared > 0); err == nil {
			err = o.connect(remote)
		}
	} else {
		err = exchangeServer(conn, o.local, test.Shared > 0, func(r []Address) error { remote = r; return o.connect(r) })
	}
	r := Result{local: o.local}
	if len(remote) > 0 {
		r.Connected, r.PeerLID, r.PeerGID = true, remote[0].LID, remote[0].GID
	}
	if err != nil {
		if ctx.Err() != nil {
			return r, context.Cause(ctx)
		}
		return r, peererr.Classify(err)
	}
	if test.Remote != nil {
		test.Remote(remote)
	}
	err = x.run(ctx, client)
	r.Iterations, r.Bytes = min(x.sent, x.received), int64(x.sent+x.received)*int64(test.Size)
	r.Elapsed, r.Corrupt = x.elapsed, x.corrupt
	if test.Chk && !client && err == nil {
		r.BadPages = badPages(o.in())
	}
	return r, err
}

// filler is the content of buffers without a message.
const filler = 0x7b

// fillPages fills a buffer as the programs do. With option -c, the pages of the client's
// begin with zero.
func fillPages(b []byte, client bool) {
	for i := range b {
		b[i] = filler
		if client && i%os.Getpagesize() == 0 {
			b[i] = 0
		}
	}
}

// badPages returns the pages of a buffer that do not begin with zero.
func badPages(b []byte) (bad []int) {
	for i := 0; i < len(b); i += os.Getpagesize() {
		if b[i] != 0 {
			bad = append(bad, i/os.Getpagesize())
		}
	}
	return bad
}

// An exchanger counts messages and tracks the state of each queue pair.
type exchanger struct {
	*objects
	sent, received int
	posted         int         // receives
	pending        []uint64    // by queue pair: IDs of the awaited completions
	began          []time.Time // by queue pair: time of the last send
	elapsed        time.Duration
	corrupt        int
	watchdog       *time.Timer // with Events
}

func (x *exchanger) run(ctx context.Context, client bool) error {
	n := len(x.qps)
	x.posted, x.pending, x.began = x.test.RxDepth, make([]uint64, n), make([]time.Time, n)
	done := make([]verbs.Completion, 2*n)
	if x.test.Events {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		x.watchdog = time.AfterFunc(x.test.PeerTimeout, func() { cancel(loop.ErrStalled) })
		defer x.watchdog.Stop()
	}
	start := time.Now()
	defer func() { x.elapsed = time.Since(start) }()
	for i := range x.qps {
		x.pending[i] = recvID
		if client {
			if err := x.send(i); err != nil {
				return err
			}
		}
	}
	for x.sent < x.test.Iterations || x.received < x.test.Iterations {
		got, err := x.next(ctx, done)
		if err != nil {
			return err
		}
		for i := range done[:got] {
			if err := x.complete(&done[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// next returns the next completions.
func (x *exchanger) next(ctx context.Context, into []verbs.Completion) (int, error) {
	if x.test.Events {
		x.watchdog.Reset(x.timeout())
		n, err := x.cq.Wait(ctx, into)
		switch cause := context.Cause(ctx); {
		case err == nil || cause == nil:
			return n, err
		case errors.Is(cause, loop.ErrStalled):
			return 0, x.stalled()
		default:
			return 0, cause
		}
	}
	var end time.Time
	for polls := 1; ; polls++ {
		if n, err := x.cq.Poll(into); n > 0 || err != nil {
			return n, err
		}
		const pollsPerClock = 1 << 10
		if polls%pollsPerClock != 0 {
			continue
		}
		switch now := time.Now(); {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case end.IsZero():
			end = now.Add(x.timeout())
		case now.After(end):
			return 0, x.stalled()
		}
	}
}

// messageTimeout is the maximum time between messages. A program that was started with
// the same settings sends without pause; a killed program is detected only by its
// silence.
const messageTimeout = 5 * time.Second

// timeout returns the maximum time to the next completion.
func (x *exchanger) timeout() time.Duration {
	if x.received == 0 {
		return x.test.PeerTimeout
	}
	return min(x.test.PeerTimeout, messageTimeout)
}

func (x *exchanger) stalled() error {
	return fmt.Errorf("%w for %v after %d messages", loop.ErrStalled, x.timeout(), x.received)
}

// complete processes a completion, and sends the next message if its queue pair awaits
// no other.
func (x *exchanger) complete(c *verbs.Completion) error {
	if err := c.Err(); err != nil {
		return err
	}
	i := x.find(c.QPN)
	if i < 0 {
		return fmt.Errorf("completion of unknown QP %#x", c.QPN)
	}
	switch c.ID {
	case sendID:
		x.sent++
	case recvID:
		x.received++
		if x.posted--; x.posted <= len(x.qps) {
			if err := x.postReceives(x.test.RxDepth - x.posted); err != nil {
				return err
			}
			x.posted = x.test.RxDepth
		}
		if x.test.Sample != nil && !x.began[i].IsZero() {
			x.test.Sample(time.Since(x.began[i]))
		}
		if x.test.Verify {
			x.verify(int(c.ByteLen) - x.test.headroom())
		}
	}
	x.pending[i] &^= c.ID
	if x.sent < x.test.Iterations && x.pending[i] == 0 {
		return x.send(i)
	}
	return nil
}

// find returns the index of a queue pair, -1 if it is unknown.
func (x *exchanger) find(qpn uint32) int {
	for i, qp := range x.qps {
		if qp.Number() == qpn {
			return i
		}
	}
	return -1
}

// send posts a message on a queue pair, which from then on awaits the completions of
// the send and of the next receive.
func (x *exchanger) send(i int) error {
	if x.test.Verify {
		loop.Fill(x.out(), 0, uint64(x.sent)+1)
	}
	x.began[i] = time.Now()
	if _, err := x.qps[i].PostSend(x.sends); err != nil {
		return err
	}
	x.pending[i] = sendID | recvID
	return nil
}

// verify compares an answer with the message before it. The first message of a client
// is not an answer.
func (x *exchanger) verify(length int) {
	if x.began[0].IsZero() {
		return
	}
	if length != x.test.Size || !bytes.Equal(x.in(), x.out()) {
		x.corrupt++
	}
}
