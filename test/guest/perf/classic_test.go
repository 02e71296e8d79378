//go:build guest

package perf_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// classicTools are the perftest programs that ibkit replaces.
var classicTools = []string{
	"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw", "ib_atomic_lat", "ib_atomic_bw",
}

// classicLines are command lines that have special output, or that have failed with
// Debian's programs at one end: each program, each output form and each queue kind.
var classicLines = []string{
	"ib_write_bw -b -q 2 -n 200 -s 4096", "ib_read_bw -n 100 --report_gbits --reversed --perform_warm_up",
	// Options that latency programs ignore, and datagrams of all sizes.
	"ib_write_lat -n 50 -t 64 -Q 4 --report_gbits -w 3 -y 1", "ib_send_bw -c UD -n 20 -a",
	// Times for all messages.
	"ib_read_lat -n 60 -U -H", "ib_send_lat -n 60 -U --output=latency --use-srq",
	// A test by time, with the processor load.
	"ib_send_lat -D 2 --cpu_util --out_json",
	// Files.
	"ib_atomic_lat -n 50 -A CMP_AND_SWAP --out_json", "ib_atomic_bw -n 50 -e --out_json",
	// Queues and memory, both directions, rates and counters.
	"ib_send_bw -n 100 -r 100 --recv_post_list 5 --use_hugepages --reversed", "ib_send_bw -b -n 100 --report-both",
	"ib_write_bw -s 64 -n 100 --rate_limit 1000 --rate_units p --rate_limit_type SW --burst_size 10 -W hw_counters/sent_pkts,hw_counters/rcvd_pkts",
}

// moreClassicLines have more options.
var moreClassicLines = []string{
	// Sizes with a unit, and datagrams.
	"ib_write_lat -s 1000 -n 100", "ib_send_bw -c UD -n 100",
	// Times for all messages.
	"ib_send_lat -n 60 -H -C", "ib_write_lat -n 60 -U --reversed",
	// Tests by time, with the default margin.
	"ib_write_bw -s 64 -D 2 --cpu_util --out_json",
	// Files.
	"ib_send_bw -n 100 -b -l 4 --report_gbits --out_json", "ib_read_lat -n 50 -e --out_json", "ib_read_lat -n 50 --out_json --output=latency",
	// Queues and memory.
	"ib_send_bw -q 2 --use-srq -n 100", "ib_write_bw -q 3 -n 100 --mr_per_qp --perform_warm_up", "ib_send_bw -n 100 -e -X 0 -s 64K",
	// Both directions, and gaps.
	"ib_read_bw -b -n 100 --perform_warm_up --report-both", "ib_send_lat -n 50 --latency_gap 100",
	// Options without effect.
	"ib_send_bw -n 100 --disable_pcie_relaxed --use_old_post_send --force-link Ethernet --wait_destroy 1 --inline_recv 4 --perform_warm_up",
	"ib_write_lat -n 50 -d rxe0 --ipv6",
}

// TestClassicNames replaces a perftest program with ibkit at one end, then at the other,
// and compares the output without figures.
func TestClassicNames(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices:  []guest.Device{{Name: "rxe0", Link: guest.Dummy}},
		Tools:    append([]string{"rdma", "ip"}, classicTools...),
		Programs: []guest.Program{guest.Ibkit},
		Modules:  []string{"macvlan"},
	})
	// Without the processor frequency perftest prints no figures.
	g.Must(t, "sh", "-c", `sed 's/^flags/cpu MHz\t\t: 1000.000\nflags/' /proc/cpuinfo >/root/cpuinfo && mount --bind /root/cpuinfo /proc/cpuinfo`)
	g.Must(t, "sh", "-c", "echo 8 >/proc/sys/vm/nr_hugepages")
	for i, line := range testenv.Cases(classicLines, moreClassicLines...) {
		t.Run(line, func(t *testing.T) {
			c := classicLine{g: g, args: append(strings.Fields(line), "-F"), tcp: 18700 + 2*i}
			if !strings.Contains(line, "--ipv6") {
				c.args = append(c.args, "-x", "1")
			}
			theirServer, ourClient := c.run(t, false)
			ourServer, theirClient := c.run(t, true)
			compareLayouts(t, "server", ourServer, theirServer)
			compareLayouts(t, "client", ourClient, theirClient)
			if strings.Contains(line, "-D 2") {
				checkTimed(t, ourClient, theirServer)
				checkTimed(t, ourServer, theirClient)
			}
			if !strings.Contains(line, "--output") {
				checkRates(t, ourServer, theirServer)
				checkRates(t, ourClient, theirClient)
			}
		})
	}
	for i, name := range []string{"ib_write_bw", "ib_send_bw"} {
		t.Run("endless "+name, func(t *testing.T) { endless(t, g, name, 18800+2*i) })
	}
	t.Run("peer killed", func(t *testing.T) { killedByTime(t, g) })
	t.Run("reversed", func(t *testing.T) { longReversed(t, g) })
	t.Run("rails", func(t *testing.T) { rails(t, g) })
	t.Run("limits", func(t *testing.T) { classicLimits(t, g) })
	t.Run("no device", func(t *testing.T) { noDevice(t, g) })
}

