//go:build inguest

package perf

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"
)

// serving starts a server, and returns where it listens.
func serving(t *testing.T, change func(*ServeOptions)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := ServeOptions{
		Identity: NewIdentity("server"), GIDIndex: -1, MaxClients: DefaultMaxClients, MaxQueuePairs: DefaultMaxQueuePairs,
		MaxMemory: DefaultMaxMemory, MaxTime: DefaultMaxTime, Idle: DefaultIdle,
		Tell: func(e Event) {
			if e.Err != nil {
				t.Log("server:", e.Test, e.Err)
			}
		},
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// every returns each kind of test that there is, with verification.
func every(sizes ...int) []Test {
	var all []Test
	for _, transport := range []Transport{RC, UC, UD} {
		for _, op := range Ops {
			for _, kind := range []Kind{Latency, Bandwidth} {
				for _, both := range []bool{false, true} {
					for _, size := range sizes {
						t := NewTest(op, kind, transport, size)
						t.Iterations, t.Warmup, t.Verify, t.Bidirectional = 60, 10, true, both
						if transport == UC && op == Write && kind == Bandwidth {
							t.Verify = false
						}
						if transport == UD {
							t.Size = min(t.Size, 1024)
						}
						if t.Check() == nil && (!op.atomic() || size == sizes[0]) {
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
	server := serving(t, nil)
	for _, test := range every(2, 5000) {
		t.Run(fmt.Sprintf("%v %v", test, test.Bidirectional), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
			defer cancel()
			r, err := Run(ctx, Options{Server: server, Tests: []Test{test}, Identity: NewIdentity("client"), GIDIndex: -1})
			if err != nil {
				t.Fatal(err)
			}
			m := r.Measurements[0]
			if test.Kind == Latency {
				if m.Latency.Count < 50 || m.Latency.Min <= 0 {
					t.Errorf("%+v", m.Latency)
				}
				t.Logf("%v: %d rounds, min %d avg %.0f p99 %d max %d ns", test, m.Latency.Count, m.Latency.Min, m.Latency.Avg(), m.Latency.Quantile(99), m.Latency.Max)
			} else {
				t.Logf("%v: %d messages %.1f MB/s; %+v %v", test, m.Sent.Messages, m.Sent.Rate()/1e6, m.ClientSide, m.ServerSide.Counters)
			}
		})
	}
}
