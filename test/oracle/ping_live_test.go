//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// pingFabrics are ibsim with opensm, and ibkit's simulator.
var pingFabrics = map[string]func(t *testing.T) *pingFabric{
	"ibsim": func(t *testing.T) *pingFabric {
		s := ibsimtest.New(t, "../nets/parallel-links-and-router.net")
		// In a sweep, opensm sends SMInfo to each client that acts as a manager, as
		// Debian's ping server does. That ends the server: libumad2sim.so crashes on a
		// class without a registration.
		s.NewSM(t, "host-a", "sweep_on_trap FALSE", "sweep_interval 0")
		return &pingFabric{Sim: s, server: "host-b", client: "host-a"}
	},
	"sim serve": func(t *testing.T) *pingFabric {
		return &pingFabric{Sim: serveLive(t, "demo"), server: "node05", client: "node07"}
	},
}

// newPingFabric starts a fabric and looks up the server addresses.
func newPingFabric(t *testing.T, name string) *pingFabric {
	t.Helper()
	f := pingFabrics[name](t)
	f.lookUp(t)
	return f
}

// pingServers start a server at a node.
var pingServers = map[string]func(t *testing.T, f *pingFabric){
	"Debian's": func(t *testing.T, f *pingFabric) { f.NewPingServer(t, f.server) },
	"ibkit's": func(t *testing.T, f *pingFabric) {
		f.NewDaemon(t, f.server, "starting to serve", ibkit(), "ibping", "-S", "-d")
	},
	"ping --serve": func(t *testing.T, f *pingFabric) {
		f.NewDaemon(t, f.server, "serving pings", ibkit(), "ping", "--serve")
	},
}

// TestPing pings all servers with both clients on both simulators.
func TestPing(t *testing.T) {
	for i, fabric := range slices.Sorted(maps.Keys(pingFabrics)) {
		for k, server := range slices.Sorted(maps.Keys(pingServers)) {
			t.Run(fabric+", "+server, func(t *testing.T) {
				t.Parallel()
				f := newPingFabric(t, fabric)
				pingServers[server](t, f)
				f.comparePings(t, i+k, len(pingServers))
			})
		}
	}
}

// TestPingInterrupted ends the clients by a signal. They must print a summary.
func TestPingInterrupted(t *testing.T) {
	f := newPingFabric(t, "sim serve")
	pingServers["ping --serve"](t, f)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		want := f.NewDaemonC(t, f.client, "Pong from", "ibping", f.lid).MustEnd(t, signal)
		got := f.NewDaemon(t, f.client, "Pong from", ibkit(), "ibping", f.lid).MustEnd(t, signal)
		// The C tool prints from its signal handler, at any point in its work: its numbers
		// and the lines before may be out of date.
		if w, g := summaryOf(want.Stdout), summaryOf(got.Stdout); got.Code != want.Code || g != w || w == "" {
			t.Errorf("%v: got exit code %d, want %d:\n%s", signal, got.Code, want.Code, cmp.Diff(w, g))
		}
		if !strings.Contains(got.Stdout, "1 packets transmitted, 1 received, 0% packet loss") {
			t.Errorf("%v: %s", signal, got.Stdout)
		}
	}
}

var digits = regexp.MustCompile(`\d+`)

// summaryOf returns the summary in the ibping output, without numbers.
func summaryOf(stdout string) string {
	_, summary, _ := strings.Cut(stdout, "\n---")
	return digits.ReplaceAllString(summary, "N")
}

// TestPingServer compares a server's counters with the requests to it.
func TestPingServer(t *testing.T) {
	f := newPingFabric(t, "sim serve")
	s := f.NewDaemon(t, f.server, "serving pings", ibkit(), "ping", "--serve", "--json", "--debug")
	flood(t, f.Sim, "node08", f.lid)
	f.MustRun(t, f.client, ibkit(), "ibping", "-f", "-c", "10", f.lid)
	f.MustRun(t, f.client, ibkit(), "ibping", "-f", "-c", "1", "-t", "50", "-o", "1", f.lid) // sent three times
	r := s.MustEnd(t, syscall.SIGTERM)
	if r.Code != 0 {
		t.Errorf("got exit code %d, want 0: %s", r.Code, r.Stderr)
	}
	schema, err := jsonschema.NewCompiler().Compile("../../schema/ping-serve.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal([]byte(r.Stdout), &document); err != nil {
		t.Fatalf("%v: %s", err, r.Stdout)
	}
	if err := schema.Validate(document); err != nil {
		t.Errorf("%v\n%s", err, r.Stdout)
	}
	var got struct {
		Received, Answered, Ignored int
		Sources                     []struct{ LID, Received, Answered int }
	}
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil {
		t.Fatal(err)
	}
	if got.Ignored != 3 || got.Answered != 110 || got.Received != 110 || len(got.Sources) != 2 {
		t.Errorf("counted %s", r.Stdout)
	}
	if n := strings.Count(r.Stderr, "level=DEBUG"); n != got.Received+got.Ignored {
		t.Errorf("%d lines in the log, %d packets", n, got.Received+got.Ignored)
	}
	want := fmt.Sprintf("LID %s", lidOf(t, f.Sim, f.client))
	if !strings.Contains(r.Stderr, want) {
		t.Errorf("%s is not in the log", want)
	}
}
