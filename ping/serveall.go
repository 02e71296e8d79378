package ping

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// A ServePort is a port at which pings can be answered.
type ServePort struct {
	Name string // for display; identifies the port
	Open func(context.Context) (umad.Port, error)
}

// ServePorts specify the ports for [Server.ServeAll].
type ServePorts struct {
	// List returns the ports that exist now, or an error if there are none.
	List func() ([]ServePort, error)

	// Rescan is the interval at which ServeAll looks for new ports, and retries ports that
	// could not be served or broke; 0: never.
	Rescan time.Duration

	// Notify, if set, is called when a port begins to be served, with its
	// attributes, and when it cannot be served or breaks, with the error. Calls
	// are not concurrent.
	Notify func(name string, attr umad.PortAttr, err error)
}

// ServeAll answers pings at all ports until ctx ends. It returns the port names that were
// not served at the end, or an error if no port can be served, now and later.
func (s *Server) ServeAll(ctx context.Context, p ServePorts) (missing []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	a := &portSet{server: s, ServePorts: p, state: map[string]error{}, ended: make(chan portError)}
	defer a.running.Wait()
	defer cancel()
	var rescan <-chan time.Time
	if p.Rescan > 0 {
		ticker := time.NewTicker(p.Rescan)
		defer ticker.Stop()
		rescan = ticker.C
	}
	failed, err := a.scan(ctx)
	if a.serving == 0 {
		return nil, errors.Join(err, errors.Join(errorsOf(failed)...))
	}
	a.fail(failed)
	for {
		select {
		case <-ctx.Done():
			for name, err := range a.state {
				if err != nil {
					missing = append(missing, name)
				}
			}
			return missing, nil
		case <-rescan:
			failed, _ := a.scan(ctx) // there may be no port for a while
			a.fail(failed)
		case e := <-a.ended:
			if a.serving--; a.serving == 0 && rescan == nil {
				return nil, e.err
			}
			a.fail([]portError{e})
		}
	}
}

// portSet is the ServeAll state.
type portSet struct {
	ServePorts
	server  *Server
	state   map[string]error // nil: the port is being served
	serving int
	running sync.WaitGroup
	ended   chan portError
}

type portError struct {
	name string
	err  error
}

// scan begins to serve the ports that are not served, and returns the failed ports.
func (a *portSet) scan(ctx context.Context) (failed []portError, err error) {
	ports, err := a.List()
	for _, p := range ports {
		if err, known := a.state[p.Name]; known && err == nil {
			continue
		}
		if err := a.serve(ctx, p); err != nil {
			failed = append(failed, portError{p.Name, err})
		}
	}
	return failed, err
}

func errorsOf(ends []portError) (all []error) {
	for _, e := range ends {
		all = append(all, e.err)
	}
	return all
}

// fail records ports that are not served.
func (a *portSet) fail(ends []portError) {
	for _, e := range ends {
		a.set(e.name, umad.PortAttr{}, e.err)
	}
}

func (a *portSet) serve(ctx context.Context, p ServePort) error {
	port, err := p.Open(ctx)
	if err != nil {
		return err
	}
	serve, err := a.server.listen(port)
	if err != nil {
		_ = port.Close() // nothing was sent
		return err
	}
	a.serving++
	a.set(p.Name, port.Attr(), nil)
	a.running.Go(func() {
		err := errors.Join(serve(ctx), port.Close())
		select {
		case a.ended <- portError{p.Name, err}:
		case <-ctx.Done():
		}
	})
	return nil
}

// set records a port's state, and reports a change.
func (a *portSet) set(name string, attr umad.PortAttr, err error) {
	before, known := a.state[name]
	if a.Notify != nil && (!known || fmt.Sprint(before) != fmt.Sprint(err)) {
		a.Notify(name, attr, err)
	}
	a.state[name] = err
}
