package perf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/perf/loop"
	"github.com/ibkit/ibkit/verbs"
)

func TestOwnFailure(t *testing.T) {
	for _, err := range []error{
		&PeerError{"server", "no"}, ownError{errors.New("too long")}, fmt.Errorf("look: %w", loop.ErrCorrupt), errNothing,
	} {
		if !ownFailure(err) {
			t.Errorf("%v: another test may not fail of it", err)
		}
	}
	for _, err := range []error{errGone, errSilent, errMessage, ownError{verbs.ErrDeviceRemoved}, loop.ErrStalled} {
		if ownFailure(err) {
			t.Errorf("%v: another test will not fail of it", err)
		}
	}
}

func TestTestsError(t *testing.T) {
	small, large := NewTest(Send, Bandwidth, RC, 64), NewTest(Send, Bandwidth, RC, 1<<20)
	no, gone := errors.New("no"), errors.New("gone")
	for want, e := range map[string]TestsError{
		"measure send bw rc 64 B: no":                       {Failed: []FailedTest{{small, no}}, Of: 2},
		"measure send bw rc 64 B, send bw rc 1048576 B: no": {Failed: []FailedTest{{small, no}, {large, no}}, Of: 2},
		"2 of 3 tests failed:\nmeasure send bw rc 64 B: no\nmeasure send bw rc 1048576 B: gone": {
			Failed: []FailedTest{{small, no}, {large, gone}}, Of: 3,
		},
		"measure send bw rc 64 B: gone; not begun after that: send bw rc 1048576 B": {
			Failed: []FailedTest{{small, gone}}, NotBegun: []Test{large}, Of: 2,
		},
		"measure send bw rc 64 B: gone; not begun after that: send bw rc 1048576 B and 1 more": {
			Failed: []FailedTest{{small, gone}}, NotBegun: []Test{large, small}, Of: 3,
		},
	} {
		if d := cmp.Diff(want, e.Error()); d != "" {
			t.Error(d)
		}
		if !errors.Is(&e, e.Failed[0].Err) {
			t.Errorf("%v is not what it comes of", &e)
		}
	}
}

// TestAgain: after a test that the server refused the next can begin.
func TestAgain(t *testing.T) {
	conn := talking(t, nil)
	hello := message{Hello: &Identity{}}
	bad := NewTest(Send, Bandwidth, RC, 0)
	answer, err := ask(t, conn, hello, message{Prepare: &request{Test: bad}})
	if err != nil || !strings.Contains(answer.Failure, "--size 0") {
		t.Fatalf("%+v, %v", answer, err)
	}
	for _, m := range []message{{Finish: &finish{}}, {Failure: "mine"}} {
		if err := m.write(conn); err != nil {
			t.Fatal(err)
		}
	}
	c := &client{talk: newTalk("server", conn)}
	if err := c.again(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

// Loops share the processors of a list, and no others.
func TestPick(t *testing.T) {
	for _, c := range []struct {
		list, taken, want []int
		n                 int
		shared            bool
	}{
		{[]int{2, 5}, nil, []int{2}, 1, false},
		{[]int{2, 5}, []int{2}, []int{5}, 1, false},
		{[]int{2, 5}, []int{2, 5}, []int{2}, 1, true},
		{[]int{2, 5}, []int{7}, []int{2, 5, 2}, 3, true},
	} {
		got, shared := CPUs{List: c.list}.pick("rxe0", c.n, c.taken)
		if d := cmp.Diff(c.want, got); d != "" || shared != c.shared {
			t.Errorf("%+v: shared %v\n%s", c, shared, d)
		}
	}
	if got, shared := (CPUs{Off: true}).pick("rxe0", 2, nil); got != nil || shared {
		t.Errorf("off: %v, %v", got, shared)
	}
}

func TestWhose(t *testing.T) {
	for head, want := range map[string]string{"6.06": "--peer perftest", "0000": "--peer pingpong", "1f2a": "--peer pingpong", "GET ": "another program"} {
		if _, err := readMessage(strings.NewReader(head + "16 bytes or more")); !errors.Is(err, errMessage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", head, err)
		}
	}
}
