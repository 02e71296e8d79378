//go:build guest

package perf_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/guest/cmwire"
)

// TestPerf_CM connects ibkit perf queue pairs with the connection manager.
func TestPerf_CM(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:    []string{"rdma", "strace", "ib_send_lat", "ib_read_bw", "rping"},
		Programs: []guest.Program{guest.Ibkit},
		Files:    map[string]string{libgcc: libgcc},
	})
	showFrequency(t, g)
	server := serve(t, g)
	for _, c := range []struct {
		args string
		code int
		want []string // on either stream
	}{
		{"--test all --size 512 -n 50 --verify --json", 0, []string{`"verified": true`, `"op": "compare-swap"`}},
		{"--test send-bw,write-bw,read-bw --size 4K -n 100 -b --qps 4 --threads 2 --verify --tos 32", 0, []string{"4 queue pairs", "verified"}},
		{"--test send-lat,send-bw,write-lat --size 3000 -n 50 --transport uc --verify", 0, []string{"send over uc latency", "verified"}},
		{"--test send --size 512 -n 50 --transport ud --verify", 0, []string{"send over ud bandwidth", "verified"}},
		{"--test send-bw -n 50 --transport ud --qps 3 -b", 0, []string{"3 queue pairs"}},
		{"--test read-lat -n 50 -x 0", 0, []string{"GID 0 fe80::"}},
		{"--test send-bw --qps 2 --shared-receives -n 50 --events", 0, []string{"2 queue pairs"}},
		{"--test send-lat -n 50 --mtu 512", 1, []string{"use MTU 512: the connection manager has selected 1024"}},
		{"--sl 3", 2, []string{"--sl 3: the connection manager selects it"}},
		{"--tclass 3", 2, []string{"--tclass 3: the type of service determines it"}},
		{"--pkey-index 1", 2, []string{"--pkey-index 1: the connection manager selects it"}},
		{"--tos 256", 2, []string{"not a number from 0 to 255"}},
		{"--peer pingpong", 2, []string{"--cm has no effect with --peer pingpong"}},
		{"--peer perftest --transport uc", 2, []string{"--transport uc: not supported by the programs of perftest with the connection manager"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := g.MustRun(t, append([]string{"ibkit", "perf", "10.0.0.1", "--cm"}, strings.Fields(c.args)...)...)
			for _, want := range c.want {
				if !strings.Contains(r.Stdout+r.Stderr, want) {
					t.Errorf("got no %q in the output", want)
				}
			}
			if r.Code != c.code {
				t.Errorf("got exit code %d, want %d", r.Code, c.code)
			}
			if strings.Contains(c.args, "--json") {
				testenv.CheckSchema(t, "../../../schema/perf.json", r.Stdout)
			}
			if t.Failed() {
				t.Logf("%s%s", r.Stdout, r.Stderr)
			}
		})
	}
	t.Run("other requests", func(t *testing.T) { foreignRequests(t, g) })
	t.Run("killed", func(t *testing.T) { killedClient(t, g) })
	t.Run("calls", func(t *testing.T) { managerCalls(t, g) })
	finishServer(t, server)
	t.Run("peer", func(t *testing.T) { managedPeers(t, g) })
	nothingLeft(t, g)
}

// libgcc is a library that rping loads to end a thread.
const libgcc = "/lib/x86_64-linux-gnu/libgcc_s.so.1"

// foreignRequests connects rping to a test's listener: it is rejected, and the test
// is not affected.
func foreignRequests(t *testing.T, g *guest.Guest) {
	// The listener exists between prepare and connect, for milliseconds.
	const script = `while :; do
		for port in $(rdma resource show cm_id | sed -n 's/.*LISTEN.*comm ibkit src-addr [^ ]*:\([0-9]*\).*/\1/p'); do
			timeout 5 rping -c -a 10.0.0.1 -p $port -C 1 >>/root/rping 2>&1
		done
		[ -e /root/enough ] && exit
	done`
	pings := g.MustStart(t, "sh", "-c", script)
	for range 5 {
		g.Must(t, "ibkit", "perf", "10.0.0.1", "--cm", "--test", "send-bw", "--qps", "32", "-s", "64", "-n", "20", "--verify")
	}
	g.Must(t, "touch", "/root/enough")
	finish(t, pings)
	t.Logf("%d attempts", strings.Count(g.Must(t, "sh", "-c", "touch /root/rping; cat /root/rping"), "connect error"))
}

