package perf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/loop"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/peererr"
	"github.com/ibkit/ibkit/verbs"
)

func TestConcernsTest(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&PeerError{"server", "no"}, true},
		{testError{errors.New("too long")}, true},
		{fmt.Errorf("look: %w", loop.ErrCorrupt), true},
		{ErrNoFigures, true},
		{peererr.ErrClosed, false},
		{peererr.ErrTimeout, false},
		{errMessage, false},
		{testError{verbs.ErrDeviceRemoved}, false},
		{loop.ErrStalled, false},
	} {
		t.Run(c.err.Error(), func(t *testing.T) {
			if got := concernsTest(c.err); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestTestsError(t *testing.T) {
	small, large := NewTest(Send, Bandwidth, RC, 64), NewTest(Send, Bandwidth, RC, 1<<20)
	no, closed := errors.New("no"), errors.New("closed")
	for want, e := range map[string]TestsError{
		"measure send bw rc 64 B: no":                       {Failed: []FailedTest{{small, no}}, Of: 2},
		"measure send bw rc 64 B, send bw rc 1048576 B: no": {Failed: []FailedTest{{small, no}, {large, no}}, Of: 2},
		"2 of 3 tests failed:\nmeasure send bw rc 64 B: no\nmeasure send bw rc 1048576 B: closed": {
			Failed: []FailedTest{{small, no}, {large, closed}}, Of: 3,
		},
		"measure send bw rc 64 B: closed; not started: send bw rc 1048576 B": {
			Failed: []FailedTest{{small, closed}}, NotBegun: []Test{large}, Of: 2,
		},
		"measure send bw rc 64 B: closed; not started: send bw rc 1048576 B and 1 more": {
			Failed: []FailedTest{{small, closed}}, NotBegun: []Test{large, small}, Of: 3,
		},
	} {
		t.Run(want, func(t *testing.T) {
			if d := cmp.Diff(want, e.Error()); d != "" {
				t.Error(d)
			}
			if !errors.Is(&e, e.Failed[0].Err) {
				t.Errorf("got %v, want it to wrap %v", &e, e.Failed[0].Err)
			}
		})
	}
}

// TestResync checks that a test can start after the server refused a test.
func TestResync(t *testing.T) {
	conn := connectToServer(t, nil)
	hello := message{Hello: &host.Identity{}}
	bad := NewTest(Send, Bandwidth, RC, 0)
	answer, err := exchange(t, conn, hello, message{Prepare: &request{Test: bad}})
	if err != nil || !strings.Contains(answer.Failure, "size 0") {
		t.Fatalf("invalid test: got %+v, %v", answer, err)
	}
	for _, m := range []message{{Finish: &finish{}}, {Failure: "mine"}} {
		if err := m.write(conn); err != nil {
			t.Fatal(err)
		}
	}
	c := &client{controlConn: newControlConn("server", conn)}
	if err := c.resync(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

func TestForeignPeerError(t *testing.T) {
	for head, want := range map[string]Program{"6.06": Perftest, "0000": Pingpong, "1f2a": Pingpong, "GET ": ""} {
		t.Run(head, func(t *testing.T) {
			_, err := readMessage(strings.NewReader(head + "16 bytes or more"))
			var foreign *ForeignPeerError
			if !errors.Is(err, errMessage) || !errors.As(err, &foreign) || foreign.Program != want {
				t.Errorf("got %v, want a message of %q", err, want)
			}
		})
	}
}
