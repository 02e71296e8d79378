package crew

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/jsonframe"

	"github.com/ibkit/ibkit/internal/interrupt"
)

// A JoinError is the reason why a worker did not join.
type JoinError struct {
	Coordinator string
	Refused     bool // by the coordinator, or because it does not know the token
	Err         error
}

func (e *JoinError) Error() string {
	return fmt.Sprintf("join the coordinator at %s: %v", e.Coordinator, e.Err)
}

// Unwrap returns Err.
func (e *JoinError) Unwrap() error { return e.Err }

// A link is a worker's connection to its coordinator.
type link struct {
	conn    net.Conn
	input   *bufio.Reader
	silence time.Duration
}

// Times between attempts to join.
const (
	firstPause = 20 * time.Millisecond
	maxPause   = time.Second
	// maxNamePause spares the name servers: thousands of pods start before the name of the
	// first is published.
	maxNamePause = 5 * time.Second
)

// join dials the coordinator's addresses in turn until it answers, all refuse, or the time
// is over: the coordinator may start later than the worker.
func (o WorkerOptions) join(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.Within, fmt.Errorf("no coordinator within %v", o.Within.Round(time.Millisecond)))
	defer cancel()
	last := make([]*JoinError, len(o.Coordinators))
	for pause := firstPause; ; pause *= 2 {
		open, most := false, maxNamePause
		for i, at := range o.Coordinators {
			if last[i] != nil && last[i].Refused {
				continue
			}
			l, err := o.try(ctx, at)
			if err == nil {
				return l, nil
			}
			if ctx.Err() == nil || last[i] == nil {
				last[i] = err
			}
			open = open || !err.Refused
			if _, ok := errors.AsType[*net.DNSError](err.Err); !ok {
				most = maxPause
			}
		}
		if !open {
			return nil, joined(last, nil)
		}
		if pause > maxPause && o.Waiting != nil {
			o.Waiting(joined(last, nil))
			o.Waiting = nil
		}
		pause = min(pause, most)
		if interrupt.Sleep(ctx, pause) != nil {
			return nil, joined(last, context.Cause(ctx))
		}
	}
}

// joined returns the failures of all addresses as an error.
func joined(last []*JoinError, cause error) error {
	var at, why []string
	refused := true
	for _, e := range last {
		at = append(at, e.Coordinator)
		why = append(why, e.Err.Error())
		refused = refused && e.Refused
	}
	err := errors.New(strings.Join(why, "; "))
	if cause != nil {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	return &JoinError{strings.Join(at, " or "), refused, err}
}

// try dials an address and runs the handshake.
func (o WorkerOptions) try(ctx context.Context, at string) (*link, *JoinError) {
	conn, err := o.dial(ctx, at)
	if err != nil {
		return nil, &JoinError{at, false, err}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	input := bufio.NewReader(conn)
	w, refused, err := o.handshake(conn, input)
	if !stop() && err == nil { // the deadline has passed already
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, &JoinError{at, refused, err}
	}
	_ = conn.SetDeadline(time.Time{}) // fails only on a closed connection, which the reader reports
	return &link{conn, input, w.Silence}, nil
}

func (o WorkerOptions) dial(ctx context.Context, at string) (net.Conn, error) {
	if o.Dial != nil {
		return o.Dial(ctx, at)
	}
	dialer := net.Dialer{Timeout: handshakeLimit}
	return dialer.DialContext(ctx, "tcp", at)
}

// handshake proves the token to the coordinator and checks its proof.
func (o WorkerOptions) handshake(conn net.Conn, input io.Reader) (w *welcome, refused bool, err error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeLimit)); err != nil {
		return nil, false, notCoordinator(err) // a pipe that the peer has closed
	}
	m, err := read(input, maxHandshake)
	switch {
	case m.Refused != "":
		return nil, false, errors.New("refused: " + m.Refused) // before any proof: too many connections
	case err != nil:
		return nil, isForeign(err), notCoordinator(err)
	case m.Challenge == nil || len(m.Challenge.Nonce) != nonceSize:
		return nil, true, notCoordinator(jsonframe.ErrInvalid)
	}
	c, own := m.Challenge, random(nonceSize)
	j := &join{Name: o.Name, Index: o.Index, Version: o.Version, Nonce: own, Proof: prove(o.Token, workerRole, c.Nonce, own, o.Name)}
	if o.Engine != nil {
		offer := o.Engine.Offer()
		j.Offer = &offer
	}
	if err := jsonframe.Write(conn, message{Join: j}, maxHandshake); err != nil {
		return nil, false, err
	}
	m, err = read(input, maxHandshake)
	switch {
	case err != nil:
		return nil, isForeign(err), notCoordinator(err)
	case m.Refused != "":
		return nil, true, errors.New("refused: " + m.Refused)
	case m.Welcome == nil || !proven(m.Welcome.Proof, o.Token, coordinatorRole, c.Nonce, own, o.Name):
		return nil, true, errors.New("the coordinator does not know the token")
	}
	return m.Welcome, false, nil
}

// isForeign reports whether the peer speaks another protocol.
func isForeign(err error) bool { return errors.Is(err, jsonframe.ErrInvalid) }

// notCoordinator explains an error before the coordinator's proof.
func notCoordinator(err error) error {
	length, foreign := errors.AsType[*jsonframe.LengthError](err)
	switch {
	case foreign:
		return fmt.Errorf("not a coordinator: it begins with %q", length.Head[:])
	case isTimeout(err):
		return fmt.Errorf("no answer within %v", handshakeLimit)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
		return errors.New("it closed the connection")
	}
	return err
}
