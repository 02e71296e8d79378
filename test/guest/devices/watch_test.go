//go:build guest

package devices_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/test/guest"
)

// libstdbuf is the stdbuf library: ibv_asyncwatch does not flush its output.
const libstdbuf = "/usr/libexec/coreutils/libstdbuf.so"

// asyncEvents returns the events that ibv_asyncwatch has printed.
func asyncEvents(out string) (all []string) {
	for line := range strings.Lines(out) {
		if _, event, ok := strings.Cut(line, "event_type "); ok {
			name, _, _ := strings.Cut(strings.TrimPrefix(event, "IBV_EVENT_"), " (")
			all = append(all, name)
		}
	}
	return all
}

// TestWatchStream checks that ibkit watch reports the same asynchronous device events as
// Debian's ibv_asyncwatch, in the same order, and devices and network devices besides.
func TestWatchStream(t *testing.T) {
	t.Parallel()
	s := spec
	s.Tools = append(slices.Clone(s.Tools), "ibv_asyncwatch", "stdbuf")
	s.Files = map[string]string{libstdbuf: libstdbuf}
	g := guest.New(t, s)
	netdev := g.Ports[0].Netdev
	await := func(p *guest.Process, text string) {
		t.Helper()
		if err := p.AwaitOutput(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	theirs := g.MustStart(t, "stdbuf", "-oL", "ibv_asyncwatch", "-d", "rxe0")
	await(theirs, "rxe0: async event FD")
	ours := g.MustStart(t, "ibkit", "watch", "--json")
	await(ours, `"kind":"source-up","severity":"recovery","subject":"local"`)
	await(ours, `"detail":"RDMA devices of this host"`)
	for range 3 {
		g.Must(t, "ip", "link", "set", netdev, "down")
		await(ours, `"kind":"netdev-down"`)
		g.Must(t, "ip", "link", "set", netdev, "up")
		await(ours, `"kind":"netdev-up"`)
	}
	g.Must(t, "rdma", "link", "delete", "rxe1")
	await(ours, `"kind":"device-removed"`)
	g.Must(t, "rdma", "link", "add", "rxe9", "type", "rxe", "netdev", g.Ports[1].Netdev)
	await(ours, `"kind":"device-added"`)
	var results []guest.Result
	for _, p := range []*guest.Process{ours, theirs} {
		if err := p.Signal(unix.SIGINT); err != nil {
			t.Fatal(err)
		}
		r, err := p.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if r := results[0]; r.Code != 0 {
		t.Errorf("got exit code %d: %s", r.Code, r.Stderr)
	}
	var got, others []string
	for line := range strings.Lines(results[0].Stdout) {
		var e watch.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		switch {
		case e.Kind == "device-event" && *e.Data.Device.Name == "rxe0":
			got = append(got, *e.Data.Device.Type)
		case e.Kind == "device-added", e.Kind == "device-removed":
			others = append(others, string(e.Kind)+" "+e.Subject)
		case e.Kind == "netdev-up", e.Kind == "netdev-down":
			others = append(others, string(e.Kind))
		}
	}
	want := asyncEvents(results[1].Stdout)
	if !slices.Equal(got, want) || slices.Index(want, "PORT_ERR") < 0 || slices.Index(want, "PORT_ACTIVE") < 0 {
		t.Errorf("got %q, ibv_asyncwatch has %q\n%s", got, want, results[1].Stdout)
	}
	flap := []string{"netdev-down", "netdev-up"}
	if want := append(slices.Repeat(flap, 3), "device-removed rxe1", "device-added rxe9"); !slices.Equal(others, want) {
		t.Errorf("got %q, want %q", others, want)
	}
}
