package crew

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestGather_refused checks that a worker that may not join is named on both sides, and
// that the others do not notice.
func TestGather_refused(t *testing.T) {
	for name, test := range map[string]struct {
		change       func(*WorkerOptions)
		want, worker string
	}{
		"wrong token":     {func(o *WorkerOptions) { o.Token = "guess" }, "pipe: wrong token, from a worker with the name b", "wrong token, from a worker with the name b"},
		"other version":   {func(o *WorkerOptions) { o.Version = "1.2.4" }, "b (pipe): version 1.2.4, want 1.2.3", "version 1.2.4, want 1.2.3"},
		"name twice":      {func(o *WorkerOptions) { o.Name = "a" }, "a (pipe): name already in use at pipe", "name already in use at pipe"},
		"unexpected name": {func(o *WorkerOptions) { o.Name = "z" }, "z (pipe): unexpected name", "unexpected name"},
		"invalid name":    {func(o *WorkerOptions) { o.Name = "b\x1b[2J" }, "b [2J (pipe): invalid name", "invalid name"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				r.join(t.Context(), r.options("a"))
				crew := make(chan *Crew)
				go func() { crew <- r.gather("a", "b") }()
				synctest.Wait() // a has joined
				o := r.options("b")
				test.change(&o)
				var refused error
				r.workers.Go(func() {
					_, refused = Work(t.Context(), o)
				})
				c := <-crew
				if missing, _ := c.Missing(); !cmp.Equal(missing, []string{"b"}) {
					t.Errorf("got missing %v, want b", missing)
				}
				if got, err := c.Round(t.Context(), Round{All: true}); err != nil || len(got) > 0 {
					t.Errorf("round of the others: got %v, %v", got, err)
				}
				got, n := c.Refused()
				if n != 1 || got[0].String() != test.want {
					t.Errorf("coordinator: got %v, want %q", got, test.want)
				}
				c.Close("")
				r.workers.Wait()
				join, ok := errors.AsType[*JoinError](refused)
				if want := "join the coordinator at c: refused: " + test.worker; !ok || !join.Refused || join.Error() != want {
					t.Errorf("worker: got %v, want %q", refused, want)
				}
			})
		})
	}
}

// TestGather_foreign checks that programs with another protocol are refused in limited
// time.
func TestGather_foreign(t *testing.T) {
	for name, test := range map[string]struct {
		sends string
		close bool
		want  string
	}{
		"HTTP":         {"GET / HTTP/1.1\r\n\r\n", false, `not a worker: it begins with "GET "`},
		"silence":      {"", false, "not a worker: no answer within 10s"},
		"port scan":    {"", true, "not a worker: the connection ended"},
		"drip":         {"\x00\x00\x00\x09{", false, "not a worker: no answer within 10s"},
		"other object": {"\x00\x00\x00\x02{}", false, "not a worker: the peer sent an invalid message"},
		"long":         {"\x00\x02\x00\x00", false, `not a worker: it begins with "\x00\x02\x00\x00"`},
		"short nonce":  {"\x00\x00\x00\x15" + `{"join":{"name":"a"}}`, false, "not a worker: the peer sent an invalid message"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				go func() {
					conn, err := r.l.Dial(t.Context(), "")
					if err != nil {
						t.Error(err)
						return
					}
					if test.close {
						conn.Close()
						return
					}
					go func() { _, _ = io.Copy(io.Discard, conn) }()
					_, _ = io.WriteString(conn, test.sends) // the coordinator may have closed the connection
				}()
				_, err := Gather(t.Context(), r.l, Options{Token: token, Version: version, Count: 1, Within: time.Minute, Event: func(e Event) {
					if e.Refused == nil || e.Refused.Reason != test.want || e.Refused.From != "pipe" {
						t.Errorf("got %+v, want a refusal because of %q", e.Refused, test.want)
					}
				}})
				if !errors.Is(err, ErrNobody) {
					t.Errorf("got %v, want %v", err, ErrNobody)
				}
			})
		})
	}
}

// TestGather_flood checks that connections without proof are limited in number, and that a
// worker joins nevertheless once they time out.
func TestGather_flood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		const flood = 300
		crew := make(chan *Crew)
		go func() { crew <- r.gather("a") }()
		for range flood {
			conn, err := r.l.Dial(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		}
		r.join(t.Context(), r.options("a"))
		c := <-crew
		defer c.Close("")
		refused, n := c.Refused()
		if len(refused) != maxRefused || n < flood {
			t.Errorf("got %d refusals of %d, want the first %d of at least %d", len(refused), n, maxRefused, flood)
		}
		if got, want := refused[0].Reason, "too many connections without proof"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if members := c.Members(); len(members) != 1 {
			t.Errorf("got members %v, want a", members)
		}
	})
}

// TestGather_missing checks that the run begins with the workers that joined in time.
func TestGather_missing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.join(t.Context(), r.options("n10"), r.options("n2"))
		began := time.Now()
		c := r.gather("n2", "n3", "n10", "n11")
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("got %v for joining, want 30s", took)
		}
		missing, _ := c.Missing()
		if d := cmp.Diff([]string{"n3", "n11"}, missing); d != "" {
			t.Error(d)
		}
		late := r.options("n3")
		late.Within = time.Second
		r.join(t.Context(), late)
		synctest.Wait()
		c.Close("")
		if got := r.end("n3"); !strings.HasSuffix(got, "too late: the run has begun") {
			t.Errorf("late worker: got %q", got)
		}
	})
}

