package oracle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// addrFlags are combinations of ibaddr's own options.
var addrFlags = []string{"", "-g", "-l", "-L", "-gl", "-lg -L", "-l -l", "-L --lid", "--gid_show"}

// addrLines are ibaddr command lines without a target, with a target in an unusual form,
// or with other options. LID, GUID and ROUTE are replaced with a node's addresses.
var addrLines = []string{
	"", "-g", "-l", "-L", "-D 0", "-D 0 1", "-D 0,", "-D ROUTE,", "-t 20000 -D 0,255", "-t 20000 -D 0,0", "-t 20000 -D 0,x", "-t 20000 -D 1,2", "-t 20000 -D +0,-1",
	"-D ", "-t 20000 -D 0x0,0x1", "-D GUID", "LID x", "LID 1 2", "LID 255", "LID 256", "LID -1", "-- LID", "LID -g", "0x1", "01", "08", "1x", "x1", "0x", "1e3",
	"0", "-G 0", "-G x", "-G LID", "-G 0xdead", "-G 0002:c903:0000:0001", "-G 99999999999999999999", "-G GUIDx", "-GD ROUTE", "-DG GUID",
	"65535", "0xc000", "0xbfff -t 20000", "65537", "-1", "4294967297",
	"-v LID", "-vv LID", "-e LID", "-d LID", "-K LID", "-y 5 LID", "-y 0x5 LID", "--m_key=7 LID",
	"-t 500 LID", "-t 0 LID", "-t -5 LID", "-t x LID", "-t 5x LID", "-t 99999999999 LID", "--tim 0x100 LID", "-d -t 0 LID",
	"-C ibsim0 LID", "-C ibsim0 -P 1 -g", "-C nosuch LID", "-C nosuch -P 3", "-P 1 LID", "-P 9 LID", "-P x LID", "-P 300 LID", "-d -P 9 LID",
	"-s SM LID", "-s 0 LID", "-s x LID", "-s 0xffff LID", "-s SM -G GUID", "--sm_port=SM -gG GUID", "-t 20000 -s 0xbff0 -G GUID",
	"-z /nonexistent LID", "-d 0", "-d -t 20000 -D 0,255", "-h", "-V", "-x", "--nosuch", "--l LID", "--g LID", "--Li LID", "-L", "-t", "--Ca",
}

var pid = regexp.MustCompile(`\[pid \d+\]`)

// addrRig is a fabric with node addresses.
type addrRig struct {
	*ibsimtest.Sim
	host  string
	sm    string // LID; "": there is no subnet manager
	nodes []addrNode
}

type addrNode struct {
	GUID  string `json:"node_guid"`
	Type  string
	Name  string
	LID   int
	Route string
	Ports []struct {
		Number int    `json:"port"`
		GUID   string `json:"port_guid"`
	}
}

func (r *addrRig) scan(t *testing.T) {
	t.Helper()
	var fabric struct{ Nodes []addrNode }
	found := r.MustRun(t, r.host, native(), "linkinfo", "--json")
	if err := json.Unmarshal([]byte(found.Stdout), &fabric); err != nil || len(fabric.Nodes) == 0 {
		t.Fatalf("%v: %s", err, found.Stderr)
	}
	r.nodes = fabric.Nodes
}

// compare runs both tools and compares standard output and exit code, and the error output
// if it is a usage message.
func (r *addrRig) compare(t *testing.T, line string) {
	t.Run(line, func(t *testing.T) { r.compareLine(t, line) })
}

