// Package hook runs a command once per event, with the event as its standard input.
package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Options configure a [Runner].
type Options struct {
	Command []string      // program and arguments, which no shell interprets
	Jobs    int           // commands that run at the same time
	Timeout time.Duration // after which a command is killed
	Queue   int           // events that wait for a command; further ones are dropped
	Output  io.Writer     // standard output and error of the commands
	Failed  func(error)   // called, one at a time, for each command that failed
}

// A Runner runs commands in the background. Submit is safe for concurrent use.
type Runner struct {
	opts    Options
	events  chan []byte
	workers sync.WaitGroup
	stop    context.CancelFunc
	stopped context.Context
	output  sync.Mutex
	report  sync.Mutex

	ran, failed, dropped atomic.Int64
}

// Stats are the counts of a runner.
type Stats struct {
	Ran     int // commands that ended, with or without success
	Failed  int // those that did not start, failed, or took too long
	Dropped int // events without a command, because too many waited or the runner ended
}

// New finds the program and starts a runner.
func New(o Options) (*Runner, error) {
	if _, err := exec.LookPath(o.Command[0]); err != nil {
		return nil, fmt.Errorf("find program: %w", err)
	}
	r := &Runner{opts: o, events: make(chan []byte, o.Queue)}
	r.stopped, r.stop = context.WithCancel(context.Background())
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

// Close waits for the commands of the events that were queued. If ctx ends before, events
// that wait are dropped; commands that run may take the rest of their time. Submit must not
// be called any more.
func (r *Runner) Close(ctx context.Context) Stats {
	close(r.events)
	defer context.AfterFunc(ctx, r.stop)()
	r.workers.Wait()
	r.stop()
	return Stats{int(r.ran.Load()), int(r.failed.Load()), int(r.dropped.Load())}
}

// work runs commands one after the other.
func (r *Runner) work() {
	for event := range r.events {
		if r.stopped.Err() != nil {
			r.dropped.Add(1)
			continue
		}
		err := r.run(event)
		r.ran.Add(1)
		if err != nil {
			r.failed.Add(1)
			r.report.Lock()
			r.opts.Failed(err)
			r.report.Unlock()
		}
	}
}

// run runs the command in a process group of its own: an interrupt from the terminal does
// not end it, and the end of its time ends its children, too.
func (r *Runner) run(event []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), r.opts.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.opts.Command[0], r.opts.Command[1:]...)
	cmd.Stdin = bytes.NewReader(event)
	cmd.Stdout = &lockedWriter{r}
	cmd.Stderr = cmd.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // children that left the group may hold the output
	err := cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("run %s: killed after %v", r.opts.Command[0], r.opts.Timeout)
	case errors.Is(err, syscall.EPIPE):
		return nil // the command succeeded without reading its input
	case err != nil:
		return fmt.Errorf("run %s: %w", r.opts.Command[0], err)
	}
	return nil
}

// A lockedWriter writes to the output of the runner.
type lockedWriter struct{ r *Runner }

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.r.output.Lock()
	defer w.r.output.Unlock()
	return w.r.opts.Output.Write(b)
}
