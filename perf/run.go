package perf

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/verbs"
)

// Run does the tests, one after the other. A test that fails for a reason of its own
// does not keep those after it from being done: see [TestsError]. What was measured
// comes with the error; the measurements of tests that failed are partial.
func Run(ctx context.Context, o Options) (_ *Result, err error) {
	for _, t := range o.Tests {
		if err := t.Check(); err != nil {
			return nil, err
		}
	}
	conn, err := dial(ctx, o.Server, Port, "")
	if err != nil {
		return nil, err
	}
	c := &client{talk: newTalk("server", conn), options: o}
	defer func() { err = errors.Join(err, c.close()) }()
	r := &Result{Client: o.Identity}
	r.ClockSource, r.ClockCost = loop.ClockSource(!o.CPUs.Off)
	if c.server, err = c.greet(ctx); err != nil {
		return nil, err
	}
	r.Server = c.server
	return r, c.all(ctx, r)
}

// greet says who this is, and returns who the server is.
func (c *client) greet(ctx context.Context) (Identity, error) {
	if err := c.send(message{Hello: &c.options.Identity}); err != nil {
		return Identity{}, err
	}
	m, err := c.next(ctx, answerTime)
	if err == nil && m.Hello == nil {
		err = c.strange()
	}
	if err != nil {
		return Identity{}, err
	}
	return *m.Hello, nil
}

// all does all tests, as far as that goes.
func (c *client) all(ctx context.Context, r *Result) error {
	failed := &TestsError{Of: len(c.options.Tests)}
	for i, t := range c.options.Tests {
		one := &Measurement{Test: t}
		if one.Err = c.measure(ctx, one); one.Err != nil {
			one.Partial = true
			failed.Failed = append(failed.Failed, FailedTest{t, one.Err})
		}
		r.Measurements = append(r.Measurements, *one)
		if c.options.Done != nil {
			c.options.Done(one)
		}
		rest := c.options.Tests[i+1:]
		if one.Err != nil && len(rest) > 0 && (ctx.Err() != nil || !ownFailure(one.Err) || c.again(ctx) != nil) {
			failed.NotBegun, r.NotBegun = rest, rest
			break
		}
	}
	if len(failed.Failed) == 0 {
		return nil
	}
	return failed
}

// again brings both sides to where the next test can begin, after one that failed:
// what the server may have said of that by itself is passed over.
func (c *client) again(ctx context.Context) error {
	if err := c.send(message{Hello: &c.options.Identity}); err != nil {
		return err
	}
	for {
		m, err := c.next(ctx, answerTime)
		switch {
		case errors.As(err, new(*PeerError)):
		case err != nil:
			return err
		case m.Hello != nil:
			return nil
		default:
			return c.strange()
		}
	}
}

// An ownError is a failure that comes of what one test wants.
type ownError struct{ error }

func (e ownError) Unwrap() error { return e.error }

// ownFailure tells whether a test may have failed where another will not: the server
// says why, or the device does not do what the test wants, or payloads were wrong.
func ownFailure(err error) bool {
	if errors.Is(err, verbs.ErrDeviceRemoved) {
		return false
	}
	return errors.As(err, new(*PeerError)) || errors.As(err, new(ownError)) || errors.Is(err, loop.ErrCorrupt) || errors.Is(err, errNothing)
}

// A FailedTest is one test and why it failed.
type FailedTest struct {
	Test Test
	Err  error
}

// A TestsError is tests that failed, of several or of one.
type TestsError struct {
	Failed   []FailedTest
	NotBegun []Test // those after one that nothing can be done after
	Of       int    // tests in all
}

// Unwrap returns why each failed.
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
		text += fmt.Sprintf("; not begun after that: %v", e.NotBegun[0])
		if n > 1 {
			text += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return text
}
