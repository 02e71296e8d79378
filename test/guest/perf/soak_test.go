//go:build guest

package perf_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/guest"
)

var (
	soakTime = flag.Duration("soak", 10*time.Second, "duration of TestSoak")
	flapTime = flag.Duration("flap", 4*time.Second, "interval at which TestSoak takes the link down")
)

// soakTests are tests that verify payloads. The emulated hosts sometimes pause for longer
// than rc's default timeout, 67 ms.
var soakTests = []string{
	"--test send-bw,write-bw,read-bw -D 500ms --size 64,20000 --qps 2 --qp-timeout 17",
	"--test send-lat,write-lat,read-lat,fetch-add-lat -D 300ms --size 4096 --qp-timeout 17",
	"--test send-bw,write-bw -D 500ms -b --size 100000 --qp-timeout 17",
	"--test send-lat --transport ud -D 300ms --size 1024",
	"--test send-bw,write-lat --transport uc -D 500ms --size 3000",
}

// TestSoak measures repeatedly between two hosts while the link goes down and up. A test
// that ends early must report why, no payload may be corrupted, and at the end the server
// must have the same size as after its first tests, and no verbs objects.
func TestSoak(t *testing.T) {
	t.Parallel()
	spec := guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Wire}},
		Tools:    []string{"rdma", "ip"},
		Programs: []guest.Program{guest.Ibkit},
		Timeout:  *soakTime + 20*time.Minute,
	}
	a, b := guest.NewPair(t, spec, spec)
	server := a.Ports[0].Addr.String()
	serve(t, a)
	measure := func(line string) (whole bool) {
		r := b.MustRun(t, append([]string{"ibkit", "perf", server, "--verify"}, strings.Fields(line)...)...)
		switch {
		case strings.Contains(r.Stdout+r.Stderr, "corrupt"):
			t.Fatalf("%s: exit code %d:\n%s%s", line, r.Code, r.Stdout, r.Stderr)
		case r.Code == 0:
			return true
		case r.Code != 1 && r.Code != 4, !strings.HasPrefix(r.Stderr, "ibkit perf: "):
			t.Fatalf("%s: exit code %d:\n%s%s", line, r.Code, r.Stdout, r.Stderr)
		}
		t.Logf("%s", strings.TrimSpace(r.Stderr))
		return false
	}
	for _, line := range soakTests { // grows Go's heap to its final size
		measure(line)
	}
	before, files := holds(t, a)

	end := time.Now().Add(*soakTime)
	stop, flapped := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for ticker := time.NewTicker(*flapTime); ; {
			select {
			case <-stop:
				flapped <- n
				return
			case <-ticker.C:
				for _, state := range []string{"down", "up"} {
					if _, err := a.Run(t.Context(), guest.Command{Args: []string{"ip", "link", "set", a.Ports[0].Netdev, state}}); err != nil {
						t.Error(err)
					}
					if state == "down" {
						select { // time to plug a cable
						case <-time.After(time.Second):
						case <-stop:
						}
					}
				}
				n++
			}
		}
	}()
	whole, early := 0, 0
	for i := 0; time.Now().Before(end); i++ {
		if measure(soakTests[i%len(soakTests)]) {
			whole++
		} else {
			early++
		}
	}
	close(stop)
	flaps := <-flapped
	t.Logf("%d calls were complete, %d ended early, the link went down %d times", whole, early, flaps)
	if whole+early == 0 || flaps == 0 {
		t.Errorf("got %d calls and %d link failures, want some of each", whole+early, flaps)
	}
	// When the link stays up, tests must succeed again.
	settled := false
	for n := 0; n < 20 && !settled; n++ {
		settled = measure(soakTests[0])
	}
	if !settled {
		t.Error("got no complete test on a stable link")
	}
	const grown = 8 << 10 // accepted growth in KiB: Go's heap takes some dozens of tests to settle
	now, open := holds(t, a)
	t.Logf("the server had %d KiB and has %d KiB", before, now)
	if now > before+grown || open != files {
		t.Errorf("got %d KiB and %d open files of the server, want about %d and %d", now, open, before, files)
	}
	for _, g := range []*guest.Guest{a, b} {
		for _, kind := range []string{"qp", "cq", "mr", "pd"} {
			if left := g.Must(t, "rdma", "resource", "show", kind); strings.Contains(left, "comm ibkit") {
				t.Errorf("got objects, want none:\n%s", left)
			}
		}
	}
}

// holds returns the server's anonymous memory in a guest, in KiB, and the number
// of open files.
func holds(t *testing.T, g *guest.Guest) (kib, files int) {
	t.Helper()
	text := g.Must(t, "sh", "-c", `cd /proc/$(pidof ibkit) && grep RssAnon status && ls fd | wc -l`)
	if _, err := fmt.Sscanf(text, "RssAnon: %d kB\n%d", &kib, &files); err != nil {
		t.Fatalf("%v: %q", err, text)
	}
	return kib, files
}
