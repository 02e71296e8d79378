package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/report"
)

// groupText returns a group as text: kinds with details, then hints.
func groupText(g Group) string {
	var b strings.Builder
	fmt.Fprintln(&b, g.Subject)
	for _, f := range g.Findings {
		fmt.Fprintf(&b, "%s: %s: %s\n", f.Severity, Name(f), f.Detail)
	}
	for _, f := range g.Findings {
		if f.Hint != "" {
			fmt.Fprintln(&b, "next:", f.Hint)
		}
	}
	return b.String()
}

// runDemo checks the fabric demo after a command in simulated time.
func runDemo(t *testing.T, command string, only ...string) (r *Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := options(build(t, "demo,vendor=off", command))
		o.Only = only
		var err error
		if r, err = Fabric(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	})
	return r
}

// The findings of both ends of a cable, and of an agent that only this cable reaches, are a
// single group.
func TestFabric_Groups(t *testing.T) {
	r := runDemo(t, "")
	want := []string{
		`cable leaf3[4] - node10[1]
error: links/not-active: not activated by a subnet manager
error: routing/not-active: 30 paths cross a link without data (Initialize at this end, Initialize at node10[1])
warning: counters/exceeded: LinkDownedCounter 17: the link went down
unknown: counters/unchecked: at node10[1] PortCounters: the link is not active: no subnet manager has activated it
next: search the log of the subnet manager on node01 for 0x0002c90000100e00, or reset the link: ibkit port leaf3 4 reset --force last-link
next: ibkit counters leaf3/4; with --window 10s: new errors only
`,
		`cable leaf1[1] - spine1[1]
error: speed/narrow: 2X, but both ends have 4X enabled
warning: counters/exceeded: SymbolErrorCounter 48213: bit errors on the link
warning: counters/exceeded: PortRcvErrors 127: packets with bit errors arrived
warning: counters/exceeded: at spine1[1] SymbolErrorCounter 1906
next: reseat or replace the cable of port 1 of leaf1; then: ibkit linkinfo --node leaf1
next: ibkit counters leaf1/1; with --window 10s: new errors only
`,
		`cable leaf2[5] - node07[1]
error: speed/slow: HDR, but both ends have NDR enabled
next: reseat or replace the cable of port 5 of leaf2; then: ibkit linkinfo --node leaf2
`,
		`cable leaf4[4] - node14[1]
warning: counters/congested: PortXmitDiscards 1822: packets waited too long at the head of a queue
next: find the traffic: ibkit counters --window 10s --sort wait
`,
	}
	var got []string
	for _, g := range r.Groups {
		got = append(got, groupText(g))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got groups\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Without the stage for subnet managers, the next step is that of the full check.
func TestFabric_LinksAlone(t *testing.T) {
	const want = "search the log of the subnet manager on node01 for 0x0002c90000100e00, or reset the link: ibkit port leaf3 4 reset --force last-link"
	for _, only := range []string{"links", "links,sm"} {
		if got := runDemo(t, "", strings.Split(only, ",")...).Findings[0].Hint; got != want {
			t.Errorf("only %s: got %s, want %s", only, got, want)
		}
	}
}

// The cable of a dirty fibre has a single repair, and cleaning is first.
func TestFabric_DirtyFibre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := Fabric(t.Context(), options(build(t, "optics", "")))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(r.Groups, func(g Group) bool {
			return slices.Contains(report.KindsOf(g.Findings), report.DirtyFibre)
		})
		var steps []string
		for _, f := range r.Groups[i].Findings {
			if f.Hint != "" {
				steps = append(steps, f.Hint)
			}
		}
		if len(steps) == 0 || !strings.HasPrefix(steps[0], "clean the connectors") || strings.Contains(strings.Join(steps, "\n"), "reseat") {
			t.Errorf("got next steps %q, want to clean first, and not to reseat", steps)
		}
	})
}

// The nodes behind a node without a reply, and tables that were not read for the same reason,
// are at the port that leads to the node.
func TestFabric_GroupNoReply(t *testing.T) {
	r := runDemo(t, "hang leaf2", "discovery", "links", "sa", "routing")
	const want = `spine1[2]
error: discovery/no-reply: NodeInfo: Get NodeInfo of route 0,1,1,2, sent 2 times: no reply in time
error: links/no-peer: the link is up, but the peer did not respond
error: sa/unscanned-node: leaf2: the scan did not find this node of subnet administration; the path to it ends at spine1[2]
error: sa/unscanned-node: also node05
error: sa/unscanned-node: also node06
error: sa/unscanned-node: also node07
error: sa/unscanned-node: also node08
unknown: routing/unchecked: for the same reason
next: check power, management processor and links of the node or its peer; then: ibkit ping --via sma 0,1,1,2
next: check the node behind port 2 of spine1: its firmware does not respond
next: check the power and the management processor of the first missing node on the path; then: ibkit check fabric --only discovery,sa
`
	if got := groupText(r.Groups[0]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A hint has the name of a node only if the name selects this node.
func TestFabric_GroupNames(t *testing.T) {
	for _, test := range []struct{ name, want string }{
		{"rack2-leaf_1.a", "rack2-leaf_1.a"},
		{"leaf1", "0x0002c90000800700"}, // as another node
		{"17", "0x0002c90000800700"},    // a LID
		{"leaf/2", "0x0002c90000800700"},
		{"leaf*", "0x0002c90000800700"},
		{"leaf 2", "0x0002c90000800700"},
		{"$(x)", "0x0002c90000800700"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := runDemo(t, "describe leaf2 "+test.name, "speed")
			i := slices.IndexFunc(r.Groups, func(g Group) bool { return g.Findings[0].Kind == report.Slow })
			want := "reseat or replace the cable of port 5 of " + test.want + "; then: ibkit linkinfo --node " + test.want
			if i < 0 || r.Groups[i].Findings[0].Hint != want {
				t.Errorf("got groups %+v, want hint %q", r.Groups, want)
			}
			if hint := r.Findings[len(r.Findings)-1].Hint; hint != want {
				t.Errorf("got hint %q in the document, want %q", hint, want)
			}
		})
	}
}