// A classicLine is a perftest command line.
type classicLine struct {
	g    *guest.Guest
	args []string
	tcp  int      // and the next
	peer []string // words before the line at the other end; nil: Debian's program
}

// run runs the line at both ends, with ibkit at one end, and returns the output from
// both and their JSON files.
func (c classicLine) run(t *testing.T, serve bool) (server, client string) {
	tcp := c.tcp
	theirs, ours := slices.Concat(c.peer, c.args), append([]string{"ibkit"}, c.args...)
	serves, asks := theirs, ours
	if serve {
		serves, asks, tcp = ours, theirs, c.tcp+1
	}
	end := func(args []string, side string, more ...string) []string {
		args = append(append(append([]string(nil), args...), "-p", strconv.Itoa(tcp)), more...)
		if c.json() {
			args = append(args, "--out_json_file=/root/"+side)
		}
		return args
	}
	s := c.g.MustStart(t, end(serves, "server")...)
	if err := c.g.Await(t.Context(), "sh", "-c", fmt.Sprintf("grep -q ':%04X .* 0A ' /proc/net/tcp /proc/net/tcp6", tcp)); err != nil {
		t.Fatal(err)
	}
	client = c.g.Must(t, end(asks, "client", "127.0.0.1")...)
	server = finish(t, s)
	if c.json() {
		server += c.g.Must(t, "sh", "-c", "cat /root/server && rm /root/server || true")
		client += c.g.Must(t, "cat", "/root/client")
	}
	return server, client
}

// json reports whether the line writes a file.
func (c classicLine) json() bool {
	for _, arg := range c.args {
		if arg == "--out_json" {
			return true
		}
	}
	return false
}

// rows matches the numbers of a row.
var rows = regexp.MustCompile(`(?m)^ \d+ +(\d+) +([\d.]+)[ \t]+([\d.]+)(?:[ \t]+([\d.]+))?`)

// checkTimed checks the figures of a test that takes 2 s: both ends print the iterations
// that were counted. In latency tests these are round trips, which the rate counts.
func checkTimed(t *testing.T, ours, theirs string) {
	t.Helper()
	row, other := rows.FindStringSubmatch(ours), rows.FindStringSubmatch(theirs)
	if row == nil || other == nil {
		t.Fatalf("got no rows in\n%s\n%s", ours, theirs)
	}
	if strings.Contains(ours, "BW") {
		if row[1] != other[1] {
			t.Errorf("got %s iterations of ibkit and %s of perftest", row[1], other[1])
		}
		return
	}
	var v [3]float64
	for i := range v {
		v[i], _ = strconv.ParseFloat(row[i+1], 64)
	}
	// A perftest client measures its processor frequency first, which may take longer than
	// a busy server's test.
	if iterations, latency, rate := v[0], v[1], v[2]; iterations > 0 && (rate < iterations/2*0.99 || rate > iterations/2*1.01 || latency*rate < 0.49e6 || latency*rate > 0.51e6) {
		t.Errorf("got %v round trips in 2 s of half %v µs, and %v per second", iterations, latency, rate)
	}
}

// checkRates checks that each row has a rate, and no peak if perftest prints 0.
func checkRates(t *testing.T, ours, theirs string) {
	t.Helper()
	if !strings.Contains(ours, "BW peak") {
		return
	}
	all, others := rows.FindAllStringSubmatch(ours, -1), rows.FindAllStringSubmatch(theirs, -1)
	if len(all) != len(others) || len(all) == 0 {
		t.Fatalf("got %d rows, want %d", len(all), len(others))
	}
	const none = "0.00"
	for i, row := range all {
		// On a busy machine, perftest may measure no processor frequency, and has no rate either.
		if row[2] != none && others[i][2] == none && others[i][3] != none || row[4] == "0.000000" {
			t.Errorf("got row %q, want a rate, and no peak as in %q", row[0], others[i][0])
		}
	}
}

