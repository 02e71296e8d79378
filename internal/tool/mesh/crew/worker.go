package crew

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/ibkit/ibkit/internal/jsonframe"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// WorkerOptions are the properties of a worker.
type WorkerOptions struct {
	Token   string
	Version string
	Name    string

	Coordinators []string      // addresses HOST:PORT, of which one answers
	Within       time.Duration // time for joining

	// Dial, unless nil, replaces TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)

	// Engine measures; nil: only simulated figures are reported.
	Engine Engine
}

// An EndError is the reason why a worker ended before the run did.
type EndError struct{ Reason string }

func (e *EndError) Error() string { return e.Reason }

// Work joins a coordinator and runs its tasks until the run ends. It returns the summary of
// the coordinator. An error is a [JoinError], or after joining an [EndError], which the
// coordinator judges.
func Work(ctx context.Context, o WorkerOptions) (summary string, err error) {
	l, err := o.join(ctx)
	if err != nil {
		return "", err
	}
	keepAlive(l.conn)
	s := &worker{WorkerOptions: o, link: l, inbox: make(chan message), over: make(chan struct{})}
	s.running.Go(s.receive)
	summary, err = s.serve(ctx)
	close(s.over)
	_ = l.conn.Close()
	s.running.Wait()
	return summary, err
}

// A worker is a worker that has joined.
type worker struct {
	WorkerOptions
	*link
	inbox   chan message
	over    chan struct{}
	running sync.WaitGroup
	ended   error // of the connection, once inbox is closed
	tests   []perf.Test
	load    []perf.Test
}

// receive reads the coordinator's messages.
func (s *worker) receive() {
	defer close(s.inbox)
	for {
		_ = s.conn.SetReadDeadline(time.Now().Add(s.silence)) // fails only on a closed connection
		m, err := read(s.input, maxMessage)
		if err != nil {
			s.ended = err
			return
		}
		select {
		case s.inbox <- m:
		case <-s.over:
			return
		}
	}
}

// serve runs tasks until the run ends. A new task ends the previous one.
func (s *worker) serve(ctx context.Context) (summary string, err error) {
	reports := make(chan *taskDone)
	cancel := context.CancelFunc(func() {})
	defer func() { cancel() }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for {
		select {
		case m, ok := <-s.inbox:
			switch {
			case !ok:
				return "", connectionEnded(s.ended)
			case m.End != nil:
				return m.End.Summary, nil
			case m.Begin != nil && s.Engine != nil && len(m.Begin.Serve) > 0:
				s.tests, s.load = m.Begin.Tests, m.Begin.Load
				s.Engine.Serve(ctx, m.Begin.Serve)
			case m.Task != nil:
				cancel()
				cancel = s.start(ctx, *m.Task, reports)
			}
		case r := <-reports:
			if err := s.send(message{Report: r}); err != nil {
				return "", connectionEnded(err)
			}
		case <-ctx.Done():
			_ = s.send(message{Leave: "interrupted"}) // the coordinator may be gone
			return "", &EndError{"interrupted"}
		}
	}
}

func connectionEnded(err error) error {
	return &EndError{"the connection to the coordinator ended: " + reasonOfEnd(err)}
}

// start starts a task until cancel is called.
func (s *worker) start(ctx context.Context, t Task, reports chan<- *taskDone) (cancel context.CancelFunc) {
	ctx, cancel = context.WithCancel(ctx)
	s.running.Go(func() { s.run(ctx, t, reports) })
	return cancel
}

func (s *worker) send(m message) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(handshakeLimit)); err != nil {
		return err
	}
	return jsonframe.Write(s.conn, m, maxMessage)
}

// run runs the sends of a task at the same time, and reports unless ctx ends.
func (s *worker) run(ctx context.Context, t Task, reports chan<- *taskDone) {
	done := &taskDone{Number: t.Number, Results: make([]Figures, len(t.Sends))}
	limited, cancel := context.WithTimeout(ctx, t.Within)
	defer cancel()
	var all sync.WaitGroup
	for i, send := range t.Sends {
		all.Go(func() { done.Results[i] = s.result(limited, t, send) })
	}
	all.Wait()
	select {
	case reports <- done:
	case <-ctx.Done():
	case <-s.over:
	}
}

// result runs a measurement, or waits for the time that its model takes.
func (s *worker) result(ctx context.Context, t Task, send Send) Figures {
	switch {
	case send.Model != nil:
		wait(ctx, send.Model.Takes)
		return *send.Model
	case s.Engine == nil:
		return Figures{Error: "the worker has no device"}
	}
	tests := s.tests
	if send.Load {
		tests = s.load
	}
	wait(ctx, send.Wait)
	f := s.Engine.Measure(ctx, tests, send)
	if f.Error != "" && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f.Error = fmt.Sprintf("no result within %v", t.Within)
	}
	return f
}

func wait(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// isTimeout reports whether an error is that of a passed deadline.
func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
