package linkinfo

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// hostile are descriptions of nodes that a report must escape.
var hostile = []string{
	"", `"quoted"`, `back\slash\`, "<script>&amp;</script>", "tab\tnewline\nescape\x1b[2J", "\x7f\x80\xff",
	"h\u00f6st \u6a5f\u67b6", "\u2028\u2029", "\ufffd", "'", "a\x00b", strings.Repeat("\xfe", 64), strings.Repeat(`"`, 80),
}

// sameNode compares AppendNodeJSON with encoding/json.
func sameNode(t *testing.T, n *fabric.Node, ends []End, o ReportOptions) {
	t.Helper()
	want, err := json.Marshal(NewReportNode(n, ends, o))
	if err != nil {
		t.Fatal(err)
	}
	const before = "before"
	got, ok := strings.CutPrefix(string(AppendNodeJSON([]byte(before), n, ends, o)), before)
	if !ok || got != string(want) {
		t.Errorf("node %v differs from encoding/json (-want +got):\n%s", n.GUID, cmp.Diff(string(want), got))
	}
}

// scanned returns a simulated fabric and its link ends.
func scanned(t *testing.T, description string) (*fabric.Fabric, []End) {
	t.Helper()
	simulated, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Options{Source: fabric.Source{OpenPort: simulated.Opener("")}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Fabric, Ends(r.Fabric, r.Fabric.Nodes)
}

// endsOf returns the ends at one node.
func endsOf(n *fabric.Node, ends []End) []End {
	var own []End
	for _, e := range ends {
		if e.Port.Node == n {
			own = append(own, e)
		}
	}
	return own
}

// TestAppendNodeJSON compares all nodes of several fabrics.
func TestAppendNodeJSON(t *testing.T) {
	for _, description := range []string{
		"demo", "torus:speed=XDR", "single-switch:speed=QDR,hosts=2",
		"net:../test/nets/chassis.net", "net:../test/nets/fdr10.net", "net:../test/nets/routers.net",
		"net:../test/nets/odd-descriptions.net", "net:../test/nets/speeds-and-widths.net",
	} {
		t.Run(description, func(t *testing.T) {
			f, ends := scanned(t, description)
			for _, n := range f.Nodes {
				own := endsOf(n, ends)
				sameNode(t, n, own, ReportOptions{})
				sameNode(t, n, nil, ReportOptions{})
				sameNode(t, n, own, ReportOptions{Attributes: true})
				sameNode(t, n, own, ReportOptions{Counters: func(p *fabric.Port) *ReportCounters {
					if p.Number%2 == 0 {
						return &ReportCounters{Read: p.Number > 2}
					}
					return &ReportCounters{Read: true, Worst: &ReportCounter{Counter: "<>", Value: 1 << 63, Meaning: "\xff"}}
				}})
			}
		})
	}
}

// TestAppendNodeJSON_hostile puts each hostile text into the descriptions and into the
// node name map of the demo.
func TestAppendNodeJSON_hostile(t *testing.T) {
	f, ends := scanned(t, "demo")
	for _, text := range hostile {
		t.Run(text, func(t *testing.T) {
			for _, n := range f.Nodes {
				n.Desc = mad.NewNodeDescription(text)
			}
			quoted := strings.Map(func(r rune) rune {
				if r == '"' || r < ' ' {
					return '\''
				}
				return r
			}, text)
			names, err := fabric.ReadNameMap(strings.NewReader(f.Nodes[1].GUID.String()+` "`+quoted+`"`), "map")
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range f.Nodes {
				own := endsOf(n, ends)
				sameNode(t, n, own, ReportOptions{})
				sameNode(t, n, own, ReportOptions{Names: names})
			}
		})
	}
}

// TestAppendNodeJSON_values compares ports with all widths, speeds, states and findings.
func TestAppendNodeJSON_values(t *testing.T) {
	p := link(active(nil), active(nil))
	n := p.Node
	var ends []End
	for w := range 256 {
		ends = append(ends, End{Port: p, Width: ib.LinkWidth(w), Speed: ib.SDR, BestWidth: ib.LinkWidth(255 - w)})
	}
	for s := range 1 << 10 {
		ends = append(ends, End{Port: p, Width: ib.Width12X, Speed: ib.Speed(s), BestSpeed: ib.Speed(1023 - s)})
	}
	for s := range 256 {
		own := *p
		own.Info = &mad.PortInfo{State: ib.PortState(s), PhysState: ib.PhysState(s), LID: ib.LID(s << 8)}
		own.External = s - 1
		ends = append(ends, NewEnd(&own, true), End{Port: &own, Findings: []Finding{{Kind: Kind(s % 16), got: rate{1, 2}, port: p}, {Kind: Uneven}}})
	}
	silent := *p
	silent.Info, silent.Peer = nil, nil
	ends = append(ends, NewEnd(&silent, true))
	sameNode(t, n, ends, ReportOptions{})
}

// FuzzAppendText compares the encoding of strings with encoding/json.
func FuzzAppendText(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendText(nil, text); string(got) != string(want) {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
