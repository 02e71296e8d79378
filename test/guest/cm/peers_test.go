//go:build guest

package cm_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

// cmtimePeers starts a listening peer, the root, and other peers, and returns the output of
// all, the listening peer's first.
func cmtimePeers(t *testing.T, g *guest.Guest, port string, listener []string, others ...[]string) (outputs []string) {
	t.Helper()
	host := g.Ports[0].Addr.String()
	common := []string{"-C", host, "-b", host, "-p", port}
	// On one device, simulated queue pairs of both sides need different numbers.
	root := g.MustStart(t, slices.Concat(listener, common, []string{"-L", "-q", "100000"})...)
	if err := root.AwaitOutput(t.Context(), "Running as OOB root"); err != nil {
		t.Fatal(err)
	}
	var running []*guest.Process
	for _, o := range others {
		running = append(running, g.MustStart(t, slices.Concat(o, common)...))
	}
	for _, p := range append([]*guest.Process{root}, running...) {
		r, err := p.Wait(t.Context())
		if err != nil || r.Code != 0 {
			t.Errorf("got exit code %d, error %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
		}
		outputs = append(outputs, r.Stdout)
	}
	return outputs
}

// rounds matches the first lines of a measured round's table.
var rounds = regexp.MustCompile(`(?m)^(qp|cm)_conn +(\d+)\nthreads +\d+\nstep +avg/conn`)

// checkRounds checks the measured rounds: kind and number of connections.
func checkRounds(t *testing.T, outputs []string, want ...string) {
	t.Helper()
	for i, out := range outputs {
		var got []string
		for _, m := range rounds.FindAllStringSubmatch(out, -1) {
			got = append(got, m[1]+" "+m[2])
		}
		if !slices.Equal(got, want) || strings.Contains(out, "Timeout") {
			t.Errorf("peer %d: got rounds %q, want %q\n%s", i, got, want, out)
		}
	}
}

// TestCmtimePeers runs cmtime as release 65 has it, with ibkit as all peers.
func TestCmtimePeers(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}}, Programs: []guest.Program{guest.Ibkit}})
	ibkit := []string{"ibkit", "cmtime"}
	t.Run("two", func(t *testing.T) {
		c := []string{"-c", "20"}
		checkRounds(t, cmtimePeers(t, g, "7471", append(ibkit, c...), slices.Concat(ibkit, c)), "qp 20", "cm 20")
	})
	t.Run("threads", func(t *testing.T) {
		c := []string{"-c", "50", "-n", "4"}
		checkRounds(t, cmtimePeers(t, g, "7472", append(ibkit, c...), slices.Concat(ibkit, c)), "qp 50", "cm 50")
	})
	t.Run("simulated", func(t *testing.T) {
		c := []string{"-c", "10", "-m", "100"}
		checkRounds(t, cmtimePeers(t, g, "7473", append(ibkit, c...), slices.Concat(ibkit, c)), "cm 10", "cm 10")
	})
	t.Run("three", func(t *testing.T) {
		c := []string{"-c", "10", "-P", "3"}
		outputs := cmtimePeers(t, g, "7474", append(ibkit, c...), slices.Concat(ibkit, c), slices.Concat(ibkit, c))
		checkRounds(t, outputs[:1], "qp 20")
		checkRounds(t, outputs[1:], "qp 10")
	})
}
