//go:build guest

package perf_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/guest"
)

// The operations of InfiniBand's base transport header (InfiniBand Architecture
// Specification, volume 1, section 9.2.1) that tests of perf have packets of: those
// that the client sends, and those that come back.
var opcodes = []struct {
	args        string
	asks, comes []int
}{
	{"--test send-bw --size 8,3000", []int{0, 1, 2, 4}, []int{17}},
	{"--test write-bw --size 8,3000", []int{6, 7, 8, 10}, []int{17}},
	{"--test read-bw --size 8,3000", []int{12}, []int{13, 14, 15, 16}},
	{"--test fetch-add-lat", []int{20}, []int{18}},
	{"--test compare-swap-bw", []int{19}, []int{18}},
	{"--test send-lat,write-lat --size 64", []int{4, 10, 17}, []int{4, 10, 17}},
	{"--test send-lat --size 8,3000 --transport uc", []int{32, 33, 34, 36}, []int{32, 33, 34, 36}},
	{"--test write-lat --size 8,3000 --transport uc", []int{38, 39, 40, 42}, []int{38, 39, 40, 42}},
	{"--test send-lat --size 512 --transport ud", []int{100}, []int{100}},
}

// TestWire runs each test between two hosts, payloads verified, and has Wireshark's
// dissector say what it saw between them.
func TestWire(t *testing.T) {
	capture := filepath.Join(t.TempDir(), "wire.pcap")
	spec := guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Wire}},
		Tools:    []string{"ib_send_bw", "ib_read_lat", "ibv_uc_pingpong"},
		Programs: []guest.Program{guest.Ibkit},
		Timeout:  4 * time.Minute,
	}
	listening := spec
	listening.Capture = capture
	a, b := guest.NewPair(t, listening, spec)
	server := a.Ports[0].Addr.String()
	serve(t, a)
	for _, c := range opcodes {
		args := append([]string{"ibkit", "perf", server, "-n", "20", "--verify"}, strings.Fields(c.args)...)
		b.Must(t, args...)
	}
	// Programs of others at either end.
	for i, c := range []struct{ theirs, ours string }{
		{"ib_send_bw -d rxe0 -x 1 -F -n 50 -s 5000", "--peer perftest --test send-bw -n 50 -s 5000"},
		{"ib_read_lat -d rxe0 -x 1 -C -n 50", "--peer perftest --test read-lat -n 50"},
		{"ibv_uc_pingpong -d rxe0 -g 1 -n 50", "--peer pingpong --transport uc -n 50 --verify"},
	} {
		tcp := 18600 + 2*i
		theirs := append(strings.Fields(c.theirs), "-p", fmt.Sprint(tcp))
		p := a.MustStart(t, theirs...)
		if err := a.AwaitTCP(t.Context(), uint16(tcp)); err != nil {
			t.Fatal(err)
		}
		b.Must(t, append([]string{"ibkit", "perf", fmt.Sprintf("%s:%d", server, tcp)}, strings.Fields(c.ours)...)...)
		finish(t, p)

		ours := a.MustStart(t, append([]string{"ibkit", "perf", "--serve", "--listen", fmt.Sprintf(":%d", tcp+1)}, strings.Fields(c.ours)...)...)
		if err := a.AwaitTCP(t.Context(), uint16(tcp+1)); err != nil {
			t.Fatal(err)
		}
		theirs[len(theirs)-1] = fmt.Sprint(tcp + 1)
		b.Must(t, append(theirs, server)...)
		finish(t, ours)
	}
	client := b.Ports[0].Addr.String()
	if err := a.Close(); err != nil {
		t.Log(err) // it was ended with a server running
	}
	seen := dissect(t, capture)
	for _, c := range opcodes {
		for _, way := range []struct {
			from string
			want []int
		}{{client, c.asks}, {server, c.comes}} {
			for _, opcode := range way.want {
				if seen[fmt.Sprintf("%s %d", way.from, opcode)] == 0 {
					t.Errorf("%s: no packet from %s with opcode %d", c.args, way.from, opcode)
				}
			}
		}
	}
	t.Logf("packets by sender and opcode: %v", seen)
}

// dissect counts the packets of RoCE v2 in a capture by their sender and opcode.
func dissect(t *testing.T, capture string) map[string]int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "tshark", "-r", capture, "-Y", "udp.dstport == 4791",
		"-T", "fields", "-e", "ip.src", "-e", "infiniband.bth.opcode", "-e", "_ws.malformed").Output()
	if err != nil {
		t.Fatalf("tshark: %v", err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		// The dissector guesses at what payloads are, and random ones look like
		// Ethernet or RPC now and then: only InfiniBand's own headers count.
		if len(fields) != 3 || fields[1] == "" || strings.Contains(fields[2], "Malformed Packet: InfiniBand") {
			t.Fatalf("tshark says %q", line)
		}
		seen[fields[0]+" "+fields[1]]++
	}
	return seen
}
