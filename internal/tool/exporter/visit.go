package exporter

import (
	"context"
	"errors"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// A visit is a call to [Exporter.Visit].
type visit struct {
	ctx  context.Context
	do   func(context.Context, *umad.Client) error
	done chan error
}

// errNoFabric is the error for a visit with this host's ports.
var errNoFabric = errors.New("query the fabric: the exporter has only the ports of this host")

// Visit calls a function between two sweeps, with a client for further queries. Its context
// ends when the next sweep begins: visits do not delay sweeps.
func (e *Exporter) Visit(ctx context.Context, do func(context.Context, *umad.Client) error) error {
	v := visit{ctx, do, make(chan error, 1)}
	select {
	case e.visits <- v:
		return <-v.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait runs visits until a time.
func (e *Exporter) wait(ctx context.Context, until time.Time) error {
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case v := <-e.visits:
			v.done <- e.visit(ctx, v, until)
		case <-t.C:
			return nil
		}
	}
}

// visit runs a visit until ctx or its own context ends, or until a time.
func (e *Exporter) visit(ctx context.Context, v visit, until time.Time) error {
	source, ok := e.currentSource().(*fabricSource)
	if !ok {
		return errNoFabric
	}
	limited, cancel := context.WithDeadline(v.ctx, until)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	session, err := source.options.Source.Open(limited)
	if err != nil {
		return err
	}
	return errors.Join(v.do(limited, session.Client), session.Close())
}
