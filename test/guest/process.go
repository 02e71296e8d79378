package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/test/guest/internal/wire"
)

// Command is a program to run in a guest.
type Command struct {
	Args  []string // Args[0] is looked up in the guest's PATH
	Env   []string // added to the guest's environment
	Dir   string   // default: the root directory
	Stdin string
	User  bool // run as the unprivileged user named user

	terminal bool   // on the console instead of on pipes
	test     string // that starts it, or ""
	poll     bool   // repeated until a condition holds: no test progress
}

// Result is a command's result.
type Result struct {
	Stdout, Stderr string
	Code           int           // 128 + number if a signal ended it
	Elapsed        time.Duration // duration of the process, by the guest's clock
	CPU            time.Duration // the process's user and system time
}

// ExitError is the error for a command with an unexpected exit code.
type ExitError struct {
	Args []string
	Result
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("run %q in guest: exit code %d\n%s%s", e.Args, e.Code, e.Stdout, e.Stderr)
}

// Process is a running or ended command.
type Process struct {
	guest *Guest
	args  []string
	test  string // that has started it, or ""
	poll  bool   // see Command
	id    uint32
	log   io.Writer

	mu             sync.Mutex // guards the fields below
	stdout, stderr bytes.Buffer
	exit           *wire.Exit
	ended          bool          // by end, with all processes that it had left
	awaited        int           // steps that wait for it
	changed        chan struct{} // closed and replaced with each event
}

// start starts a command. It runs until it ends, until [Process.Signal] or end ends it, or
// until the guest ends.
func (g *Guest) start(c Command) (*Process, error) {
	p := &Process{guest: g, args: c.Args, test: c.test, poll: c.poll, log: g.log, changed: make(chan struct{})}
	if !c.poll {
		g.activity.Add(1)
	}
	start := wire.Start{Args: c.Args, Env: c.Env, Dir: c.Dir, Stdin: []byte(c.Stdin), Terminal: c.terminal}
	if c.User {
		start.User = userID
	}
	if err := g.session.start(p, start); err != nil {
		return nil, g.explain(err)
	}
	return p, nil
}

// receive handles a process event.
func (p *Process) receive(e wire.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stdout.Write(e.Stdout)
	p.stderr.Write(e.Stderr)
	if e.Exit != nil {
		p.exit = e.Exit
	}
	p.ended = p.ended || e.Ended
	if !p.poll && (p.awaited > 0 || e.Exit != nil) {
		p.guest.activity.Add(1)
	}
	if p.log != nil {
		_, _ = p.log.Write(append(e.Stdout, e.Stderr...))
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Wait returns when the command has ended and all processes that share its output have
// closed it. An exit code is not an error. If the context ends first, the command is killed.
func (p *Process) Wait(ctx context.Context) (Result, error) {
	var r Result
	err := p.await(ctx, "the end", func() bool {
		r = Result{Stdout: p.stdout.String(), Stderr: p.stderr.String()}
		return p.exit != nil
	})
	if hang := (*HangError)(nil); errors.As(err, &hang) {
		return r, err
	}
	if err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, p.Signal(unix.SIGKILL))
		}
		return r, fmt.Errorf("run %q in guest: %w\n%s%s", p.args, err, r.Stdout, r.Stderr)
	}
	if p.exit.Reason != "" {
		return r, fmt.Errorf("run %q in guest: %s", p.args, p.exit.Reason)
	}
	r.Code, r.Elapsed, r.CPU = p.exit.Code, p.exit.Elapsed, p.exit.CPU
	return r, nil
}

// AwaitOutput returns when the command has printed a text to either stream.
func (p *Process) AwaitOutput(ctx context.Context, text string) error {
	var ended, found bool
	var out string
	w := p.guest.watch(ctx, fmt.Sprintf("output %q of %q", text, p.args))
	defer w.timer.Stop()
	w.longest = outputLimits * w.limit
	err := p.await(context.WithValue(ctx, watching{}, w), "", func() bool {
		out = p.stdout.String() + p.stderr.String()
		found = strings.Contains(p.stdout.String(), text) || strings.Contains(p.stderr.String(), text)
		ended = p.exit != nil
		return found || ended
	})
	if hang := (*HangError)(nil); errors.As(err, &hang) {
		return err
	}
	if err == nil && !found {
		err = errors.New("command ended")
	}
	if err != nil {
		return fmt.Errorf("wait for %q from %q in guest: %w\n%s", text, p.args, err, out)
	}
	return nil
}

// output returns the output on both streams so far.
func (p *Process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stdout.String() + p.stderr.String()
}

// Signal sends a signal to the command and its children. It has no effect on a command
// that has ended.
func (p *Process) Signal(s unix.Signal) error {
	return p.guest.explain(p.guest.session.signal(p.id, int(s)))
}

// end kills the command's processes, including background processes that it has left, and
// returns when the last process has ended.
func (p *Process) end(ctx context.Context) error {
	err := p.guest.session.end(p)
	if err == nil {
		err = p.await(ctx, "the end after SIGKILL", func() bool { return p.exit != nil && p.ended })
	}
	hang := (*HangError)(nil)
	if errors.As(err, &hang) || err != nil && p.guest.ctx.Err() == nil && !p.guest.session.ended() {
		return fmt.Errorf("end %q in guest: %w", p.args, err)
	}
	return nil
}

// await returns when a condition holds. It checks the condition after each event, with
// the lock held. what names the condition.
func (p *Process) await(ctx context.Context, what string, condition func() bool) error {
	w, nested := ctx.Value(watching{}).(*watch)
	if !nested {
		w = p.guest.watch(ctx, fmt.Sprintf("%s of %q", what, p.args))
		defer w.timer.Stop()
	}
	defer w.follow(p)()
	for {
		holds, changed := p.check(condition)
		if holds {
			return nil
		}
		select {
		case <-changed:
		case <-w.timer.C:
			if err := w.ask(); err != nil {
				return err
			}
		case all := <-w.reply:
			if err := w.look(all); err != nil {
				return err
			}
		case <-p.guest.session.done:
			// The last event may have come since the condition was checked.
			if holds, _ := p.check(condition); holds {
				return nil
			}
			return p.guest.failure()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// check reports whether a condition holds, and returns a channel to wait on if it does
// not.
func (p *Process) check(condition func() bool) (holds bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return condition(), p.changed
}

// Run runs a command and waits until it ends. An exit code is not an error. Processes that
// it leaves in the background end with the context.
func (g *Guest) Run(ctx context.Context, c Command) (Result, error) {
	p, err := g.start(c)
	if err != nil {
		return Result{}, err
	}
	r, err := p.Wait(ctx)
	if err != nil || p.exit.Left {
		context.AfterFunc(ctx, func() { _ = g.session.end(p) }) // fails when the guest ends
	}
	return r, err
}

// Shell runs bash on this process's terminal and waits until it ends. The Spec must have
// bash as a tool and be Interactive.
func (g *Guest) Shell(ctx context.Context, rows, columns int) (Result, error) {
	script := fmt.Sprintf("stty rows %d cols %d; exec bash --login", rows, columns)
	return g.Run(Idle(ctx, g.spec.Timeout), Command{Args: []string{"sh", "-c", script}, Dir: "/root", terminal: true})
}

// Check runs a command and returns the standard output. An exit code other than 0 is
// an [ExitError].
func (g *Guest) Check(ctx context.Context, args ...string) (string, error) {
	r, err := g.Run(ctx, Command{Args: args})
	if err == nil && r.Code != 0 {
		err = &ExitError{args, r}
	}
	return r.Stdout, err
}
