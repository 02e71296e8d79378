//go:build guest

package pings_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/neighbour"
	"github.com/ibkit/ibkit/test/guest"
)

// ethernetAddresses looks up a neighbour's GIDs by IP address. The neighbour is another
// network namespace, which answers requests.
func ethernetAddresses(t *testing.T, g *guest.Guest) {
	g.Must(t, "sh", "-exc", `
ip netns add peer
ip netns exec peer sh -c 'echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad'
ip link add veth9 type veth peer name veth9p netns peer
ip address add 10.9.0.1/24 dev veth9
ip link set veth9 up
ip -n peer address add 10.9.0.2/24 dev veth9p
ip -n peer link set veth9p up
echo 200 >/proc/sys/net/ipv4/neigh/veth9/retrans_time_ms
rdma link add rxe9 type rxe netdev veth9`)
	defer g.Must(t, "rdma", "link", "delete", "rxe9")
	gids := "cd /sys/class/infiniband/rxe9/ports/1/gids && cat * 2>/dev/null | grep -q :0a09:0001 && cat * 2>/dev/null | grep -q ^fe80:"
	if err := g.Await(t.Context(), "sh", "-c", gids); err != nil {
		t.Fatal(err)
	}
	if table := g.Must(t, "ip", "neighbour", "show", "10.9.0.2"); table != "" {
		t.Fatalf("the neighbour is known: %s", table)
	}
	columns := []string{"--plain", "--columns", "ip,gids,gid-type,device,link-address,netdev", "10.9.0.2"}
	got := g.Must(t, append([]string{"ibkit", "addr", "-C", "rxe9"}, columns...)...)
	if other := g.Must(t, append([]string{"ibkit", "addr"}, columns...)...); other != got {
		t.Errorf("%q, and without -C %q", got, other)
	}

	// The link address in the neighbour table, and the address of the neighbour itself.
	mac := word(g.Must(t, "ip", "neighbour", "show", "10.9.0.2"), "lladdr")
	local, _, _ := strings.Cut(word(g.Must(t, "ip", "-n", "peer", "-6", "-o", "address", "show", "dev", "veth9p", "scope", "link"), "inet6"), "/")
	if want := "10.9.0.2\t" + local + ",::ffff:10.9.0.2\tRoCE v2\trxe9\t" + mac + "\tveth9\n"; got != want || mac == "" || local == "" {
		t.Errorf("%q, want %q", got, want)
	}

	// By the IPv6 address.
	got = g.Must(t, "ibkit", "addr", "--plain", "--columns", "gids,link-address", "ip:"+local+"%veth9")
	if want := local + "\t" + mac + "\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}

	// The own GIDs are the device's.
	for _, target := range []string{"10.9.0.1", "route:0"} {
		t.Run(target, func(t *testing.T) {
			own := g.Must(t, "ibkit", "addr", "-C", "rxe9", "--plain", "--columns", "gids", target)
			for gid := range strings.SplitSeq(strings.TrimSpace(own), ",") {
				if r := g.MustRun(t, "ibkit", "devinfo", "rxe9"); !strings.Contains(r.Stdout, gid) {
					t.Errorf("%s of %s is none of\n%s", gid, target, r.Stdout)
				}
			}
		})
	}

	// No neighbour, and no RDMA device on the path.
	for target, want := range map[string]string{
		"10.9.0.3":  neighbour.ErrNoReply.Error(),
		"10.0.0.77": "hint: list devices and their GIDs with ibkit devinfo",
	} {
		t.Run(target, func(t *testing.T) {
			if r := g.MustRun(t, "ibkit", "addr", "-C", "rxe9", target); r.Code != 1 || !strings.Contains(r.Stderr, want) {
				t.Errorf("got exit code %d, want 1 with %q: %s", r.Code, want, r.Stderr)
			}
		})
	}
}

// word returns the word after another word.
func word(text, before string) string {
	fields := strings.Fields(text)
	for i := range len(fields) - 1 {
		if fields[i] == before {
			return fields[i+1]
		}
	}
	return ""
}

// otherHostsAddresses looks up another host's GIDs by IP address and by GID. They must be
// the GIDs in that host's kernel.
func otherHostsAddresses(t *testing.T, from, of *guest.Guest) {
	own := strings.TrimSpace(of.Must(t, "ibkit", "addr", "--plain", "--columns", "gids"))
	mac := strings.TrimSpace(of.Must(t, "cat", "/sys/class/net/"+of.Ports[0].Netdev+"/address"))
	ip := of.Ports[0].Addr.String()
	linkLocal, _, _ := strings.Cut(own, ",")
	got := from.Must(t, "ibkit", "addr", "--plain", "--columns", "gids,link-address", ip, linkLocal)
	if want := own + "\t" + mac + "\n" + linkLocal + "\t" + mac + "\n"; got != want || !strings.HasSuffix(own, "::ffff:"+ip) {
		t.Errorf("%q, want %q", got, want)
	}
}

// infinibandAddresses compares addresses from the kernel's MAD layer with Debian's ibaddr.
func infinibandAddresses(t *testing.T, g *guest.Guest) {
	for _, line := range []string{
		"-C ibtest0", "-C ibtest1 -P 1 -L", "-C ibtest0 -gL 11", "-C ibtest0 -l 3", "-C ibtest0 -g -D 0,1", "-C ibtest1 -G 0x0002c90000100801",
		"-C ibtest0 -G 0xdead", "-C ibtest0 -t 50 -D 0,30", "-C ibtest0 -P 2", "-C nosuch 3",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			want := g.MustRun(t, append([]string{"ibaddr"}, args...)...)
			got := g.MustRun(t, append([]string{"ibkit", "ibaddr"}, args...)...)
			if got.Code != want.Code || got.Stdout != want.Stdout || want.Stdout == "" {
				t.Errorf("got exit code %d, want %d; got output\n%q, want\n%q\n%s", got.Code, want.Code, got.Stdout, want.Stdout, got.Stderr)
			}
		})
	}
	for _, source := range []string{"all", "sa", "nodes"} {
		t.Run(source, func(t *testing.T) {
			got := g.Must(t, "ibkit", "addr", "-C", "ibtest0", "--source", source, "--plain", "--columns", "name,lid,gid",
				"node07", "11", "0x0002c90000100a01", "fe80::2:c900:10:a01")
			if want := strings.Repeat("node07\t11\tfe80::2:c900:10:a01\n", 4); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
