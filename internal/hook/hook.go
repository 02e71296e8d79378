// Package hook runs a command once per event, with the event as standard input.
//
// A supervisor process runs the commands for each job in sequence. It adopts the processes
// that a command leaves behind, so that no process escapes its time's end by leaving
// the process group, the session or its parent.
package hook

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure a [Runner].
type Options struct {
	Command []string      // program and arguments, which no shell interprets
	Jobs    int           // commands that run at the same time
	Timeout time.Duration // after which a command and the processes that it started are killed
	Queue   int           // events that wait for a command; more are dropped
	Output  io.Writer     // standard output and error for the commands
	Failed  func(error)   // called, never concurrently, for each command that failed
}

// A Runner runs commands in the background. Submit is safe for concurrent use.
type Runner struct {
	opts    Options
	path    string          // program path
	end     context.Context // ends running commands
	events  chan []byte
	workers sync.WaitGroup
	stop    context.CancelFunc
	stopped context.Context // no further command begins; ends with end
	output  sync.Mutex
	report  sync.Mutex

	ran, failed, dropped atomic.Int64
}

// Stats are a runner's counts.
type Stats struct {
	Ran     int // commands that ended, with or without success
	Failed  int // commands that did not start, failed, or took too long
	Dropped int // events without a command, because too many waited or the runner ended
}

// New finds the program and starts a runner. When ctx ends, running commands are killed,
// and waiting and later events are dropped. The process's program must call
// [Supervise] first.
func New(ctx context.Context, o Options) (*Runner, error) {
	path, err := exec.LookPath(o.Command[0])
	if err != nil {
		return nil, fmt.Errorf("find program: %w", err)
	}
	r := &Runner{opts: o, path: path, end: ctx, events: make(chan []byte, o.Queue)}
	r.stopped, r.stop = context.WithCancel(ctx)
	for range o.Jobs {
		r.workers.Go(r.work)
	}
	return r, nil
}

// Submit queues an event, which the caller must not change afterwards. It reports false if
// too many wait.
func (r *Runner) Submit(event []byte) bool {
	select {
	case r.events <- event:
		return true
	default:
		r.dropped.Add(1)
		return false
	}
}

// Close waits for the commands for queued events. If ctx ends before, waiting events are
// dropped; running commands may take their remaining time, until the context passed to
// [New] ends. Submit must not be called any more.
func (r *Runner) Close(ctx context.Context) Stats {
	close(r.events)
	defer context.AfterFunc(ctx, r.stop)()
	r.workers.Wait()
	r.stop()
	return Stats{int(r.ran.Load()), int(r.failed.Load()), int(r.dropped.Load())}
}

// work runs commands in sequence.
func (r *Runner) work() {
	var s *supervisor
	defer func() { s.close() }()
	for event := range r.events {
		if r.stopped.Err() != nil {
			r.dropped.Add(1)
			continue
		}
		var err error
		if s, err = r.run(s, event); err != nil {
			r.failed.Add(1)
			r.fail(fmt.Errorf("run %s: %w", r.opts.Command[0], err))
		}
		r.ran.Add(1)
	}
}

func (r *Runner) fail(err error) {
	r.report.Lock()
	defer r.report.Unlock()
	r.opts.Failed(err)
}

// run runs the command for an event. It returns the supervisor for the next event, nil
// after a failure: it may hold processes that cannot be killed.
func (r *Runner) run(s *supervisor, event []byte) (*supervisor, error) {
	var err error
	if s == nil {
		if s, err = r.startSupervisor(); err != nil {
			return nil, err
		}
	}
	defer context.AfterFunc(r.end, s.end)()
	if err = s.run(event); err == nil {
		return s, nil
	}
	s.close()
	if r.end.Err() != nil {
		err = fmt.Errorf("killed: %w", context.Cause(r.end))
	}
	return nil, err
}

// A lockedWriter writes to the runner's output.
type lockedWriter struct{ r *Runner }

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.r.output.Lock()
	defer w.r.output.Unlock()
	return w.r.opts.Output.Write(b)
}
