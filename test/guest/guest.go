package guest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/ibkit/ibkit/test/debian"
)

// ErrTimeout is the error from a guest that exceeds the timeout in its [Spec].
var ErrTimeout = errors.New("guest exceeded its timeout")

// PanicError reports a kernel panic or oops in a guest.
type PanicError struct {
	Reason  string // line from the kernel
	Console string // complete output
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("kernel of guest ended: %s\n%s", e.Reason, tail(e.Console, 40))
}

// Guest is a running machine.
type Guest struct {
	// Ports are the devices, in the order of the Spec.
	Ports []Port

	// Release is the output of uname -r.
	Release string

	spec     Spec
	host     int             // number on its network, from 1
	peers    []*Guest        // the others on its network
	activity *activity       // shared with them
	log      io.Writer       // gets the output of commands after the setup
	ctx      context.Context // ends the guest
	end      context.CancelCauseFunc
	vm       *vm
	session  *session
	console  *console
}

// errClosed is the reason if a guest was closed.
var errClosed = errors.New("guest was closed")

// Boot starts a guest and returns when the setup is complete. The guest ends with the
// context at the latest.
func Boot(ctx context.Context, spec Spec) (*Guest, error) {
	if spec.wires() > 0 {
		return nil, fmt.Errorf("boot guest %s: a wire needs two ends: use BootPair", spec.Name)
	}
	return boot(ctx, spec, 1, nil, new(activity))
}

// BootPair starts two guests. Their [Wire] devices are connected to each other.
func BootPair(ctx context.Context, a, b Spec) (pair [2]*Guest, err error) {
	var ends [2]*os.File
	if ends[0], ends[1], err = socketPair(); err != nil {
		return pair, err
	}
	all, err := bootAll(ctx, []Spec{a, b}, [][]*os.File{ends[:1], ends[1:]})
	return [2]*Guest(all), err
}

// BootSwitched starts guests with numbers from 1. Their [Wire] devices are connected to the
// ports of a switch, in their order.
func BootSwitched(ctx context.Context, s *Switch, specs ...Spec) ([]*Guest, error) {
	ends := make([][]*os.File, len(specs))
	for i, spec := range specs {
		for rail := range spec.wires() {
			end, err := s.connect(Plug{i + 1, rail})
			if err != nil {
				return nil, err
			}
			ends[i] = append(ends[i], end)
		}
	}
	return bootAll(ctx, specs, ends)
}