// TestGather_absent checks that the run begins without workers that cannot join.
func TestGather_absent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		absent := make(chan string, 2)
		absent <- "b"
		began := time.Now()
		o := Options{Token: token, Version: version, Expect: []string{"a", "b"}, Within: time.Minute, Absent: absent}
		r.join(t.Context(), r.options("a"))
		c, err := Gather(t.Context(), r.l, o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close("")
		absent <- "a"
		absent <- "b"
		if _, err := Gather(t.Context(), testenv.NewPipes(), o); !errors.Is(err, ErrNobody) {
			t.Errorf("without workers: got %v, want %v", err, ErrNobody)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("got %v for joining, want 0s", took)
		}
	})
}

// TestGather_count checks that any names join without a list, in their natural order.
func TestGather_count(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.join(t.Context(), r.options("n10"), r.options("n9"))
		c, err := Gather(t.Context(), r.l, Options{Token: token, Version: version, Count: 3, Within: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close("")
		names := c.Members()
		if _, missing := c.Missing(); missing != 1 || !cmp.Equal(names, []string{"n9", "n10"}) {
			t.Errorf("got %v and %d missing, want n9, n10 and 1", names, missing)
		}
	})
}

// TestGather_left checks that a worker that leaves while others join frees its name.
func TestGather_left(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.workers.Go(func() {
			conn := r.puppet("a")
			conn.Close()
			synctest.Wait() // the coordinator has noticed it
			r.join(t.Context(), r.options("a"), r.options("b"))
		})
		c := r.gather("a", "b")
		defer c.Close("")
		if got, err := c.Round(t.Context(), ring("a", "b")); err != nil || text(got)[0] != "a>b 1 measured" {
			t.Errorf("got %v, %v, want a round of both", text(got), err)
		}
	})
}

func TestGather_interrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.join(t.Context(), r.options("a"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Gather(ctx, r.l, Options{Token: token, Version: version, Count: 2, Within: time.Minute})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
		if got := r.end("a"); got != "" {
			t.Errorf("got %q, want an end without a summary", got)
		}
	})
}

// TestWork_coordinator checks the errors of a worker about programs that are no coordinator.
func TestWork_coordinator(t *testing.T) {
	for name, test := range map[string]struct {
		serve func(net.Conn)
		want  string
	}{
		"HTTP":    {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n") }, `not a coordinator: it begins with "HTTP"`},
		"closed":  {func(c net.Conn) { c.Close() }, "no coordinator within 1m0s: it closed the connection"},
		"silence": {func(net.Conn) {}, "no coordinator within 1m0s: no answer within 10s"},
		"other token": {func(c net.Conn) {
			other := &Crew{o: Options{Version: version}}
			_, _, _ = other.challenge(c, c)
			sendWelcome(c)
		}, "the coordinator does not know the token"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				defer r.l.Close()
				go func() {
					for {
						conn, err := r.l.Accept()
						if err != nil {
							return
						}
						go test.serve(conn)
					}
				}()
				_, err := Work(t.Context(), r.options("a"))
				if want := "join the coordinator at c: " + test.want; err == nil || err.Error() != want {
					t.Errorf("got %v, want %q", err, want)
				}
			})
		})
	}
}

func sendWelcome(c net.Conn) {
	m := &member{conn: c}
	_ = m.send(message{Welcome: &welcome{Proof: make([]byte, 32)}})
}

// TestWork_candidates checks that a worker tries all addresses: the coordinator of another
// job refuses it, and its own starts later.
func TestWork_candidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, other := newRig(t), newRig(t)
		o := own.options("a")
		o.Coordinators = []string{"other", "unknown", "own"}
		began := time.Now()
		o.Dial = func(ctx context.Context, at string) (net.Conn, error) {
			switch {
			case at == "other":
				return other.l.Dial(ctx, at)
			case at == "own" && time.Since(began) > 5*time.Second:
				return own.l.Dial(ctx, at)
			}
			return nil, fmt.Errorf("lookup %s: no such host", at)
		}
		foreign := make(chan error)
		go func() {
			_, err := Gather(t.Context(), other.l, Options{Token: "other", Version: version, Count: 1, Within: 3 * time.Second})
			foreign <- err
		}()
		own.join(t.Context(), o)
		c := own.gather("a")
		c.Close("done")
		if got := own.end("a"); got != "done" {
			t.Errorf("got %q, want the summary of the own coordinator", got)
		}
		if err := <-foreign; !errors.Is(err, ErrNobody) {
			t.Errorf("other coordinator: got %v, want %v", err, ErrNobody)
		}
	})
}

func TestFanOutHint(t *testing.T) {
	for _, test := range []struct {
		joined, expected int
		want             string
	}{
		{32, 64, "32 of 64 joined, as many as a launcher starts at a time: pdsh -f 64"},
		{64, 100, "64 of 100 joined, as many as a launcher starts at a time: clush -f 100"},
		{32, 32, ""},
		{31, 64, ""},
	} {
		t.Run(fmt.Sprint(test.joined), func(t *testing.T) {
			if got := FanOutHint(test.joined, test.expected); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