// endless ends a test without end after the first row. In ib_write_bw the passive side
// ends with its peer; in perftest's ib_send_bw it does not.
func endless(t *testing.T, g *guest.Guest, name string, tcp int) {
	line := strings.Fields(name + " -x 1 -F -s 64 --run_infinitely -D 1")
	run := func(server, client []string, tcp int) (serves, asks string) {
		port := []string{"-p", strconv.Itoa(tcp)}
		s := g.MustStart(t, slices.Concat(server, port)...)
		if err := g.AwaitTCP(t.Context(), uint16(tcp)); err != nil {
			t.Fatal(err)
		}
		c := g.MustStart(t, slices.Concat(client, port, []string{"127.0.0.1"})...)
		const row = " 64         "
		if err := c.AwaitOutput(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		passive := "remote address" // before the test ends
		if name == "ib_send_bw" {
			passive = row
		}
		if server[0] == "ibkit" || name == "ib_send_bw" { // perftest fills the buffer
			if err := s.AwaitOutput(t.Context(), passive); err != nil {
				t.Fatal(err)
			}
		}
		text := func(p *guest.Process) string {
			_ = p.Signal(unix.SIGTERM) // fails if it has ended
			r, err := p.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return r.Stdout
		}
		asks = text(c)
		return text(s), asks
	}
	ours := append([]string{"ibkit"}, line...)
	theirServer, ourClient := run(line, ours, tcp)
	ourServer, theirClient := run(ours, line, tcp+1)
	compareLayouts(t, "client", toFirstRow(ourClient), toFirstRow(theirClient))
	if name == "ib_send_bw" {
		compareLayouts(t, "server", toFirstRow(ourServer), toFirstRow(theirServer))
	}
}

// killedByTime kills a peer during a test by time. The other peer must not wait until that
// time ends, and must not print a row.
func killedByTime(t *testing.T, g *guest.Guest) {
	for i, name := range []string{"ib_send_lat", "ib_write_lat"} {
		t.Run(name, func(t *testing.T) {
			line := []string{"ibkit", name, "-D", "600", "-f", "0", "-x", "1", "-p", strconv.Itoa(18810 + i)}
			s := g.MustStart(t, line...)
			if err := g.AwaitTCP(t.Context(), uint16(18810+i)); err != nil {
				t.Fatal(err)
			}
			c := g.MustStart(t, append(line, "127.0.0.1")...)
			awaitTests(t, g, 2)
			awaitTraffic(t, g)
			if err := c.Signal(unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
			r := ends(t, s, 1, "the peer closed the connection")
			if rows.MatchString(r.Stdout) || r.Elapsed > 5*time.Minute {
				t.Errorf("got an end after %v with\n%s\nwant an earlier one without a row", r.Elapsed, r.Stdout)
			}
		})
	}
}

// longReversed runs a test of 12 s with a passive client: its next message is at the
// server from the beginning.
func longReversed(t *testing.T, g *guest.Guest) {
	c := classicLine{g: g, args: strings.Fields("ib_write_bw --reversed -x 1 -F -s 64 -n 120 --rate_limit 10 --rate_units p --rate_limit_type SW --burst_size 1"), tcp: 18814}
	ourServer, theirClient := c.run(t, true)
	checkRates(t, ourServer, theirClient)
}

// toFirstRow returns the output up to the first row.
func toFirstRow(text string) string {
	head, rest, _ := strings.Cut(text, "MsgRate[Mpps]\n")
	row, _, _ := strings.Cut(rest, "\n")
	return head + "MsgRate[Mpps]\n" + row + "\n"
}

// rails measures other devices by their addresses: the address that the user names selects
// device and GID at both ends. rxe8 is on a network device above rxe0's, and rxe0 has the
// GIDs of rxe8, too.
func rails(t *testing.T, g *guest.Guest) {
	g.Must(t, "sh", "-exc", `ip link add dummy9 type dummy
		ip link set dummy9 up
		ip addr add 10.9.0.1/24 dev dummy9
		ip addr add fd00:9::1/64 dev dummy9 nodad
		rdma link add rxe9 type rxe netdev dummy9
		ip link add link dummy0 name upper0 type macvlan mode bridge
		ip link set upper0 up
		ip addr add 10.8.0.1/24 dev upper0
		rdma link add rxe8 type rxe netdev upper0
		until grep -q ffff:0a08:0001 /sys/class/infiniband/rxe0/ports/1/gids/*; do usleep 10000; done
		until grep -q ffff:0a08:0001 /sys/class/infiniband/rxe8/ports/1/gids/*; do usleep 10000; done
		until grep -q ffff:0a09:0001 /sys/class/infiniband/rxe9/ports/1/gids/*; do usleep 10000; done
		until grep -q fd00:0009 /sys/class/infiniband/rxe9/ports/1/gids/*; do usleep 10000; done`)
	server := serve(t, g)
	type end struct{ Device, GID string }
	for address, want := range map[string]end{
		"10.0.0.1": {"rxe0", "::ffff:10.0.0.1"}, "10.9.0.1": {"rxe9", "::ffff:10.9.0.1"}, "fd00:9::1": {"rxe9", "fd00:9::1"},
		"10.8.0.1": {"rxe8", "::ffff:10.8.0.1"},
	} {
		t.Run(address, func(t *testing.T) {
			out := g.Must(t, "ibkit", "perf", address, "--test", "send-lat", "-n", "20", "--json")
			var document struct {
				Results []struct {
					Client end `json:"client_port"`
					Server end `json:"server_port"`
				}
			}
			if err := json.Unmarshal([]byte(out), &document); err != nil || len(document.Results) != 1 {
				t.Fatalf("%v in\n%s", err, out)
			}
			r := document.Results[0]
			for _, got := range []end{r.Client, r.Server} {
				if got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			}
		})
	}
	finishServer(t, server)
	for i, c := range [][3]string{{"10.9.0.1", "rxe9", "10:09:00:01"}, {"fd00:9::1", "rxe9", "00:00:00:01"}, {"10.8.0.1", "rxe8", "10:08:00:01"}} {
		t.Run("ib_write_lat "+c[0], func(t *testing.T) {
			tcp := 18820 + i
			s := g.MustStart(t, "ibkit", "ib_write_lat", "-n", "20", "-p", strconv.Itoa(tcp))
			if err := g.Await(t.Context(), "sh", "-c", fmt.Sprintf("grep -q ':%04X .* 0A ' /proc/net/tcp /proc/net/tcp6", tcp)); err != nil {
				t.Fatal(err)
			}
			client := g.Must(t, "ibkit", "ib_write_lat", "-n", "20", "-p", strconv.Itoa(tcp), c[0])
			for _, out := range []string{client, finish(t, s)} {
				if !strings.Contains(out, "Device         : "+c[1]) || strings.Count(out, c[2]+"\n") != 2 {
					t.Errorf("got another device than %s or GIDs that do not end with %s:\n%s", c[1], c[2], out)
				}
			}
		})
	}
}

// classicLimits exceeds device limits at both ends, or at the client alone, and runs tests
// with different settings at both ends.
func classicLimits(t *testing.T, g *guest.Guest) {
	for i, c := range []struct{ server, client, want, serverWant string }{
		{"ib_write_bw -q 16384", "ib_write_bw -q 16384", "hint: reduce -t, -r or -q", ""},
		{"ib_write_lat", "ib_write_lat -I 1024", "hint: reduce the message size or omit -I", ""},
		{"ib_send_bw", "ib_send_bw --rate_limit 10", "hint: --rate_limit_type SW", ""},
		{"ib_send_lat", "ib_send_lat -e -X 99", "use completion vector 99 of rxe0", ""},
		{"ib_send_lat", "ib_send_lat --odp", "use on-demand paging", ""},
		{"ib_send_lat", "ib_send_lat --force-link IB", "its link layer is Ethernet, want InfiniBand", ""},
		{"ib_send_lat", "ib_send_lat -W counters/none", "the kernel has no such counter", ""},
		{"ib_send_bw -c UD -s 2K", "ib_send_bw -c UD -s 2K", "send datagrams of 2048 bytes: the MTU of both sides is 1024", "the MTU of both sides is 1024"},
		{"ib_send_lat -n 200", "ib_send_lat -n 100", "hint: the peer must be ib_send_lat with the same", "the peer has finished its test"},
		{"ib_send_bw -b -n 200", "ib_send_bw -n 200", "hint: the peer must be ib_send_bw with the same", "the peer has finished its test"},
	} {
		t.Run(c.client, func(t *testing.T) {
			tcp := 18840 + i
			run := func(line string, more ...string) *guest.Process {
				return g.MustStart(t, slices.Concat([]string{"ibkit"}, strings.Fields(line), []string{"-d", "rxe0", "-p", strconv.Itoa(tcp)}, more)...)
			}
			server := run(c.server)
			if err := g.Await(t.Context(), "sh", "-c", fmt.Sprintf("grep -q ':%04X .* 0A ' /proc/net/tcp /proc/net/tcp6", tcp)); err != nil {
				t.Fatal(err)
			}
			client, err := run(c.client, "127.0.0.1").Wait(t.Context())
			if err != nil || client.Code != 1 || !strings.Contains(client.Stderr, c.want) {
				t.Errorf("got exit code %d, %v, want 1 and %q:\n%s%s", client.Code, err, c.want, client.Stdout, client.Stderr)
			}
			if r, err := server.Wait(t.Context()); err != nil || r.Code != 1 || !strings.Contains(r.Stderr, c.serverWant) {
				t.Errorf("got exit code %d of the server, %v, want 1 and %q:\n%s", r.Code, err, c.serverWant, r.Stderr)
			}
		})
	}
}

// noDevice starts servers on a host without a usable device: they end at once.
func noDevice(t *testing.T, g *guest.Guest) {
	for _, line := range []string{
		"ibkit ib_send_lat -d rxe7", "ibkit ib_read_bw -d rxe0 -i 2", "ibkit ib_write_lat -x 77", "ibkit perf --serve -d rxe7", "ibkit perf --serve -x 77",
		"ibkit perf --serve --peer perftest --test send-lat -x 77", "ibkit perf --serve --peer pingpong -x 77",
	} {
		ends(t, g.MustStart(t, strings.Fields(line)...), 1)
	}
	ends(t, g.MustStart(t, "ibkit", "ibv_rc_pingpong", "-d", "rxe0", "-i", "2"), 1, "use port 2 of rxe0: the device has one port")
	g.Must(t, "sh", "-c", "for d in /sys/class/infiniband/*; do rdma link delete ${d##*/}; done")
	for _, line := range []string{"ibkit ib_send_lat", "ibkit ib_write_bw", "ibkit perf --serve", "ibkit perf --serve --peer perftest --test send-lat"} {
		ends(t, g.MustStart(t, strings.Fields(line)...), 1, "no RDMA device")
	}
}

var (
	figures = regexp.MustCompile(`0x[0-9a-f]+|-?nan|inf|[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?`)
	spaces  = regexp.MustCompile(`[ \t]+`)
	noise   = regexp.MustCompile(`(?m)^ *(Correlation coefficient|Conflicting CPU|PCIe relax order|"?PCIe_relax_order"?).*\n`)
	rules   = regexp.MustCompile(`\A(\s*-{87}\n)+`)
	samples = regexp.MustCompile(`(?m)(^N, N\n)+`)
	quotes  = regexp.MustCompile(`(?m)"|,$`)
)

// compareLayouts compares the output of a program from both projects.
func compareLayouts(t *testing.T, side, ours, theirs string) {
	t.Helper()
	got, want := layout(ours), layout(theirs)
	if got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", side, got, want)
	}
	if t.Failed() {
		t.Logf("%s\n%s", ours, theirs)
	}
}

// layout returns a program's output without figures and without lines that depend on
// machine noise. ibkit never requests relaxed ordering. ib_read_bw begins with an
// additional rule. Sample lists count as a single item: perftest omits the two longest.
// The files from perftest 4.5 have no quotes, and commas before braces.
func layout(text string) string {
	text = rules.ReplaceAllString(text, "")
	text = spaces.ReplaceAllString(figures.ReplaceAllString(noise.ReplaceAllString(text, ""), "N"), " ")
	text = samples.ReplaceAllString(text, "samples\n")
	if head, file, ok := strings.Cut(text, "\n{\n"); ok {
		file = strings.ReplaceAll(quotes.ReplaceAllString(file, ""), " :", ":")
		text = head + "\n{\n" + file
	}
	return strings.ReplaceAll(text, " \n", "\n") // short figures are padded
}
