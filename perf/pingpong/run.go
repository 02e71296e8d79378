package pingpong

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/verbs"
)

// ErrSilent is wrapped where no message came for too long: the other side is gone,
// or was started with another size, MTU or number of iterations; datagrams and
// unreliable connections may just have lost one.
var ErrSilent = errors.New("nothing came from the other side")

// Run tells the other side, over a TCP connection, where this side's queue pairs
// are, and then answers each message with one. The client sends the first. What
// was measured until an error comes with it.
func Run(ctx context.Context, conn net.Conn, client bool, place Place, test Test) (_ Result, err error) {
	if err := test.Check(); err != nil {
		return Result{}, err
	}
	s, err := newSide(place, test)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := conn.SetDeadline(time.Now().Add(test.Silence)); err != nil {
		return Result{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // whatever waits for conn returns
	defer stop()
	x := &exchanger{side: s}
	var remote []Record
	if client {
		if remote, err = Client(conn, s.local, test.Shared > 0); err == nil {
			err = s.connect(remote)
		}
	} else {
		err = Server(conn, s.local, test.Shared > 0, func(r []Record) error { remote = r; return s.connect(r) })
	}
	if err != nil {
		return Result{Local: s.local, Remote: remote}, explain(ctx, err)
	}
	err = x.run(ctx, client)
	return Result{
		Local: s.local, Remote: remote, Iterations: min(x.sent, x.received),
		Bytes: int64(x.sent+x.received) * int64(test.Size), Elapsed: x.elapsed, Corrupt: x.corrupt,
	}, err
}

// explain says why the programs did not come to terms.
func explain(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("%w: is it a pingpong program? (%w)", ErrSilent, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return fmt.Errorf("the other side hung up: is it a pingpong program, started with the same flags? (%w)", err)
	}
	return err
}

// An exchanger counts messages, and knows which queue pair waits for what.
type exchanger struct {
	*side
	sent, received int
	posted         int         // receives
	pending        []uint64    // per queue pair: IDs of what it waits for
	began          []time.Time // per queue pair: its last message
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
		x.watchdog = time.AfterFunc(x.test.Silence, func() { cancel(ErrSilent) })
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
		x.watchdog.Reset(x.patience())
		n, err := x.cq.Wait(ctx, into)
		switch cause := context.Cause(ctx); {
		case err == nil || cause == nil:
			return n, err
		case errors.Is(cause, ErrSilent):
			return 0, x.silent()
		default:
			return 0, cause
		}
	}
	var end time.Time
	for turn := 1; ; turn++ {
		if n, err := x.cq.Poll(into); n > 0 || err != nil {
			return n, err
		}
		const looks = 1 << 10 // between two at the clock
		if turn%looks != 0 {
			continue
		}
		switch now := time.Now(); {
		case ctx.Err() != nil:
			return 0, context.Cause(ctx)
		case end.IsZero():
			end = now.Add(x.patience())
		case now.After(end):
			return 0, x.silent()
		}
	}
}

// underWay is how long to wait once messages have come: programs that were started
// alike go on, and nothing else tells of one that was killed while it was to answer.
const underWay = 5 * time.Second

// patience is how long to wait for the next completion.
func (x *exchanger) patience() time.Duration {
	if x.received == 0 {
		return x.test.Silence
	}
	return min(x.test.Silence, underWay)
}

func (x *exchanger) silent() error {
	return fmt.Errorf("%w for %v after %d messages: is it there, with the same size, MTU and number of iterations?", ErrSilent, x.patience(), x.received)
}

// complete takes note of a completion, and sends the next message when a queue
// pair waits for nothing any more.
func (x *exchanger) complete(c *verbs.Completion) error {
	if err := c.Err(); err != nil {
		return fmt.Errorf("%w; the other side has to be there, with the same size, MTU and number of iterations", err)
	}
	i := x.find(c.QPN)
	if i < 0 {
		return fmt.Errorf("completion of QP %#x, which is not of this test", c.QPN)
	}
	switch c.ID {
	case sendID:
		x.sent++
	case recvID:
		x.received++
		if x.posted--; x.posted <= len(x.qps) {
			if err := x.refill(x.test.RxDepth - x.posted); err != nil {
				return err
			}
			x.posted = x.test.RxDepth
		}
		x.took(i)
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

// took tells how long the message took that an answer came to.
func (x *exchanger) took(i int) {
	if x.test.Sample != nil && !x.began[i].IsZero() {
		x.test.Sample(time.Since(x.began[i]))
	}
}

func (x *exchanger) find(qpn uint32) int {
	for i, qp := range x.qps {
		if qp.Number() == qpn {
			return i
		}
	}
	return -1
}

// send posts a message on a queue pair, which then waits for it to be sent and
// for the next to come.
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

// verify compares an answer with what was sent before it. What a client sends
// first is an answer to nothing.
func (x *exchanger) verify(length int) {
	if x.began[0].IsZero() {
		return
	}
	if length != x.test.Size || !bytes.Equal(x.in(), x.out()) {
		x.corrupt++
	}
}
