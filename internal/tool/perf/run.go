package perf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/verbs"
)

// Run runs the tests in order. It continues after a failure that concerns a single test:
// see [TestsError]. It returns the measurements together with the error, nil only if a
// test is invalid. Measurements of failed tests are marked as partial.
func Run(ctx context.Context, o Options) (_ *Result, err error) {
	for _, t := range o.Tests {
		if err := t.Check(); err != nil {
			return nil, err
		}
	}
	r := &Result{Client: o.Identity, NotBegun: o.Tests}
	r.ClockSource, r.ClockCost = loop.ClockSource(!o.CPUs.Off)
	conn, err := dial(ctx, o.Server, Port, "")
	if err != nil {
		return r, err
	}
	c := &client{controlConn: newControlConn("server", conn), options: o}
	defer func() { err = errors.Join(err, c.close()) }()
	if c.server, err = c.greet(ctx); err != nil {
		return r, err
	}
	r.Server, r.NotBegun = c.server, nil
	return r, c.all(ctx, r)
}

// greet exchanges identities with the server.
func (c *client) greet(ctx context.Context) (host.Identity, error) {
	if err := c.send(message{Hello: &c.options.Identity}); err != nil {
		return host.Identity{}, err
	}
	m, err := c.next(ctx, responseTime)
	if err == nil && m.Hello == nil {
		err = c.errUnexpected()
	}
	if err != nil {
		return host.Identity{}, err
	}
	return *m.Hello, nil
}

// all runs all tests.
func (c *client) all(ctx context.Context, r *Result) error {
	failed := &TestsError{Of: len(c.options.Tests)}
	for i, t := range c.options.Tests {
		one := &Measurement{Test: t}
		if one.Err = c.measure(ctx, one); one.Err != nil {
			one.Partial = true
			failed.Failed = append(failed.Failed, FailedTest{one.Test, one.Err})
		}
		r.Measurements = append(r.Measurements, *one)
		if c.options.Done != nil {
			c.options.Done(one)
		}
		rest := c.options.Tests[i+1:]
		if one.Err != nil && len(rest) > 0 && (ctx.Err() != nil || !concernsTest(one.Err) || c.resync(ctx) != nil) {
			failed.NotBegun, r.NotBegun = rest, rest
			break
		}
	}
	if len(failed.Failed) == 0 {
		return nil
	}
	return failed
}

// resync prepares both sides for the next test after a failure. It discards the
// failures that the server has reported meanwhile.
func (c *client) resync(ctx context.Context) error {
	if err := c.send(message{Hello: &c.options.Identity}); err != nil {
		return err
	}
	for {
		m, err := c.next(ctx, responseTime)
		switch {
		case isPeerError(err):
		case err != nil:
			return err
		case m.Hello != nil:
			return nil
		default:
			return c.errUnexpected()
		}
	}
}

// A testError is a failure that concerns a single test.
type testError struct{ error }

func (e testError) Unwrap() error { return e.error }

// concernsTest reports whether a failure may concern a single test: the server refused
// it, the device does not support it, or payloads were corrupt.
func concernsTest(err error) bool {
	if errors.Is(err, verbs.ErrDeviceRemoved) {
		return false
	}
	return isPeerError(err) || errors.As(err, new(testError)) || errors.Is(err, loop.ErrCorrupt) || errors.Is(err, ErrNoFigures)
}

// IsCorrupt reports whether a payload was corrupt, at either side.
func IsCorrupt(err error) bool {
	peer, reported := errors.AsType[*PeerError](err)
	return errors.Is(err, loop.ErrCorrupt) || reported && strings.Contains(peer.Text, loop.ErrCorrupt.Error())
}

// A FailedTest is a test and the reason of its failure.
type FailedTest struct {
	Test Test
	Err  error
}

// A TestsError is returned if tests failed.
type TestsError struct {
	Failed   []FailedTest
	NotBegun []Test // after a failure that concerns all tests
	Of       int    // number of all tests
}

// Unwrap returns the errors of the tests.
func (e *TestsError) Unwrap() []error {
	var all []error
	for _, f := range e.Failed {
		all = append(all, f.Err)
	}
	return all
}

func (e *TestsError) Error() string {
	var lines []string
	for i := 0; i < len(e.Failed); {
		first := e.Failed[i]
		names := []string{first.Test.String()}
		for i++; i < len(e.Failed) && e.Failed[i].Err.Error() == first.Err.Error(); i++ {
			names = append(names, e.Failed[i].Test.String())
		}
		lines = append(lines, fmt.Sprintf("measure %s: %v", strings.Join(names, ", "), first.Err))
	}
	text := strings.Join(lines, "\n")
	if len(lines) > 1 {
		text = fmt.Sprintf("%d of %d tests failed:\n%s", len(e.Failed), e.Of, text)
	}
	if n := len(e.NotBegun); n > 0 {
		text += fmt.Sprintf("; not started: %v", e.NotBegun[0])
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return text
}
