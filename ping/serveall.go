package ping

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// A Place is a port where pings can be answered.
type Place struct {
	Name string // for people, and to know it again
	Open func(context.Context) (umad.Port, error)
}

// Places say where [Server.ServeAll] answers pings.
type Places struct {
	// Find returns the places that there are, or an error where there are none.
	Find func() ([]Place, error)

	// Every is how often new ones are looked for, and those again that could not
	// be served or broke; 0: never.
	Every time.Duration

	// Tell, where set, is told when a port begins to be served, with the port's
	// attributes, and why one is not, or not any more. It is called by one
	// goroutine at a time.
	Tell func(place string, attr umad.PortAttr, err error)
}

// ServeAll answers pings at all places until ctx ends. It returns the names of
// those that could not be served last. An error is that nothing can be served,
// now and later.
func (s *Server) ServeAll(ctx context.Context, p Places) (missing []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	a := &allPlaces{server: s, Places: p, state: map[string]error{}, ended: make(chan placeEnd)}
	defer a.running.Wait()
	defer cancel()
	var again <-chan time.Time
	if p.Every > 0 {
		ticker := time.NewTicker(p.Every)
		defer ticker.Stop()
		again = ticker.C
	}
	failed, err := a.look(ctx)
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
		case <-again:
			failed, _ := a.look(ctx) // there may be none for a while
			a.fail(failed)
		case e := <-a.ended:
			if a.serving--; a.serving == 0 && again == nil {
				return nil, e.err
			}
			a.fail([]placeEnd{e})
		}
	}
}

// allPlaces is what ServeAll keeps of its places.
type allPlaces struct {
	Places
	server  *Server
	state   map[string]error // nil: is being served
	serving int
	running sync.WaitGroup
	ended   chan placeEnd
}

type placeEnd struct {
	name string
	err  error
}

// look serves the places that are not served, and returns those where that
// failed.
func (a *allPlaces) look(ctx context.Context) (failed []placeEnd, err error) {
	places, err := a.Find()
	for _, p := range places {
		if err, known := a.state[p.Name]; known && err == nil {
			continue
		}
		if err := a.serve(ctx, p); err != nil {
			failed = append(failed, placeEnd{p.Name, err})
		}
	}
	return failed, err
}

func errorsOf(ends []placeEnd) (all []error) {
	for _, e := range ends {
		all = append(all, e.err)
	}
	return all
}

// fail takes in that places are not served.
func (a *allPlaces) fail(ends []placeEnd) {
	for _, e := range ends {
		a.set(e.name, umad.PortAttr{}, e.err)
	}
}

func (a *allPlaces) serve(ctx context.Context, p Place) error {
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
		case a.ended <- placeEnd{p.Name, err}:
		case <-ctx.Done():
		}
	})
	return nil
}

// set takes in that a place is served or why it is not, and tells of it once.
func (a *allPlaces) set(name string, attr umad.PortAttr, err error) {
	before, known := a.state[name]
	if a.Tell != nil && (!known || fmt.Sprint(before) != fmt.Sprint(err)) {
		a.Tell(name, attr, err)
	}
	a.state[name] = err
}
