//go:build guest

package cm_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// exampleTools are programs from Debian's rdmacm-utils.
var exampleTools = []string{"ucmatose", "udaddy", "mckey", "rdma_client", "rdma_server", "rdma_xclient", "rdma_xserver"}

// An example is a program with a server and a client.
type example struct {
	name           string
	server, client string // command lines; SERVER and CLIENT stand for the addresses

	// ready is a line from rdma resource that appears when the server is ready.
	ready string
}

const listens = "rdma resource show cm_id | grep LISTEN"

// examples are all programs and address formats in both roles.
var examples = []example{
	{"ucmatose several", "ucmatose -c 5 -C 3 -S 5000 -p 9000", "ucmatose -s SERVER -c 5 -C 3 -S 5000 -p 9000", listens},
	{"ucmatose bound", "ucmatose -b SERVER -f ip", "ucmatose -s SERVER -b CLIENT -f name", listens},
	{"ucmatose migrated", "ucmatose -m -c 2", "ucmatose -s SERVER -m -c 2", listens},
	{"ucmatose IB port space", "ucmatose -P ib", "ucmatose -s SERVER -P ib", listens},
	{"udaddy several", "udaddy -c 3 -C 5 -S 1000", "udaddy -s SERVER -c 3 -C 5 -S 1000 -t 32", listens},
	{"mckey several", "mckey -m 224.1.2.4 -b SERVER -c 2 -C 4 -S 1000", "mckey -s -m 224.1.2.4 -b CLIENT -C 4 -S 1000 -p 0x111 -o", "rdma resource show qp | grep mckey"},
	{"rdma_server bound", "rdma_server -s SERVER -p 99", "rdma_client -p 99 -s SERVER", listens},
	{"rdma_xserver RC", "rdma_xserver -p 99 -c r", "rdma_xclient -p 99 -s SERVER -c RC", listens},
}

// moreExamples are all other options.
var moreExamples = []example{
	{"ucmatose", "ucmatose", "ucmatose -s SERVER", listens},
	{"ucmatose no data", "ucmatose -C 0 -a 14", "ucmatose -s SERVER -S 0 -t 32 -a 14", listens},
	{"ucmatose sizes differ", "ucmatose -S 4", "ucmatose -s SERVER -S 1000", listens},
	{"ucmatose unknown formats", "ucmatose -P x -f x", "ucmatose -s SERVER -P tcp -f ipv6", listens},
	{"udaddy", "udaddy", "udaddy -s SERVER", listens},
	{"udaddy bound", "udaddy -b SERVER -p 0x111", "udaddy -s SERVER -b CLIENT -P udp", listens},
	{"mckey", "mckey -m 224.1.2.3 -b SERVER", "mckey -s -m 224.1.2.3 -b CLIENT", "rdma resource show qp | grep mckey"},
	{"rdma_server", "rdma_server", "rdma_client -s SERVER", listens},
	{"rdma_xserver", "rdma_xserver", "rdma_xclient -s SERVER", listens},
}

// examplesIPv6 are the programs over IPv6.
var examplesIPv6 = []example{
	{"ucmatose", "ucmatose -b SERVER", "ucmatose -s SERVER -b CLIENT", listens},
	{"udaddy", "udaddy -b SERVER", "udaddy -s SERVER -b CLIENT", listens},
	{"rdma_server", "rdma_server -s SERVER", "rdma_client -s SERVER", listens},
}

// exampleSpec returns a host with Debian's programs.
func exampleSpec() guest.Spec {
	s := spec(guest.Wire)
	s.Tools = append(s.Tools, exampleTools...)
	return s
}

// runExample runs a server and a client. ours selects ibkit for each.
func runExample(t *testing.T, a, b *guest.Guest, e example, ours [2]bool, addresses [2]string) (server, client guest.Result) {
	t.Helper()
	replace := strings.NewReplacer("SERVER", addresses[0], "CLIENT", addresses[1])
	line := func(text string, ours bool) []string {
		if ours {
			text = "ibkit " + text
		}
		return strings.Fields(replace.Replace(text))
	}
	p := a.MustStart(t, line(e.server, ours[0])...)
	ready := e.ready
	if ours[0] {
		ready = strings.Replace(ready, "grep mckey", "grep ibkit", 1)
	}
	if err := a.Await(t.Context(), "sh", "-c", ready); err != nil {
		t.Fatal(err)
	}
	client = b.MustRun(t, line(e.client, ours[1])...)
	server, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return server, client
}

