package watch

import (
	"slices"
	"testing"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// at changes the simulated fabric once, before the first packet after a time.
func at(since time.Duration, change func(packet)) func(packet) error {
	done := false
	return func(p packet) error {
		if !done && p.since >= since {
			done = true
			change(p)
		}
		return nil
	}
}

// linkOf06 changes both ends of node06's link.
func linkOf06(change func(*ib.LinkWidth, *ib.PortState)) func(packet) {
	return func(p packet) {
		for node, port := range map[string]int{"node06": 1, "leaf2": 4} {
			info := &p.fabric.Node(node).Ports[port].Info
			change(&info.LinkWidthActive, &info.State)
		}
	}
}

func TestRun_Links(t *testing.T) {
	checkAll(t, []scenario{
		{
			name: "an adapter leaves and comes back", script: "12s unlink node06[1]\n25s link node06[1]\n",
			want: []string{
				"20s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"20s node-removed node06: left the fabric",
				"30s link-up leaf2[4] - node06[1]: 4X NDR Active",
				"30s node-added node06: in the fabric",
			},
		},
		{
			name: "a link between switches", script: "12s unlink leaf2[1]\n25s link leaf2[1]\n",
			want: []string{
				"20s link-down spine1[2] - leaf2[1]: was 4X NDR Active",
				"30s link-up spine1[2] - leaf2[1]: 4X NDR Active",
			},
		},
		{name: "a flap between two checks", script: "12s flap leaf2[4] 1s 3\n"},
		{
			name: "a flap that a check sees", script: "19s flap leaf2[4] 2s 1\n",
			want: []string{
				"20s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"20s node-removed node06: left the fabric",
				"30s link-up leaf2[4] - node06[1]: 4X NDR Active",
				"30s node-added node06: in the fabric",
			},
		},
		{
			name: "a cable moved to another switch", script: "12s unlink node06[1]\n14s link node06[1] leaf1[9]\n",
			want: []string{
				"20s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"20s link-up leaf1[9] - node06[1]: 4X NDR Active",
			},
		},
		{
			name: "the local cable moved", script: "12s unlink node01[1]\n14s link node01[1] leaf2[9]\n",
			want: []string{
				"20s link-changed node01[1] - leaf2[9]: connected to leaf2[9], before leaf1[3]",
				"20s link-down leaf1[3] - node01[1]: was 4X NDR Active",
			},
		},
		{
			name: "two cables exchanged", options: Options{Rescan: 10 * time.Second},
			script: "12s unlink node06[1]\n12s unlink node05[1]\n12s link node06[1] leaf2[3]\n12s link node05[1] leaf2[4]\n",
			want: []string{
				"20s link-changed leaf2[3] - node06[1]: connected to node06[1], before node05[1]",
				"20s link-changed leaf2[4] - node05[1]: connected to node05[1], before node06[1]",
			},
		},
		{
			name: "a slower link", options: Options{Rescan: 10 * time.Second},
			before: at(12*time.Second, linkOf06(func(w *ib.LinkWidth, _ *ib.PortState) { *w = ib.Width1X })),
			want:   []string{"20s link-changed leaf2[4] - node06[1]: 1X NDR, before 4X NDR; narrow: 1X, but both ends have 4X enabled"},
		},
		{
			name: "a link without a subnet manager", before: at(12*time.Second, linkOf06(func(_ *ib.LinkWidth, s *ib.PortState) { *s = ib.PortInit })),
			want: []string{"20s link-changed leaf2[4] - node06[1]: Initialize, before Active; not-active: not activated by a subnet manager"},
		},
		{
			name: "a switch without power", script: "12s down leaf4\n35s up leaf4\n", fabric: "demo",
			want: []string{
				"20s link-down spine1[4] - leaf4[1]: was 4X NDR Active",
				"20s link-down spine2[4] - leaf4[2]: was 4X NDR Active",
				"20s node-removed leaf4: left the fabric",
				"20s node-silent node13: no reply, and no link of it is known to be down",
				"20s node-silent node14: no reply, and no link of it is known to be down",
				"20s node-silent node15: no reply, and no link of it is known to be down",
				"20s node-silent node16: no reply, and no link of it is known to be down",
				"40s link-up spine1[4] - leaf4[1]: 4X NDR Active",
				"40s link-up spine2[4] - leaf4[2]: 4X NDR Active",
				"40s node-added leaf4: in the fabric",
				"40s node-added node13: responds again",
				"40s node-added node14: responds again",
				"40s node-added node15: responds again",
				"40s node-added node16: responds again",
			},
		},
		{
			name: "the description changed", options: Options{Rescan: 10 * time.Second}, script: "12s describe leaf2 new name\n",
			want: []string{`20s node-changed new name: name "new name", before "leaf2"`},
		},
		{
			name: "the subnet manager changed LIDs", options: Options{Rescan: 10 * time.Second}, before: at(12*time.Second, func(p packet) {
				p.fabric.Node("node06").Ports[1].Info.LID = 99
				p.fabric.Node("leaf2").Ports[0].Info.LID = 98
			}),
			want: []string{"20s node-changed leaf2: LID 98, before 8", "20s node-changed node06[1]: LID 99, before 10"},
		},
	})
}

// While the local port has no peer that responds, the other nodes are not reported.
func TestRun_LocalLink(t *testing.T) {
	const polling = "source-lost links: the link of the local port is down (Polling): no other node was found"
	checkAll(t, []scenario{
		{
			name: "down", script: "12s unlink node01[1]\n22s unlink node06[1]\n35s link node01[1]\n",
			want: []string{
				"20s link-down node01[1] - leaf1[3]: was 4X NDR Active",
				"20s " + polling,
				"40s source-up links: 21 nodes, 23 links",
				"40s link-up node01[1] - leaf1[3]: 4X NDR Active",
				"40s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"40s node-removed node06: left the fabric",
			},
		},
		{
			name: "down twice", script: "12s flap node01[1] 15s 2\n", options: Options{Duration: 80 * time.Second},
			want: []string{
				"20s link-down node01[1] - leaf1[3]: was 4X NDR Active",
				"20s " + polling,
				"30s source-up links: 22 nodes, 24 links",
				"30s link-up node01[1] - leaf1[3]: 4X NDR Active",
				"50s link-down node01[1] - leaf1[3]: was 4X NDR Active",
				"50s " + polling,
				"1m0s source-up links: 22 nodes, 24 links",
				"1m0s link-up node01[1] - leaf1[3]: 4X NDR Active",
			},
		},
		{
			name: "down at the start", script: "0s unlink node01[1]\n15s link node01[1]\n",
			want: []string{"0s " + polling, "20s source-up links: 22 nodes, 24 links"},
		},
		{
			name: "silent peer", script: "12s hang leaf1\n35s resume leaf1\n",
			want: []string{
				"20s source-lost links: no other node was found: Get NodeInfo of route 0,1, sent 3 times: no reply in time",
				"41s source-up links: 22 nodes, 24 links",
			},
		},
	})
}

// Each event has the severity by which options select it.
func TestRun_Severities(t *testing.T) {
	narrow := func(w *ib.LinkWidth, _ *ib.PortState) { *w = ib.Width1X }
	for _, test := range []struct {
		scenario
		want []report.Severity
	}{
		{scenario{name: "down and up", script: "12s unlink leaf2[1]\n25s link leaf2[1]\n"}, []report.Severity{report.Error, report.Recovery}},
		{scenario{name: "leaves and comes back", script: "12s unlink node06[1]\n25s link node06[1]\n"}, []report.Severity{report.Error, report.Error, report.Recovery, report.Recovery}},
		{scenario{name: "silent", script: "12s hang node06\n25s resume node06\n", options: Options{Rescan: 10 * time.Second}}, []report.Severity{report.Error, report.Recovery}},
		{scenario{name: "renamed", script: "12s describe leaf2 new\n", options: Options{Rescan: 10 * time.Second}}, []report.Severity{report.Info}},
		{scenario{name: "slower", options: Options{Rescan: 10 * time.Second}, before: at(12*time.Second, linkOf06(narrow))}, []report.Severity{report.Error}},
		{
			scenario{name: "not active, then active but slower", before: func(p packet) error {
				at(12*time.Second, linkOf06(func(_ *ib.LinkWidth, s *ib.PortState) { *s = ib.PortInit }))(p)
				at(22*time.Second, linkOf06(func(w *ib.LinkWidth, s *ib.PortState) { *w, *s = ib.Width1X, ib.PortActive }))(p)
				return nil
			}},
			[]report.Severity{report.Error, report.Error},
		},
		{
			scenario{name: "slower, then as before", options: Options{Rescan: 10 * time.Second}, before: func(p packet) error {
				if p.since < 22*time.Second {
					return at(12*time.Second, linkOf06(narrow))(p)
				}
				return at(22*time.Second, linkOf06(func(w *ib.LinkWidth, _ *ib.PortState) { *w = ib.Width4X }))(p)
			}},
			[]report.Severity{report.Error, report.Recovery},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := test.watch(t)
			var got []report.Severity
			for _, e := range r.events {
				if !e.Kind.IsState() {
					got = append(got, e.Severity)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v\n%q", got, test.want, r.lines())
			}
		})
	}
}

// A link event matches the nodes at both ends, also the node that it does not begin with.
func TestEvent_Match(t *testing.T) {
	s := scenario{script: "12s unlink node06[1]\n"}
	matches := map[string][]string{}
	for _, e := range s.watch(t).events {
		for _, name := range []string{"leaf2", "node06", "node05"} {
			if !e.Kind.IsState() && e.Match(func(n *fabric.Node) bool { return n.Desc.String() == name }) {
				matches[name] = append(matches[name], string(e.Kind))
			}
		}
	}
	for name, want := range map[string][]string{"leaf2": {"link-down"}, "node06": {"link-down", "node-removed"}, "node05": nil} {
		if !slices.Equal(matches[name], want) {
			t.Errorf("%s: got %v, want %v", name, matches[name], want)
		}
	}
}
