package topology_test

import (
	"context"
	"encoding/csv"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
)

// hostileNames are names that other programs would interpret.
var hostileNames = []string{
	`=HYPERLINK("http://x","y")`, "+1", "-1+2", "@SUM(1)", "\t=1", `"];x [label="`, `\N\L`, "a,b\nc", "node[1-9]", "x Nodes=ALL",
	"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\x1b[31mred", "]]>&amp;", "'quoted", "日本", "",
}

// scan returns a simulated fabric.
func scan(t testing.TB, description string, change func(*sim.Fabric)) *fabric.Fabric {
	t.Helper()
	s, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(s)
	}
	f, err := topology.Run(context.Background(), topology.Options{
		Source: fabric.Source{OpenPort: s.Opener("")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// hostile returns a fabric with hostile names.
func hostile(t testing.TB) *fabric.Fabric {
	t.Helper()
	return scan(t, "demo", func(s *sim.Fabric) {
		for i, n := range s.Nodes {
			n.Desc = mad.NewNodeDescription(hostileNames[i%len(hostileNames)])
		}
	})
}

func render(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteCSV_Hostile(t *testing.T) {
	f := hostile(t)
	text := render(t, func(w io.Writer) error { return topology.WriteCSV(w, topology.Cables(f), nil) })
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) != 25 {
		t.Fatalf("got %d records, error %v", len(records), err)
	}
	for _, record := range records {
		for _, cell := range record {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
				t.Errorf("got the formula %q", cell)
			}
		}
	}
}

func TestWriteDOT_Hostile(t *testing.T) {
	f := hostile(t)
	text := render(t, func(w io.Writer) error { return topology.WriteDOT(w, f, nil) })
	str := `"(?:[^"\\\n]|\\["\\])*"`
	line := regexp.MustCompile(`^(graph fabric \{|\}|  node \[.*\];|  n\d+ \[label=` + str + `, shape=\w+, tooltip=` + str + `\];|  n\d+ -- n\d+ \[taillabel="\d+", headlabel="\d+", tooltip=` + str + `\];)$`)
	for l := range strings.Lines(text) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("got the line %q", l)
		}
	}
}

func TestWriteSlurm_Hostile(t *testing.T) {
	f := hostile(t)
	line := regexp.MustCompile(`^(# [\w.:/= -]+|SwitchName=[\w.-]+ (Nodes|Switches)=[\w.,\[\]-]+|BlockName=[\w.-]+ Nodes=[\w.,\[\]-]+|BlockSizes=\d+)$`)
	for name, write := range map[string]func(io.Writer, *fabric.Fabric, *fabric.NameMap) error{"tree": topology.WriteSlurm, "block": topology.WriteSlurmBlocks} {
		t.Run(name, func(t *testing.T) {
			text := render(t, func(w io.Writer) error { return write(w, f, nil) })
			var switches []string
			for l := range strings.Lines(text) {
				if !line.MatchString(strings.TrimSuffix(l, "\n")) {
					t.Errorf("got the line %q", l)
				}
				if s, _, ok := strings.Cut(l, " "); ok && strings.HasPrefix(s, "SwitchName=") {
					switches = append(switches, s)
				}
			}
			slices.Sort(switches)
			if len(slices.Compact(slices.Clone(switches))) != len(switches) {
				t.Errorf("got the switches %v, want unique names", switches)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*sim.Fabric)
		want   string
	}{
		{"none", nil, ""},
		{"zero LID", func(s *sim.Fabric) { s.Nodes[3].Ports[1].Info.LID = 0 }, "zero-lid: "},
		{"duplicate LID", func(s *sim.Fabric) { s.Nodes[3].Ports[1].Info.LID = s.Nodes[4].Ports[1].Info.LID }, "duplicate-lid: "},
		{"LMC", func(s *sim.Fabric) { s.Nodes[3].Ports[1].Info.LID, s.Nodes[3].Ports[1].Info.LMC = 101, 2 }, "lid-range: "},
		{"last LID", func(s *sim.Fabric) { s.Nodes[3].Ports[1].Info.LID, s.Nodes[3].Ports[1].Info.LMC = 0xbffe, 1 }, ""},
		{"beyond the last LID", func(s *sim.Fabric) { s.Nodes[3].Ports[1].Info.LID, s.Nodes[3].Ports[1].Info.LMC = 0xbffc, 3 }, "lid-range: "},
		{"description", func(s *sim.Fabric) { s.Nodes[3].Desc = s.Nodes[4].Desc }, "duplicate-name: "},
		{"empty description", func(s *sim.Fabric) { s.Nodes[3].Desc = mad.NodeDescription{} }, "empty-name: node 0x"},
		{"aggregation nodes", func(s *sim.Fabric) {
			s.Nodes[3].Desc = mad.NewNodeDescription("Mellanox Technologies Aggregation Node")
			s.Nodes[4].Desc = s.Nodes[3].Desc
		}, ""},
		{"zero node GUID", func(s *sim.Fabric) { s.Nodes[3].Info.NodeGUID = 0 }, "zero-guid: "},
		{"zero port GUID", func(s *sim.Fabric) { s.Nodes[3].Info.PortGUID, s.Nodes[3].Ports[1].GUID = 0, 0 }, "zero-guid: "},
		{"zero system image GUID", func(s *sim.Fabric) { s.Nodes[3].Info.SystemGUID = 0 }, "zero-guid: "},
		{"overlap", func(s *sim.Fabric) {
			s.Nodes[3].Ports[1].Info.LID, s.Nodes[3].Ports[1].Info.LMC = 200, 3
			s.Nodes[4].Ports[1].Info.LID = ib.LID(207)
		}, "duplicate-lid: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			findings := topology.Check(scan(t, "demo", test.change), nil)
			if test.want == "" {
				if len(findings) > 0 {
					t.Errorf("got %v", findings)
				}
				return
			}
			if len(findings) != 1 || !strings.HasPrefix(string(findings[0].Kind)+": "+findings[0].Detail, test.want) {
				t.Errorf("got %v, want %q", findings, test.want)
			}
		})
	}
}

// The specification permits system image GUID 0, so that it is no error.
func TestCheck_SystemGUID(t *testing.T) {
	f := scan(t, "demo", func(s *sim.Fabric) { s.Nodes[3].Info.SystemGUID = 0 })
	got := topology.Check(f, nil)
	if len(got) != 1 || got[0].Severity != report.Warning || got[0].NodeGUID == nil || *got[0].NodeGUID == 0 {
		t.Errorf("got %v, want a warning about a node", got)
	}
}

// The finding count grows with the ports, not with their pairs.
func TestCheck_OneLID(t *testing.T) {
	adapters := 0
	findings := topology.Check(scan(t, "demo", func(s *sim.Fabric) {
		for _, n := range s.Nodes {
			if !n.IsSwitch() {
				n.Ports[1].Info.LID = 300
				adapters++
			}
		}
	}), nil)
	ends := map[string]bool{}
	for _, f := range findings {
		for _, e := range endsOf(f) {
			ends[e.Name] = true
		}
	}
	if len(findings) != adapters-1 || len(ends) != adapters {
		t.Errorf("got %d findings about %d adapters, want %d about %d", len(findings), len(ends), adapters-1, adapters)
	}
}
