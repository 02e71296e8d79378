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

// Command is what to run in a guest.
type Command struct {
	Args  []string // Args[0] is looked up in the guest's PATH
	Env   []string // added to the environment of the guest
	Dir   string   // if empty, the root folder
	Stdin string
	User  bool // run as an ordinary user, named user, instead of root

	terminal bool // on the console instead of on pipes
}

// Result is how a command ended.
type Result struct {
	Stdout, Stderr string
	Code           int           // 128 and its number if a signal ended it
	Elapsed        time.Duration // of the whole process, on the guest's clock
}

// ExitError is that of a command that should have ended with 0.
type ExitError struct {
	Args []string
	Result
}

func (e *ExitError) Error() string {
	return fmt.Sprintf("run %q in guest: exit code %d\n%s%s", e.Args, e.Code, e.Stdout, e.Stderr)
}

// Process is a command that was started.
type Process struct {
	guest *Guest
	args  []string
	id    uint32
	log   io.Writer

	mu             sync.Mutex // guards all below
	stdout, stderr bytes.Buffer
	exit           *wire.Exit
	changed        chan struct{} // closed, and made anew, with each event
}

// Start starts a command. It goes on until it ends by itself, by
// [Process.Signal], or with the guest.
func (g *Guest) Start(c Command) (*Process, error) {
	p := &Process{guest: g, args: c.Args, log: g.log, changed: make(chan struct{})}
	start := wire.Start{Args: c.Args, Env: c.Env, Dir: c.Dir, Stdin: []byte(c.Stdin), Terminal: c.terminal}
	if c.User {
		start.User = userID
	}
	if err := g.session.start(p, start); err != nil {
		return nil, g.explain(err)
	}
	return p, nil
}

// receive takes an event about the process.
func (p *Process) receive(e wire.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stdout.Write(e.Stdout)
	p.stderr.Write(e.Stderr)
	p.exit = e.Exit
	if p.log != nil {
		_, _ = p.log.Write(append(e.Stdout, e.Stderr...))
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Wait returns when the command has ended and all who share its output have
// closed it. Its exit code is no error. When the context ends first, the command
// is killed.
func (p *Process) Wait(ctx context.Context) (Result, error) {
	var r Result
	err := p.await(ctx, func() bool {
		r = Result{Stdout: p.stdout.String(), Stderr: p.stderr.String()}
		return p.exit != nil
	})
	if err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, p.Signal(unix.SIGKILL))
		}
		return r, fmt.Errorf("run %q in guest: %w\n%s%s", p.args, err, r.Stdout, r.Stderr)
	}
	if p.exit.Reason != "" {
		return r, fmt.Errorf("run %q in guest: %s", p.args, p.exit.Reason)
	}
	r.Code, r.Elapsed = p.exit.Code, p.exit.Elapsed
	return r, nil
}

// AwaitOutput returns when the command has printed a text on either stream.
func (p *Process) AwaitOutput(ctx context.Context, text string) error {
	var ended, found bool
	var out string
	err := p.await(ctx, func() bool {
		out = p.stdout.String() + p.stderr.String()
		found = strings.Contains(p.stdout.String(), text) || strings.Contains(p.stderr.String(), text)
		ended = p.exit != nil
		return found || ended
	})
	if err == nil && !found {
		err = errors.New("command ended")
	}
	if err != nil {
		return fmt.Errorf("wait for %q from %q in guest: %w\n%s", text, p.args, err, out)
	}
	return nil
}

// Signal sends a signal to the command and what it started. It does nothing to
// one that has ended.
func (p *Process) Signal(s unix.Signal) error {
	return p.guest.explain(p.guest.session.signal(p.id, int(s)))
}

// await returns when a condition holds. It is asked after each event, with the
// lock held.
func (p *Process) await(ctx context.Context, condition func() bool) error {
	for {
		holds, changed := p.check(condition)
		if holds {
			return nil
		}
		select {
		case <-changed:
		case <-p.guest.session.done:
			// The last event may have come since the condition was asked.
			if holds, _ := p.check(condition); holds {
				return nil
			}
			return p.guest.failure()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// check tells whether a condition holds, and what to wait for until it might.
func (p *Process) check(condition func() bool) (holds bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return condition(), p.changed
}

// Run runs a command to its end. Its exit code is no error.
func (g *Guest) Run(ctx context.Context, c Command) (Result, error) {
	p, err := g.Start(c)
	if err != nil {
		return Result{}, err
	}
	return p.Wait(ctx)
}

// Shell runs bash, which must be among the tools, on the terminal of this
// process, which the spec must have given away as Interactive, to its end.
func (g *Guest) Shell(ctx context.Context, rows, columns int) (Result, error) {
	script := fmt.Sprintf("stty rows %d cols %d; exec bash --login", rows, columns)
	return g.Run(ctx, Command{Args: []string{"sh", "-c", script}, Dir: "/root", terminal: true})
}

// Check runs a command and returns what it prints on stdout. An exit code other
// than 0 is an [ExitError].
func (g *Guest) Check(ctx context.Context, args ...string) (string, error) {
	r, err := g.Run(ctx, Command{Args: args})
	if err == nil && r.Code != 0 {
		err = &ExitError{args, r}
	}
	return r.Stdout, err
}
