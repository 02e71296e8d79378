//go:build guest

// Package peers runs ibkit perf with Debian's programs in a single guest.
package peers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// A Test has the command line for their program and the ibkit perf options, both without
// the message count and ports: "ib_send_lat -s 64" and "--peer perftest --test send-lat".
type Test [2]string

// Options are common to all tests.
type Options struct {
	Address string   // guest address
	Count   string   // message count
	Common  []string // options for their programs
}

// firstPort is the first server's TCP port.
const firstPort = 18600

// Run runs each test with the other program as server and as client.
func Run(t *testing.T, g *guest.Guest, o Options, tests []Test) {
	for i, test := range tests {
		t.Run(test[0], func(t *testing.T) {
			port := firstPort + 2*i
			ours := append(strings.Fields(test[1]), "-n", o.Count)
			theirs := func(port int) []string {
				return slices.Concat(strings.Fields(test[0]), o.Common, []string{"-n", o.Count, "-p", fmt.Sprint(port)})
			}
			server := g.MustStart(t, theirs(port)...)
			listens := fmt.Sprintf("grep -q ':%04X .* 0A ' /proc/net/tcp /proc/net/tcp6", port)
			if err := g.Await(t.Context(), "sh", "-c", listens); err != nil {
				t.Fatal(err)
			}
			g.Must(t, slices.Concat([]string{"ibkit", "perf", fmt.Sprintf("%s:%d", o.Address, port)}, ours)...)
			Finish(t, server)

			server = g.MustStart(t, slices.Concat([]string{"ibkit", "perf", "--serve", "--bind", fmt.Sprintf(":%d", port+1)}, ours)...)
			if err := server.AwaitOutput(t.Context(), "waiting for a client of"); err != nil {
				t.Fatal(err)
			}
			g.Must(t, append(theirs(port+1), o.Address)...)
			Finish(t, server)
		})
	}
}

// Finish waits for a program, which must succeed.
func Finish(t *testing.T, p *guest.Process) {
	t.Helper()
	r, err := p.Wait(t.Context())
	if err != nil || r.Code != 0 {
		t.Fatalf("got exit code %d, %v, want 0:\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
}

// Verified runs ibkit perf tests against itself, with the options in tests and
// verified payloads.
func Verified(t *testing.T, g *guest.Guest, o Options, tests []string) {
	server := g.MustStart(t, "ibkit", "perf", "--serve")
	if err := server.AwaitOutput(t.Context(), "serving tests"); err != nil {
		t.Fatal(err)
	}
	for _, args := range tests {
		t.Run(args, func(t *testing.T) {
			out := g.Must(t, slices.Concat([]string{"ibkit", "perf", o.Address, "--verify", "-n", o.Count}, strings.Fields(args))...)
			if !strings.Contains(out, "verified") {
				t.Errorf("got no verified payloads:\n%s", out)
			}
		})
	}
}