func (r *addrRig) compareLine(t *testing.T, line string) {
	t.Helper()
	args := strings.Split(line, " ")
	if line == "" {
		args = nil
	}
	want := r.MustRunC(t, r.host, "ibaddr", args...)
	got := r.MustRun(t, r.host, native(), append([]string{"ibaddr"}, args...)...)
	mask := func(s string) string { return pid.ReplaceAllString(s, "[pid]") }
	if got.Code != want.Code || mask(got.Stdout) != mask(want.Stdout) {
		t.Errorf("got exit code %d and\n%q\n%s\nwant %d and\n%q\n%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
	}
	if want.Code == 2 && got.Stderr != want.Stderr {
		t.Errorf("got\n%s\nwant\n%s", got.Stderr, want.Stderr)
	}
}

// all runs each node with each set of options, by its addresses in turn. In a large
// fabric, each node has a single set; by default only as many nodes as there are sets.
func (r *addrRig) all(t *testing.T, flags []string) {
	t.Helper()
	nodes, isLarge := r.nodes, len(r.nodes) > largeFabric
	if isLarge {
		nodes = ibsimtest.Share(nodes, 0, len(nodes)/len(flags))
	}
	for i, n := range nodes {
		targets, sets := r.targets(&n), ibsimtest.Share(flags, i, len(flags))
		if isLarge {
			sets = flags[i%len(flags):][:1]
		}
		for k, set := range sets {
			r.compare(t, strings.TrimSpace(set+" "+targets[(i+k)%len(targets)]))
		}
	}
}

// largeFabric is the number of nodes above which each node is compared once.
const largeFabric = 50

// targets returns a node's addresses.
func (r *addrRig) targets(n *addrNode) []string {
	all := []string{"-D " + n.Route}
	if n.LID != 0 {
		all = append(all, fmt.Sprint(n.LID))
	}
	if n.Type == "Switch" {
		all = append(all, "-D "+n.Route+" 1")
	}
	if guid := n.guid(); r.sm != "" {
		all = append(all, "-G "+guid)
	}
	return all
}

// guid returns the GUID of a port with a LID.
func (n *addrNode) guid() string {
	for _, p := range n.Ports {
		if n.Type != "Switch" || p.Number == 0 {
			return p.GUID
		}
	}
	return n.GUID // a switch's port 0 has the node's GUID
}

// odd compares command lines with the addresses of a single node.
func (r *addrRig) odd(t *testing.T, lines []string) {
	t.Helper()
	n := &r.nodes[len(r.nodes)-1]
	expand := strings.NewReplacer("LID", fmt.Sprint(n.LID), "GUID", n.guid(), "ROUTE", n.Route, "SM", r.sm)
	for _, line := range lines {
		r.compare(t, expand.Replace(line))
	}
}

// native looks up each node with ibkit addr by all its addresses, in a single run, and
// compares the output with ibaddr's.
func (r *addrRig) native(t *testing.T, code int) {
	t.Helper()
	names := map[string]int{}
	for _, n := range r.nodes {
		names[n.Name]++
	}
	args := []string{"addr", "--plain", "--columns", "gid,lids"}
	var want strings.Builder
	for i, n := range r.nodes {
		if len(r.nodes) > largeFabric && i%4 > 0 {
			continue
		}
		if n.LID == 0 {
			continue // opensm ignores a router with node GUID 0
		}
		targets := []string{fmt.Sprintf("lid:%d", n.LID), "guid:" + n.guid(), "route:" + n.Route}
		if n.Name != "" && names[n.Name] == 1 && len(n.Ports) == 1 {
			targets = append(targets, "name:"+n.Name)
		}
		c := r.MustRunC(t, r.host, "ibaddr", "-gL", fmt.Sprint(n.LID))
		var gid string
		var first, last int
		if _, err := fmt.Sscanf(c.Stdout, "GID %s LID start %d end %d", &gid, &first, &last); err != nil {
			t.Fatalf("%v: %s", err, c.Stdout)
		}
		lids := fmt.Sprint(first)
		if last != first {
			lids += fmt.Sprintf("-%d", last)
		}
		args = append(args, targets...)
		want.WriteString(strings.Repeat(gid+"\t"+lids+"\n", len(targets)))
	}
	got := r.MustRun(t, r.host, native(), args...)
	if d := cmp.Diff(want.String(), got.Stdout); d != "" || got.Code != code {
		t.Errorf("%q: got exit code %d\n%s%s", args, got.Code, d, got.Stderr)
	}
}

// TestIbaddrServed compares on a fabric that ibkit serves.
func TestIbaddrServed(t *testing.T) {
	t.Parallel()
	r := &addrRig{Sim: serveFabric(t, "demo"), host: "node07", sm: "4"}
	r.scan(t)
	r.all(t, addrFlags)
	r.native(t, 3) // a host is not in service
	r.odd(t, ibsimtest.Share(addrLines, 1, 2))
}
