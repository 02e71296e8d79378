//go:build inguest

package perf

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
)

// startServer starts a server and returns its address.
func startServer(t *testing.T, change func(*ServeOptions)) string {
	t.Helper()
	l := testenv.Listen(t)
	o := DefaultServeOptions()
	o.Identity = host.NewIdentity("server")
	o.Report = func(e Event) {
		if e.Err != nil {
			t.Log("server:", e.Test, e.Err)
		}
	}
	if change != nil {
		change(&o)
	}
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// allTests returns all test kinds, with verification. By default each has a single size:
// the first, or in both directions the last.
func allTests(sizes ...int) []Test {
	var all []Test
	last := len(sizes) - 1
	for _, transport := range []Transport{RC, UC, UD} {
		for _, op := range Ops {
			for _, kind := range []Kind{Latency, Bandwidth} {
				for _, both := range []bool{false, true} {
					for i, size := range sizes {
						if !testenv.AllCases() && (both && i != last && !op.Atomic() || !both && i != 0) {
							continue
						}
						t := NewTest(op, kind, transport, size)
						t.Iterations, t.Warmup, t.Verify, t.Bidirectional = 60, 10, true, both
						if transport == UC && op == Write && kind == Bandwidth {
							t.Verify = false
						}
						if transport == UD {
							t.Size = min(t.Size, 1024)
						}
						if t.Check() == nil && (!op.Atomic() || size == sizes[0]) {
							all = append(all, t)
						}
						if t.Imm = true; t.Check() == nil {
							all = append(all, t)
						}
					}
				}
			}
		}
	}
	return all
}

func TestGuestEvery(t *testing.T) {
	server := startServer(t, nil)
	for _, test := range allTests(2, 5000) {
		t.Run(fmt.Sprintf("%v %v", test, test.Bidirectional), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			r, err := Run(ctx, Options{Server: server, Tests: []Test{test}, Identity: host.NewIdentity("client"), GIDIndex: -1})
			if err != nil {
				t.Fatal(err)
			}
			m := r.Measurements[0]
			if test.Kind == Latency {
				if m.Latency.Count < 50 || m.Latency.Min <= 0 {
					t.Errorf("got %+v, want at least 50 samples above 0", m.Latency)
				}
				t.Logf("%v: %d rounds, min %d avg %.0f p99 %d max %d ns", test, m.Latency.Count, m.Latency.Min, m.Latency.Avg(), m.Latency.Quantile(99), m.Latency.Max)
			} else {
				t.Logf("%v: %d messages %.1f MB/s; %+v %v", test, m.Sent.Messages, m.Sent.Rate()/1e6, m.ClientSide, m.ServerSide.Counters)
			}
		})
	}
}

// TestGuestMixed runs tests with random option combinations.
func TestGuestMixed(t *testing.T) {
	server := startServer(t, nil)
	r := rand.New(rand.NewPCG(7, 25))
	one := func(of ...int) int { return of[r.IntN(len(of))] }
	coin := func() bool { return r.IntN(2) == 1 }
	for done := 0; done < testenv.Rounds(12, 40); {
		test := NewTest(Ops[r.IntN(len(Ops))], Bandwidth, []Transport{RC, RC, UC, UD}[r.IntN(4)], one(1, 64, 200, 1024, 9000))
		if coin() {
			test.Kind = Latency
		}
		test.Iterations, test.Warmup = uint64(one(1, 7, 100)), uint64(one(0, 3))
		test.Depth, test.RecvDepth, test.Moderation, test.List = one(1, 2, 128), one(128, 512), one(1, 5, 200), one(1, 3, 16)
		test.Inline, test.Events, test.Bidirectional = coin() && test.Size <= 200, coin(), coin()
		if test.Kind == Bandwidth {
			test.QueuePairs = one(1, 4)
			test.Threads = one(1, 2)
		}
		if test.Verify = coin(); test.Transport == UC && test.Op == Write && test.Kind == Bandwidth {
			test.Verify = false
		}
		if test.Check() != nil || test.Transport == UD && test.Size > 1024 {
			continue
		}
		done++
		t.Run(fmt.Sprint(done, test), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			result, err := Run(ctx, Options{Server: server, Tests: []Test{test}, Identity: host.NewIdentity("client"), GIDIndex: -1})
			if err != nil {
				t.Fatalf("%+v: %v", test, err)
			}
			m := result.Measurements[0]
			if test.Kind == Bandwidth && m.Sent.Messages == 0 || test.Kind == Latency && m.Latency.Count == 0 {
				t.Errorf("%+v: got no figures", test)
			}
		})
	}
}

// TestGuestClients connects several clients to the same server, and a client too many.
func TestGuestClients(t *testing.T) {
	const clients = 3
	server := startServer(t, func(o *ServeOptions) { o.MaxClients = clients })
	var ready, all sync.WaitGroup
	ready.Add(clients)
	release := make(chan struct{})
	for i := range clients {
		all.Go(func() {
			first := NewTest(Write, Latency, RC, 64)
			second := NewTest(Send, Bandwidth, RC, 3000+i)
			first.Iterations, second.Iterations, second.Verify = 20, 200, true
			done := 0
			_, err := Run(t.Context(), Options{
				Server: server, Tests: []Test{first, second}, Identity: host.NewIdentity("client"), GIDIndex: -1,
				Done: func(*Measurement) {
					if done++; done == 1 {
						ready.Done()
						<-release
					}
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	ready.Wait()
	_, err := Run(t.Context(), Options{Server: server, Tests: []Test{NewTest(Send, Latency, RC, 2)}, Identity: host.NewIdentity("client"), GIDIndex: -1})
	if err == nil || !strings.Contains(err.Error(), "max-clients") {
		t.Errorf("one client too many: got %v, want a refusal", err)
	}
	close(release)
	all.Wait()
}

// TestGuestInterrupted checks that an interrupted test returns its figures as partial.
func TestGuestInterrupted(t *testing.T) {
	server := startServer(t, nil)
	for _, kind := range []Kind{Latency, Bandwidth} {
		test := NewTest(Write, kind, RC, 64)
		test.Iterations, test.Warmup, test.Duration = 0, 0, time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		r, err := Run(ctx, Options{Server: server, Tests: []Test{test}, Identity: host.NewIdentity("client"), GIDIndex: -1})
		if !errors.Is(err, context.DeadlineExceeded) || len(r.Measurements) != 1 || !r.Measurements[0].Partial {
			t.Fatalf("%s: got %+v, %v, want a partial measurement and %v", kind, r, err, context.DeadlineExceeded)
		}
		if m := r.Measurements[0]; kind == Latency && m.Latency.Count == 0 || kind == Bandwidth && m.Sent.Messages == 0 {
			t.Errorf("%s: got no figures: %+v", kind, m)
		}
	}
}
