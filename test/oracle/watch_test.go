//go:build oracle

package oracle

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// watched returns the events that a running ibkit watch --json has printed, without events
// about the stream, with their subjects and peers.
func watched(t *testing.T, d *ibsimtest.Daemon) (all []string) {
	t.Helper()
	out, _ := d.Output()
	for line := range strings.Lines(out) {
		if !strings.HasSuffix(line, "\n") {
			break // not yet complete
		}
		var e watch.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if e.Kind.IsState() {
			continue
		}
		text := string(e.Kind) + " " + e.Subject
		if c := e.Data.Counter; c != nil && c.Name != nil {
			text += " " + *c.Name
		}
		all = append(all, text)
	}
	return all
}

// expect waits until ibkit watch has printed some events after others, and returns the
// number of all events.
func expect(t *testing.T, d *ibsimtest.Daemon, from int, want ...string) (next int) {
	t.Helper()
	within(t, time.Minute, strings.Join(want, ", "), func() bool {
		got := watched(t, d)[from:]
		return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(got, w) })
	})
	return len(watched(t, d))
}

// TestWatch_Ibsim checks that changes on the console of Debian's ibsim become events:
// links, nodes and counters. iblinkinfo agrees with the last state.
func TestWatch_Ibsim(t *testing.T) {
	s := ibsimtest.New(t, "../nets/multi-port-hosts.net")
	s.OpenSM(t, "gateway")
	d := s.NewDaemon(t, "both-on-one", `"kind":"source-up","severity":"recovery","subject":"counters"`, ibkit(),
		"watch", "--sim", "ibsim", "--sources", "links,counters", "--interval", "50ms", "--window", "200ms", "--json")
	steps := []struct {
		command string
		want    []string
	}{
		{`Unlink "one-unplugged"[2]`, []string{"link-down rail-2[4]", "node-removed one-unplugged"}},
		{`Link "one-unplugged"[2] "rail-2"[4]`, []string{"link-up rail-2[4]", "node-added one-unplugged"}},
		{`Unlink "rail-1"[36]`, []string{"link-down rail-1[36]"}},
		{`PerformanceSet "rail-1"[5] PortCounters.SymbolErrorCounter=40`, []string{"counter-raised rail-1[5] SymbolErrorCounter", "counter-settled rail-1[5] SymbolErrorCounter"}},
		{`Relink "rail-1"`, []string{"link-up rail-1[36]"}},
	}
	from := 0
	for _, step := range steps {
		s.MustCommand(t, step.command)
		from = expect(t, d, from, step.want...)
	}
	if r := d.MustEnd(t, syscall.SIGINT); r.Code != 0 {
		t.Errorf("got exit code %d: %s", r.Code, r.Stderr)
	}
	if out := s.MustRunC(t, "both-on-one", "iblinkinfo", "-l").Stdout; !strings.Contains(out, "one-unplugged") {
		t.Errorf("iblinkinfo does not have one-unplugged:\n%s", out)
	}
}

// TestWatch_OpenSM checks that notices that opensm forwards, and the link changes behind
// them, are in a single stream. Without notices, the next check would take an hour.
func TestWatch_OpenSM(t *testing.T) {
	s := serveLive(t, "--sm=off", "demo")
	s.NewSM(t, "node01", "sweep_interval 600")
	d := s.NewDaemon(t, "node02", `"kind":"source-up","severity":"recovery","subject":"traps"`, ibkit(),
		"watch", "--sim", "ibsim", "--sources", "links,traps", "--interval", "1h", "--json")
	from := 0
	for _, step := range []struct {
		command string
		want    []string
	}{
		{"unlink node06[1]", []string{"notice leaf2", "notice node06", "link-down leaf2[4]", "node-removed node06"}},
		{"link node06[1]", []string{"notice leaf2", "notice node06", "link-up leaf2[4]", "node-added node06"}},
		{"describe node03 a new name", []string{"notice a new name", "node-changed a new name"}},
	} {
		ctl(t, s, step.command)
		from = expect(t, d, from, step.want...)
	}
	if r := d.MustEnd(t, syscall.SIGTERM); r.Code != 0 {
		t.Errorf("got exit code %d: %s", r.Code, r.Stderr)
	}
}
