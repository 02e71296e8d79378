//go:build guest

package perf_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// Base transport header opcodes (InfiniBand Architecture Specification, volume 1, section
// 9.2.1) that perf tests use: for packets from the client, and for packets from the server.
var opcodes = []struct {
	args                string
	requests, responses []int
}{
	{"--test send-bw --size 8,3000", []int{0, 1, 2, 4}, []int{17}},
	{"--test write-bw --size 8,3000", []int{6, 7, 8, 10}, []int{17}},
	{"--test read-bw --size 8,3000", []int{12}, []int{13, 14, 15, 16}},
	{"--test fetch-add-lat", []int{20}, []int{18}},
	{"--test compare-swap-bw", []int{19}, []int{18}},
	{"--test send-lat,write-lat,read-lat,compare-swap-lat,fetch-add-bw --size 64", []int{4, 10, 17}, []int{4, 10, 17}},
	{"--test send-lat,send-bw --size 8,3000 --transport uc", []int{32, 33, 34, 36}, []int{32, 33, 34, 36}},
	{"--test write-lat --size 8,3000 --transport uc", []int{38, 39, 40, 42}, []int{38, 39, 40, 42}},
	{"--test write-bw --size 8,3000 --transport uc --verify=false", []int{38, 39, 40, 42}, nil}, // the target cannot detect arrivals
	{"--test send-lat,send-bw --size 512 --transport ud", []int{100}, []int{100}},
}

// A peerLine has the command lines for a program and for ibkit perf.
type peerLine struct{ theirs, ours string }

// others are programs that test with ibkit perf, each as client and as server: each transport
// and each perftest operation, and the pingpongs with a single queue and with several.
var others = []peerLine{
	{"ib_send_lat -x 1 -F -s 3000 -c UC", "--peer perftest --test send-lat -s 3000 --transport uc"},
	{"ib_send_bw -x 1 -F -s 512 -c UD", "--peer perftest --test send-bw -s 512 --transport ud"},
	{"ib_write_lat -x 1 -F -s 3000", "--peer perftest --test write-lat -s 3000"},
	{"ib_read_bw -x 1 -F -s 3000", "--peer perftest --test read-bw -s 3000"},
	{"ib_atomic_lat -x 1 -F -A CMP_AND_SWAP", "--peer perftest --test compare-swap-lat"},
	{"ibv_ud_pingpong -g 1 -s 512", "--peer pingpong --transport ud -s 512 --verify"},
	{"ibv_srq_pingpong -g 1 -q 4 -s 3000", "--peer pingpong --srq 4 -s 3000"},
}

// moreOthers complete others: each perftest test with each transport that perftest has for
// it, and each pingpong.
var moreOthers = []peerLine{
	{"ib_send_lat -x 1 -F -s 3000", "--peer perftest --test send-lat -s 3000"},
	{"ib_send_lat -x 1 -F -s 512 -c UD", "--peer perftest --test send-lat -s 512 --transport ud"},
	{"ib_send_bw -x 1 -F -s 3000", "--peer perftest --test send-bw -s 3000"},
	{"ib_send_bw -x 1 -F -s 3000 -c UC", "--peer perftest --test send-bw -s 3000 --transport uc"},
	{"ib_write_lat -x 1 -F -s 3000 -c UC", "--peer perftest --test write-lat -s 3000 --transport uc"},
	{"ib_write_bw -x 1 -F -s 3000", "--peer perftest --test write-bw -s 3000"},
	{"ib_write_bw -x 1 -F -s 3000 -c UC", "--peer perftest --test write-bw -s 3000 --transport uc"},
	{"ib_read_lat -x 1 -F -s 3000", "--peer perftest --test read-lat -s 3000"},
	{"ib_atomic_lat -x 1 -F -A FETCH_AND_ADD", "--peer perftest --test fetch-add-lat"},
	{"ib_atomic_bw -x 1 -F -A FETCH_AND_ADD", "--peer perftest --test fetch-add-bw"},
	{"ib_atomic_bw -x 1 -F -A CMP_AND_SWAP", "--peer perftest --test compare-swap-bw"},
	{"ibv_rc_pingpong -g 1 -s 3000", "--peer pingpong -s 3000 --verify"},
	{"ibv_uc_pingpong -g 1 -s 3000", "--peer pingpong --transport uc -s 3000 --verify"},
}

// TestWire runs each test between two hosts, with verified payloads, and compares the
// opcodes on the wire by Wireshark's dissector.
func TestWire(t *testing.T) {
	t.Parallel()
	capture := filepath.Join(t.TempDir(), "wire.pcap")
	spec := guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Wire}},
		Programs: []guest.Program{guest.Ibkit},
	}
	lines := testenv.Cases(others, moreOthers...)
	for _, c := range lines {
		spec.Tools = append(spec.Tools, strings.Fields(c.theirs)[0])
	}
	slices.Sort(spec.Tools)
	spec.Tools = slices.Compact(spec.Tools)
	listening := spec
	listening.Capture = capture
	a, b := guest.NewPair(t, listening, spec)
	server := a.Ports[0].Addr.String()
	serve(t, a)
	for _, c := range opcodes {
		args := append([]string{"ibkit", "perf", server, "-n", "20", "--verify"}, strings.Fields(c.args)...)
		b.Must(t, args...)
	}
	for i, c := range lines {
		tcp := 18600 + 2*i
		theirs := append(strings.Fields(c.theirs), "-d", "rxe0", "-n", "50", "-p", fmt.Sprint(tcp))
		ours := append(strings.Fields(c.ours), "-n", "50")
		p := a.MustStart(t, theirs...)
		if err := a.AwaitTCP(t.Context(), uint16(tcp)); err != nil {
			t.Fatal(err)
		}
		b.Must(t, append([]string{"ibkit", "perf", fmt.Sprintf("%s:%d", server, tcp)}, ours...)...)
		finish(t, p)

		p = a.MustStart(t, append([]string{"ibkit", "perf", "--serve", "--bind", fmt.Sprintf(":%d", tcp+1)}, ours...)...)
		if err := a.AwaitTCP(t.Context(), uint16(tcp+1)); err != nil {
			t.Fatal(err)
		}
		theirs[len(theirs)-1] = fmt.Sprint(tcp + 1)
		b.Must(t, append(theirs, server)...)
		finish(t, p)
	}
	client := b.Ports[0].Addr.String()
	if err := a.Close(); err != nil {
		t.Log(err) // a server was running
	}
	seen := dissect(t, capture)
	for _, c := range opcodes {
		for _, direction := range []struct {
			from string
			want []int
		}{{client, c.requests}, {server, c.responses}} {
			for _, opcode := range direction.want {
				if seen[fmt.Sprintf("%s %d", direction.from, opcode)] == 0 {
					t.Errorf("%s: got no packet from %s with opcode %d", c.args, direction.from, opcode)
				}
			}
		}
	}
	t.Logf("packets by sender and opcode: %v", seen)
}

// dissect counts the RoCE v2 packets in a capture by sender and opcode.
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
		// The dissector guesses payload protocols, and random payloads sometimes look like
		// Ethernet or RPC: only InfiniBand headers count.
		if len(fields) != 3 || fields[1] == "" || strings.Contains(fields[2], "Malformed Packet: InfiniBand") {
			t.Fatalf("got %q from tshark, want a valid packet", line)
		}
		seen[fields[0]+" "+fields[1]]++
	}
	return seen
}