// killedClient kills a client during a test: the server serves the next client.
func killedClient(t *testing.T, g *guest.Guest) {
	p := client(t, g, "10.0.0.1 --cm --test send-bw")
	awaitTests(t, g, 2)
	if err := p.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitTests(t, g, 0)
	g.Must(t, "ibkit", "perf", "10.0.0.1", "--cm", "--test", "send-lat", "-n", "20")
}

// managerCalls checks a connection's system calls: writes to rdma_cm and waits,
// and no library.
func managerCalls(t *testing.T, g *guest.Guest) {
	r := g.MustRun(t, "strace", "-f", "--seccomp-bpf", "-y", "-e", "trace=openat,read,ioctl,write,writev,mmap,epoll_ctl,poll,fcntl,close",
		"ibkit", "perf", "10.0.0.1", "--cm", "--test", "send-lat", "-n", "20")
	if r.Code != 0 {
		t.Fatalf("got exit code %d, want 0:\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	calls := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^.*\b(\w+)\(\d+</dev/infiniband/rdma_cm>`).FindAllStringSubmatch(r.Stderr, -1) {
		calls[m[1]]++
	}
	for name := range calls {
		switch name {
		case "write", "close", "fcntl", "openat", "epoll_ctl", "poll":
		default:
			t.Errorf("got %s of rdma_cm", name)
		}
	}
	if calls["write"] < 10 || strings.Contains(r.Stderr, "librdmacm") || strings.Contains(r.Stderr, "libibverbs") {
		t.Errorf("got calls %v of rdma_cm, want writes and no library", calls)
	}
	t.Log(calls)
}

// managedPeers runs tests with perftest programs in both roles.
func managedPeers(t *testing.T, g *guest.Guest) {
	for i, c := range []struct{ theirs, ours string }{
		{"ib_send_lat -R -C -s 64 -n 100", "--peer perftest --cm --test send-lat -s 64 -n 100"},
		{"ib_read_bw -R -F -q 2 -s 4096 -n 100 -T 8", "--peer perftest --cm --test read-bw --qps 2 -s 4K -n 100 --tos 8"},
	} {
		t.Run(c.theirs, func(t *testing.T) {
			port := strconv.Itoa(19400 + 2*i)
			theirs := append(strings.Fields(c.theirs), "-p", port)
			server := g.MustStart(t, theirs...)
			awaitManaged(t, g, port)
			out := g.Must(t, append([]string{"ibkit", "perf", "10.0.0.1:" + port, "--json"}, strings.Fields(c.ours)...)...)
			var document struct{ Server struct{ Program string } }
			if err := json.Unmarshal([]byte(out), &document); err != nil || document.Server.Program != "perftest 6.06" {
				t.Errorf("got program %q, %v, want perftest 6.06:\n%s", document.Server.Program, err, out)
			}
			finish(t, server)

			port = strconv.Itoa(19401 + 2*i)
			serving := g.MustStart(t, append([]string{"ibkit", "perf", "--serve", "--bind", ":" + port}, strings.Fields(c.ours)...)...)
			if err := serving.AwaitOutput(t.Context(), "of the connection manager"); err != nil {
				t.Fatal(err)
			}
			theirs[len(theirs)-1] = port
			g.Must(t, append(theirs, "10.0.0.1")...)
			finish(t, serving)
		})
	}
	t.Run("no server", func(t *testing.T) {
		r := g.MustRun(t, "ibkit", "perf", "10.0.0.1:19499", "--peer", "perftest", "--cm", "--test", "send-lat")
		if want := "rejected by the peer: invalid service ID"; r.Code != 1 || !strings.Contains(r.Stderr, want) || !strings.Contains(r.Stderr, "hint: start ") {
			t.Errorf("got exit code %d and %q, want 1, %q and a hint", r.Code, r.Stderr, want)
		}
	})
}

// managerMessages are the messages that connections and datagram services use.
var managerMessages = []string{"REQ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP"}

// TestWire_CM connects two hosts with the connection manager, with Debian's perftest on
// one host, and decodes the messages with Wireshark's dissector. The hosts also send to
// multicast groups.
func TestWire_CM(t *testing.T) {
	t.Parallel()
	capture := filepath.Join(t.TempDir(), "wire.pcap")
	spec := guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Wire}},
		Tools:    []string{"ip", "rdma", "ib_send_bw", "ib_send_lat", "ib_write_lat", "ib_read_bw"},
		Programs: []guest.Program{guest.Ibkit},
	}
	listening := spec
	listening.Capture = capture
	a, b := guest.NewPair(t, listening, spec)
	showFrequency(t, a)
	showFrequency(t, b)
	host := a.Ports[0].Addr.String()

	server := serve(t, a)
	b.Must(t, "ibkit", "perf", host, "--cm", "--test", "all", "--size", "2000", "-n", "20", "--verify")
	b.Must(t, "ibkit", "perf", host, "--cm", "--transport", "ud", "--size", "500", "-n", "20", "--verify")
	b.Must(t, "ibkit", "perf", host, "--cm", "--transport", "uc", "--test", "send", "--size", "2000", "-n", "20", "--verify")
	t.Run("multicast", func(t *testing.T) {
		out := b.Must(t, "ibkit", "perf", host, "--transport", "ud", "--group", "239.1.2.3", "--size", "500", "-n", "100", "--verify", "--json")
		if strings.Count(out, `"verified": true`) < 2 || strings.Contains(out, `"lost": 100`) {
			t.Errorf("got\n%s", out)
		}
		r := b.MustRun(t, "ibkit", "perf", host, "--transport", "ud", "--group", "ff05::77", "--size", "500", "-n", "100")
		if want := "the connection manager supports only IPv4 groups on RoCE v2"; r.Code != 1 || !strings.Contains(r.Stderr, want) {
			t.Errorf("got exit code %d and %q, want 1 and %q", r.Code, r.Stderr, want)
		}
	})
	finishServer(t, server)
	port := 19500
	for _, line := range []string{"ib_send_lat -R -n 50", "ib_send_bw -R -c UD -b -n 50", "ib_write_lat -R -n 50", "ib_read_bw -R -n 50 -q 2"} {
		t.Run(line, func(t *testing.T) { swapped(t, a, b, host, line, line, &port) })
	}
	// The two groups differ: a host would receive its own packets too.
	const group = " -g -x 1 -M 0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:"
	a.Must(t, "ip", "addr", "add", "239.1.2.4/32", "dev", "eth0", "autojoin") // perftest does not join the group
	b.Must(t, "ip", "addr", "add", "239.1.2.5/32", "dev", "eth0", "autojoin")
	for _, line := range []string{"ib_send_lat -n 50", "ib_send_bw -n 50"} {
		t.Run(line+" -g", func(t *testing.T) { swapped(t, a, b, host, line+group+"4", line+group+"5", &port) })
	}
	client := b.Ports[0].Addr.String()
	if err := a.Close(); err != nil {
		t.Log(err)
	}
	seen := map[string]int{}
	for _, m := range cmwire.Decode(t, capture) {
		seen[m.From+" "+m.Name]++
	}
	for _, name := range managerMessages {
		from := client
		if name == "REP" || name == "SIDR_REP" {
			from = host
		}
		if seen[from+" "+name] == 0 && name != "DREP" || name == "DREP" && seen[host+" "+name]+seen[client+" "+name] == 0 {
			t.Errorf("got no %s", name)
		}
	}
	t.Logf("messages by sender and name: %v", seen)
}

// swapped runs a perftest command line between two hosts: with ibkit at the client, then
// at the server.
func swapped(t *testing.T, a, b *guest.Guest, host, server, client string, port *int) {
	for _, ours := range []int{0, 1} {
		*port++
		ends := [][]string{strings.Fields(server), strings.Fields(client)}
		for i := range ends {
			ends[i] = append(ends[i], "-F", "-p", strconv.Itoa(*port))
		}
		ends[ours] = append([]string{"ibkit"}, ends[ours]...)
		p := a.MustStart(t, ends[0]...)
		if strings.Contains(server, "-R") {
			awaitManaged(t, a, strconv.Itoa(*port))
		} else if err := a.AwaitTCP(t.Context(), uint16(*port)); err != nil {
			t.Fatal(err)
		}
		b.Must(t, append(ends[1], host)...)
		finish(t, p)
	}
}