// bootAll starts guests at the ends of their wires, which it closes.
func bootAll(ctx context.Context, specs []Spec, ends [][]*os.File) ([]*Guest, error) {
	all, errs := make([]*Guest, len(specs)), make([]error, len(specs))
	together := new(activity)
	var booting sync.WaitGroup
	for i, spec := range specs {
		if len(ends[i]) == 0 || spec.wires() != len(ends[i]) {
			errs[i] = errors.Join(fmt.Errorf("boot guest %s: got %d devices on a wire, want %d", spec.Name, spec.wires(), max(1, len(ends[i]))), closeAll(ends[i]))
			continue
		}
		booting.Go(func() { all[i], errs[i] = boot(ctx, spec, i+1, ends[i], together) })
	}
	booting.Wait()
	for i, g := range all {
		if g != nil {
			g.peers = slices.Delete(slices.Clone(all), i, i+1)
		}
	}
	err := errors.Join(errs...)
	for _, g := range all {
		if err != nil && g != nil {
			err = errors.Join(err, g.Close())
		}
	}
	return all, err
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// boot starts a guest. It closes its ends of wires, which QEMU inherits.
func boot(ctx context.Context, spec Spec, host int, wires []*os.File, activity *activity) (*Guest, error) {
	defer func() { _ = closeAll(wires) }() // QEMU has them
	if spec.Release == nil {
		spec.Release = debian.Bookworm
	}
	kernel, err := FindKernel(ctx, spec.Release)
	if err != nil {
		return nil, fmt.Errorf("boot guest %s: %w", spec.Name, err)
	}
	root, err := cmp.Or(spec.ToolsFrom, spec.Release).Root(ctx)
	if err != nil {
		return nil, fmt.Errorf("boot guest %s: %w", spec.Name, err)
	}
	modules, err := spec.baseModules(kernel)
	if err != nil {
		return nil, fmt.Errorf("boot guest %s: %w", spec.Name, err)
	}
	disk, err := spec.disk(ctx, kernel, root, slices.Concat(modules, spec.modules()))
	if err != nil {
		return nil, fmt.Errorf("make disk of guest %s: %w", spec.Name, err)
	}
	defer disk.Close()
	h := hardware{kernel: kernel, extra: spec.Machine, disk: disk, wires: wires, host: min(host, 2), terminal: spec.Interactive, capture: spec.Capture}
	if h.initrd, err = baseInitrd(ctx, kernel, root, modules); err != nil {
		return nil, fmt.Errorf("make first file system of guest %s: %w", spec.Name, err)
	}
	if h.state, err = savedState(ctx, h); err != nil {
		return nil, fmt.Errorf("boot guest %s: %w", spec.Name, err)
	}
	defer h.state.Close()

	if spec.Timeout == 0 {
		spec.Timeout = defaultTimeout()
	}
	if spec.Quiet == 0 {
		spec.Quiet = quietLimit
	}
	g := &Guest{spec: spec, host: host, activity: activity, Ports: spec.ports(host), console: &console{log: spec.Log}}
	ctx, stop := context.WithTimeoutCause(ctx, spec.Timeout, fmt.Errorf("%w: %v", ErrTimeout, spec.Timeout))
	ctx, cancel := context.WithCancelCause(ctx)
	g.ctx, g.end = ctx, func(cause error) { cancel(cause); stop() }

	h.console = g.console
	if g.vm, err = startVM(ctx, h); err != nil {
		g.end(err)
		return nil, fmt.Errorf("boot guest %s: %w", spec.Name, err)
	}
	g.session = newSession(g.vm.agent)
	if err := g.setUp(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("boot guest %s: %w", spec.Name, err), g.Close())
	}
	g.log = spec.Log
	return g, nil
}

// name returns the name in errors.
func (g *Guest) name() string {
	if g.spec.wires() > 0 {
		return fmt.Sprintf("%s, host %d", g.spec.Name, g.host)
	}
	return g.spec.Name
}

// Close ends the guest. It returns the reason if the guest ended earlier.
func (g *Guest) Close() error {
	if errors.Is(context.Cause(g.ctx), errClosed) {
		return nil
	}
	var err error
	if g.session.ended() {
		err = g.failure()
	}
	g.end(errClosed)
	<-g.vm.done
	<-g.session.done // logging has ended
	if closeErr := g.vm.agent.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("close guest %s: %w", g.spec.Name, closeErr)
	}
	return err
}

// Wait waits for the end of the guest and returns the reason.
func (g *Guest) Wait() error {
	<-g.session.done
	return g.failure()
}

// Console returns the kernel's console output so far.
func (g *Guest) Console() string { return g.console.String() }

// failure returns the reason why the guest ended. The guest must have ended.
func (g *Guest) failure() error {
	<-g.vm.done
	text := g.Console()
	if reason := findPanic(text); reason != "" {
		return &PanicError{reason, text}
	}
	if hang := (*HangError)(nil); errors.As(context.Cause(g.ctx), &hang) {
		return fmt.Errorf("guest %s was ended: no progress in the wait for %s", g.name(), hang.Step)
	}
	if g.ctx.Err() != nil {
		return fmt.Errorf("guest %s: %w\n%s", g.spec.Name, context.Cause(g.ctx), tail(text, 20))
	}
	return errors.Join(fmt.Errorf("guest %s ended by itself\n%s", g.spec.Name, tail(text, 20)), g.vm.err)
}

// explain replaces a communication error with the reason why the guest ended, if it has.
func (g *Guest) explain(err error) error {
	if err == nil {
		return nil
	}
	if g.session.ended() {
		return g.failure()
	}
	return err
}
