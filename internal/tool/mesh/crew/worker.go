package crew

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/jsonframe"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// WorkerOptions are the properties of a worker.
type WorkerOptions struct {
	Token   string
	Version string
	Name    string
	// Index is that of a pod, which may start again elsewhere: before the run, a new worker
	// replaces that of its index, and a worker that loses the coordinator joins again.
	Index *int

	Coordinators []string      // addresses HOST:PORT, of which one answers
	Within       time.Duration // time for joining
	Waiting      func(error)   // unless nil, is called once if joining takes long

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
// coordinator judges. A pod that is interrupted before the run has another error.
func Work(ctx context.Context, o WorkerOptions) (summary string, err error) {
	for end := time.Now().Add(o.Within); ; o.Within = time.Until(end) {
		l, err := o.join(ctx)
		if err != nil {
			return "", err
		}
		s := &worker{WorkerOptions: o, link: l, jobs: make(chan job, 1)}
		summary, err := s.work(ctx)
		switch {
		case err == nil || o.Index == nil || s.begun:
			return summary, err
		case ctx.Err() != nil: // the pod has failed, and starts again
			return "", fmt.Errorf("wait for the run: %w", context.Cause(ctx))
		}
	}
}

// work runs tasks until the connection ends.
func (s *worker) work(ctx context.Context) (summary string, err error) {
	keepAlive(s.conn)
	s.running.Go(s.run)
	defer s.running.Wait()
	defer close(s.jobs)
	defer s.conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return s.serve(ctx)
}

// A worker is a worker that has joined.
type worker struct {
	WorkerOptions
	*link
	begun   bool // the run
	jobs    chan job
	running sync.WaitGroup
	failed  atomic.Pointer[error] // of the first report that was not sent
	tests   []perf.Test
	load    []perf.Test
}

// A job is a task that ends with its context.
type job struct {
	ctx context.Context
	Task
}

// serve runs tasks until the run ends. A new task ends the previous one.
func (s *worker) serve(ctx context.Context) (summary string, err error) {
	stop := context.AfterFunc(ctx, func() {
		_ = s.send(message{Leave: "interrupted"}) // the coordinator may be gone
		_ = s.conn.Close()
	})
	defer stop()
	cancel := context.CancelFunc(func() {})
	defer func() { cancel() }()
	for {
		_ = s.conn.SetReadDeadline(time.Now().Add(s.silence)) // fails only on a closed connection
		m, err := read(s.input, maxMessage)
		switch {
		case ctx.Err() != nil:
			return "", &EndError{"interrupted"}
		case err != nil:
			if failed := s.failed.Load(); failed != nil {
				err = *failed
			}
			return "", &EndError{"the connection to the coordinator ended: " + reasonOfEnd(err)}
		case m.End != nil:
			return m.End.Summary, nil
		case m.Begin != nil:
			s.begun = true
			if s.Engine != nil && len(m.Begin.Serve) > 0 {
				s.tests, s.load = m.Begin.Tests, m.Begin.Load
				s.Engine.Serve(ctx, m.Begin.Serve)
			}
		case m.Task != nil:
			cancel()
			cancel = s.begin(ctx, *m.Task)
		}
	}
}

func (s *worker) send(m message) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(handshakeLimit)); err != nil {
		return err
	}
	return jsonframe.Write(s.conn, m, maxMessage)
}

// begin queues a task until cancel is called.
func (s *worker) begin(ctx context.Context, t Task) (cancel context.CancelFunc) {
	ctx, cancel = context.WithTimeout(ctx, t.Within)
	s.jobs <- job{ctx, t}
	return cancel
}

// run runs the jobs. Each has its report unless it was canceled.
func (s *worker) run() {
	for j := range s.jobs {
		done := s.measure(j)
		if errors.Is(j.ctx.Err(), context.Canceled) {
			continue
		}
		if err := s.send(message{Report: done}); err != nil {
			s.failed.CompareAndSwap(nil, &err)
			_ = s.conn.Close()
		}
	}
}

// measure runs the sends of a job at the same time.
func (s *worker) measure(j job) *taskDone {
	done := &taskDone{Number: j.Number, Results: make([]Figures, len(j.Sends))}
	var others sync.WaitGroup
	for i, send := range j.Sends {
		if i == len(j.Sends)-1 {
			done.Results[i] = s.result(j, send)
			break
		}
		others.Go(func() { done.Results[i] = s.result(j, send) })
	}
	others.Wait()
	return done
}

// result runs a measurement, or waits for the time that its model takes.
func (s *worker) result(j job, send Send) Figures {
	switch {
	case send.Model != nil:
		_ = interrupt.Sleep(j.ctx, send.Model.Takes)
		return *send.Model
	case s.Engine == nil:
		return Figures{Error: "the worker has no device"}
	}
	tests := s.tests
	if send.Load {
		tests = s.load
	}
	_ = interrupt.Sleep(j.ctx, send.Wait)
	f := s.Engine.Measure(j.ctx, tests, send)
	if f.Error != "" && errors.Is(j.ctx.Err(), context.DeadlineExceeded) {
		f.Error = fmt.Sprintf("no result within %v", j.Within)
	}
	return f
}

// isTimeout reports whether an error is that of a passed deadline.
func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
