package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTimeout is why a guest ended that lived longer than its [Spec] allows.
var ErrTimeout = errors.New("guest has not ended in time")

// PanicError says that the guest's kernel panicked or met an oops.
type PanicError struct {
	Reason  string // the kernel's line
	Console string // all that it printed
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("kernel of guest ended: %s\n%s", e.Reason, tail(e.Console, 40))
}

// Guest is a running machine.
type Guest struct {
	// Ports are the devices, in the order of the Spec's.
	Ports []Port

	// Release is that of the kernel, as uname -r prints it.
	Release string

	spec    Spec
	log     io.Writer       // gets what commands print, once the guest is set up
	ctx     context.Context // ends the guest
	cancel  context.CancelFunc
	vm      *vm
	session *session
	console *console
}

// errClosed is why a guest ended that was closed.
var errClosed = errors.New("guest was closed")

// Boot starts a guest and returns when all that the spec names is there. The
// guest ends with the context at the latest.
func Boot(ctx context.Context, spec Spec) (*Guest, error) {
	if spec.wired() {
		return nil, fmt.Errorf("boot guest %s: a wire needs two ends: use BootPair", spec.Name)
	}
	return boot(ctx, spec, 1, nil)
}

// BootPair starts two guests. Their devices on a [Wire], one in each, are
// joined.
func BootPair(ctx context.Context, a, b Spec) ([2]*Guest, error) {
	var pair [2]*Guest
	if !a.wired() || !b.wired() {
		return pair, fmt.Errorf("boot guests %s and %s: each needs a device on a wire", a.Name, b.Name)
	}
	var ends [2]*os.File
	var err error
	if ends[0], ends[1], err = socketPair(); err != nil {
		return pair, err
	}
	var errs [2]error
	second := make(chan struct{})
	go func() {
		defer close(second)
		pair[1], errs[1] = boot(ctx, b, 2, ends[1])
	}()
	pair[0], errs[0] = boot(ctx, a, 1, ends[0])
	<-second
	if err := errors.Join(errs[:]...); err != nil {
		for _, g := range pair {
			if g != nil {
				err = errors.Join(err, g.Close())
			}
		}
		return pair, err
	}
	return pair, nil
}

// boot starts a guest. It closes the end of the wire, which QEMU has then.
func boot(ctx context.Context, spec Spec, host int, wire *os.File) (*Guest, error) {
	if wire != nil {
		defer wire.Close()
	}
	kernel, err := FindKernel(ctx)
	if err != nil {
		return nil, fmt.Errorf("boot guest %s: %w", spec.Name, err)
	}
	image, err := spec.image(ctx, kernel)
	if err != nil {
		return nil, fmt.Errorf("make image of guest %s: %w", spec.Name, err)
	}
	defer image.Close()

	if spec.Timeout == 0 {
		spec.Timeout = defaultTimeout
	}
	g := &Guest{spec: spec, Ports: spec.ports(host), console: &console{log: spec.Log}}
	ctx, stop := context.WithTimeoutCause(ctx, spec.Timeout, fmt.Errorf("%w: %v", ErrTimeout, spec.Timeout))
	ctx, cancel := context.WithCancelCause(ctx)
	g.ctx, g.cancel = ctx, func() { cancel(errClosed); stop() }

	g.vm, err = startVM(ctx, hardware{
		kernel: kernel, image: image, wire: wire, host: host,
		console: g.console, terminal: spec.Interactive, capture: spec.Capture,
	})
	if err != nil {
		g.cancel()
		return nil, fmt.Errorf("boot guest %s: %w", spec.Name, err)
	}
	g.session = newSession(g.vm.agent)
	if err := g.setUp(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("boot guest %s: %w", spec.Name, err), g.Close())
	}
	g.log = spec.Log
	return g, nil
}

// Close ends the guest. It returns why, if it had ended before by other means.
func (g *Guest) Close() error {
	if errors.Is(context.Cause(g.ctx), errClosed) {
		return nil
	}
	var err error
	select {
	case <-g.session.done:
		err = g.failure()
	default:
	}
	g.cancel()
	<-g.vm.done
	<-g.session.done // nothing is logged from here on
	if closeErr := g.vm.agent.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close guest %s: %w", g.spec.Name, closeErr)
	}
	return err
}

// Wait returns when the guest has ended, with the reason.
func (g *Guest) Wait() error {
	<-g.session.done
	return g.failure()
}

// Console returns what the kernel has printed on its console so far.
func (g *Guest) Console() string { return g.console.String() }

// failure returns why the guest ended, once it has.
func (g *Guest) failure() error {
	<-g.vm.done
	text := g.Console()
	if reason := findPanic(text); reason != "" {
		return &PanicError{reason, text}
	}
	if g.ctx.Err() != nil {
		return fmt.Errorf("guest %s: %w\n%s", g.spec.Name, context.Cause(g.ctx), tail(text, 20))
	}
	return errors.Join(fmt.Errorf("guest %s ended by itself\n%s", g.spec.Name, tail(text, 20)), g.vm.err)
}

// explain puts the reason why the guest ended in place of the error of a talk
// with it.
func (g *Guest) explain(err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-g.session.done:
		return g.failure()
	default:
		return err
	}
}
