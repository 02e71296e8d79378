package crew

import (
	"fmt"
	"io"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCrew_frozen freezes a worker after a number of answers: while it joins, in each round, in
// the last question, and at the end. The others are measured, and the time is bounded.
func TestCrew_frozen(t *testing.T) {
	rounds := []Round{ring("a", "b", "x"), ring("b", "a", "x"), {All: true}}
	for _, test := range []struct {
		answers int // -1: not even in the handshake
		want    string
		longest time.Duration
	}{
		{-1, "missing [x] losses []", 30*time.Second + handshakeLimit},
		{0, "missing [] losses [{x hung 1 no report within 30s}]", firstLimit + 2*minLimit},
		{1, "missing [] losses [{x hung 2 no report within 2s}]", 3 * minLimit},
		{2, "missing [] losses [{x hung 3 no report within 2s}]", 3 * minLimit},
		{3, "missing [] losses []", partLimit + minLimit},
	} {
		t.Run(fmt.Sprint(test.answers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.join(t.Context(), r.options("a"), r.options("b"))
				over := make(chan struct{})
				r.workers.Go(func() {
					if test.answers < 0 {
						conn, err := r.l.Dial(t.Context(), "")
						if err != nil {
							t.Error(err)
							return
						}
						defer conn.Close()
						if _, err := read(conn, maxHandshake); err != nil {
							t.Error(err)
						}
						go func() { _, _ = io.Copy(io.Discard, conn) }()
					} else {
						x := r.puppet("x")
						defer x.Close()
						for range test.answers {
							task := readTask(t, x)
							sendTo(t, x, message{Report: &taskDone{Number: task.Number, Results: make([]Figures, len(task.Sends))}})
						}
						go func() { _, _ = io.Copy(io.Discard, x) }()
					}
					<-over
				})
				began := time.Now()
				c := r.gather("a", "b", "x")
				for i, round := range rounds {
					got, err := c.Round(t.Context(), round)
					if err != nil || !round.All && got[0].State != Measured {
						t.Errorf("round %d of the others: got %v, %v", i+1, text(got), err)
					}
				}
				missing, _ := c.Missing()
				if d := cmp.Diff(test.want, fmt.Sprintf("missing %v losses %v", missing, c.Losses())); d != "" {
					t.Error(d)
				}
				c.Close("")
				if took := time.Since(began); took > test.longest {
					t.Errorf("got %v, want at most %v", took, test.longest)
				}
				close(over)
			})
		})
	}
}

// TestMessage_noTimes checks that messages have durations, not times: clocks of hosts differ.
func TestMessage_noTimes(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var check func(reflect.Type, string)
	check = func(of reflect.Type, path string) {
		if of == reflect.TypeFor[time.Time]() {
			t.Errorf("got a time in %s", path)
		}
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			check(of.Elem(), path)
		case reflect.Struct:
			for f := range of.Fields() {
				check(f.Type, path+"."+f.Name)
			}
		}
	}
	check(reflect.TypeFor[message](), "message")
	if !seen[reflect.TypeFor[time.Duration]()] {
		t.Error("got no duration, want the limit of a task")
	}
}