// TestExamples runs the programs in both roles against Debian's. The output is the same as
// from two Debian programs.
func TestExamples(t *testing.T) {
	t.Parallel()
	a, b := guest.NewPair(t, exampleSpec(), exampleSpec())
	v4 := [2]string{a.Ports[0].Addr.String(), b.Ports[0].Addr.String()}
	v6 := [2]string{"fd00::1", "fd00::2"}
	for i, g := range []*guest.Guest{a, b} {
		g.Must(t, "ip", "address", "add", v6[i]+"/64", "dev", g.Ports[0].Netdev, "nodad")
	}
	compare := func(e example, addresses [2]string) func(*testing.T) {
		return func(t *testing.T) {
			want := [2]guest.Result{}
			want[0], want[1] = runExample(t, a, b, e, [2]bool{}, addresses)
			for _, ours := range [][2]bool{{true, true}, {true, false}, {false, true}} {
				server, client := runExample(t, a, b, e, ours, addresses)
				for i, got := range []guest.Result{server, client} {
					w := want[i]
					if got.Stdout != w.Stdout || got.Stderr != w.Stderr || got.Code != w.Code {
						t.Errorf("ibkit at server, client: %v; program %d: got exit code %d\n%s%s\nwant %d\n%s%s",
							ours, i, got.Code, got.Stdout, got.Stderr, w.Code, w.Stdout, w.Stderr)
					}
				}
			}
			if want[0].Code != 0 || want[1].Code != 0 {
				t.Errorf("Debian's programs: got exit codes %d and %d, want 0:\n%s%s", want[0].Code, want[1].Code, want[0].Stderr, want[1].Stderr)
			}
		}
	}
	for _, e := range testenv.Cases(examples, moreExamples...) {
		t.Run(e.name, compare(e, v4))
	}
	for _, e := range testenv.Cases(examplesIPv6[:1], examplesIPv6[1:]...) {
		t.Run(e.name+" IPv6", compare(e, v6))
	}
}

// failures has each failure once: options, names, addresses, services, sizes and peers.
var failures = []string{
	"ucmatose -x", "udaddy -x", "mckey -x", "rdma_client -x", "rdma_xserver -x", "mckey -m",
	"ucmatose -s HERE -c 3", "ucmatose -s 192.0.2.1", "ucmatose -s nohost", "ucmatose -b nohost -f ip", "ucmatose -s HERE -b 192.0.2.1",
	"ucmatose -s HERE -p noservice", "ucmatose -s HERE -c -1", "ucmatose -s HERE -S -1", "ucmatose -s fe80::1 -f gid", "ucmatose -s HERE -P ib",
	"udaddy -s HERE", "udaddy -s HERE -S 2000", "udaddy -s HERE -P ipoib", "udaddy -b 192.0.2.1",
	"mckey", "mckey -m nohost", "mckey -m 224.1.2.3 -b 192.0.2.1", "mckey -s -M ff12::1 -b HERE", "mckey -s -m 224.1.2.3 -S 5000 -b HERE",
	"rdma_client -s HERE", "rdma_server -s 192.0.2.1", "rdma_xclient -c u", "rdma_xclient -s HERE -p 999999", "rdma_xclient -s HERE -c x",
}

// moreFailures are the same kinds of failures with other programs and options.
var moreFailures = []string{
	"rdma_server -x", "ucmatose -s", "ucmatose -s HERE", "ucmatose -s nohost -f ip", "ucmatose -b 192.0.2.1", "ucmatose -s HERE -c 0", "ucmatose -s HERE -C -1",
	"udaddy -s 192.0.2.1", "udaddy -s nohost -f ip", "udaddy -s HERE -c -1",
	"mckey -m 224.1.2.3", "mckey -M ff12::1", "mckey -s -m ff12::1 -b HERE", "mckey -s -m 224.1.2.3 -p 2 -b HERE", "mckey -s -m 224.1.2.3 -l -b HERE",
	"mckey -s -m 224.1.2.3 -C 0 -b HERE", "mckey -m ff0e::1:2 -b fd00::1",
	"rdma_client -s 192.0.2.1", "rdma_client -s nohost", "rdma_server -p noservice",
	"rdma_xclient -x", "rdma_xserver -c u", "rdma_xclient -s HERE", "rdma_xclient -s 192.0.2.1", "rdma_xclient -s nohost",
	"rdma_xclient -s HERE -p noservice", "rdma_xserver -p noservice",
}

// TestExamples_Failures compares failure texts and exit codes.
func TestExamples_Failures(t *testing.T) {
	t.Parallel()
	s := exampleSpec()
	s.Devices[0].Link = guest.Dummy
	g := guest.New(t, s)
	here := g.Ports[0].Addr.String()
	g.Must(t, "ip", "address", "add", "fd00::1/64", "dev", g.Ports[0].Netdev, "nodad")
	for _, line := range testenv.Cases(failures, moreFailures...) {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(line, "HERE", here))
			want := g.MustRun(t, args...)
			got := g.MustRun(t, append([]string{"ibkit"}, args...)...)
			if got.Stdout != want.Stdout || got.Stderr != want.Stderr || got.Code != want.Code {
				t.Errorf("got exit code %d\n%s%s\nwant %d\n%s%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
			}
		})
	}
	// The original ends without a text.
	if r := run(t, g, 1, "ibkit", "udaddy", "-s", here, "-p", "7"); !strings.Contains(r.Stderr, "create ID") {
		t.Errorf("unknown port space: got %q", r.Stderr)
	}
	if got := g.Must(t, "rdma", "resource", "show", "cm_id"); got != "" {
		t.Errorf("at the end: got %q, want no ID", got)
	}
	if got := g.Must(t, "rdma", "resource", "show", "qp"); regexp.MustCompile("ibkit|type UD").MatchString(got) {
		t.Errorf("at the end: got %q, want no queue pair", got)
	}
}
