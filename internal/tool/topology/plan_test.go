package topology_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
)

func endsOf(f report.Finding) []topology.End { return f.Data.(*topology.FindingData).Ends }

// describe returns the findings as lines with kind, detail and job.
func describe(findings []report.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s: %s\n\t%s\n", f.Kind, f.Detail, f.Hint)
	}
	return b.String()
}

func parse(t *testing.T, text string) *topology.Plan {
	t.Helper()
	p, err := topology.ParsePlan([]byte(text), "plan")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// csvOf returns the plan that WriteCSV writes.
func csvOf(t *testing.T, f *fabric.Fabric) string {
	t.Helper()
	return render(t, func(w io.Writer) error { return topology.WriteCSV(w, topology.Cables(f), nil) })
}

// hosts gives the hosts in the fabric demo two adapters each: node01 mlx5_0, node01
// mlx5_1, node03 mlx5_0 ….
func hosts(s *sim.Fabric) {
	for i := range 16 {
		n := s.Nodes[0]
		for _, n = range s.Nodes {
			if n.Desc.String() == fmt.Sprintf("node%02d", i+1) {
				break
			}
		}
		n.Desc = mad.NewNodeDescription(fmt.Sprintf("node%02d mlx5_%d", i/2*2+1, i%2))
	}
}

func TestPlan_Compare(t *testing.T) {
	f := scan(t, "demo", nil)
	plan := csvOf(t, f)
	for _, test := range []struct {
		name, plan, want string
	}{
		{"the same", plan, ""},
		{"swapped at the switch", strings.NewReplacer("leaf1,4,node02", "leaf1,5,node02", "leaf1,5,node03", "leaf1,4,node03").Replace(plan),
			"swapped: the cables of leaf1[5] and leaf1[4] look swapped: leaf1[5] is connected to node03[1], leaf1[4] to node02[1]\n" +
				"\texchange the cables at leaf1[5] and leaf1[4]\n"},
		{"swapped between switches", "StartDevice,StartPort,EndDevice,EndPort\nleaf1,4,node05,1\nleaf2,3,node02,1\n",
			"swapped: the cables of leaf1[4] and leaf2[3] look swapped: leaf1[4] is connected to node02[1], leaf2[3] to node05[1]\n" +
				"\texchange the cables at leaf1[4] and leaf2[3]\n"},
		{"wrong port", "A-Node Name,A-Port,Z-Node Name,Z-Port,A-Rack,A-U\nleaf1,4,spine1,9,R1,U20\n",
			"wrong-peer: leaf1[4] is connected to node02[1], planned: spine1[9]\n" +
				"\track R1 U20: move the cable of leaf1[4] from node02[1] to spine1[9]\n"},
		{"missing cable", "Source,Source Port,Destination,Destination Port\nleaf1,15,leaf2,P15\n",
			"missing-cable: no link between leaf1[15] and leaf2[15]\n\tconnect leaf1[15] to leaf2[15]\n"},
		{"missing node", "Rack,U,Name,Port,Rack,U,Name,HCA/Port\n1,2,leaf1,4,7,9,node77,HCA 1\n1,2,leaf1,5,7,9,node77,HCA 2\n",
			"missing-node: node77 is not in the fabric\n\track 7 U9: check power, links and name of node77\n" +
				"wrong-peer: leaf1[4] is connected to node02[1], planned: node77 HCA 1\n\track 1 U2: move the cable of leaf1[4] from node02[1] to node77 HCA 1\n" +
				"wrong-peer: leaf1[5] is connected to node03[1], planned: node77 HCA 2\n\track 1 U2: move the cable of leaf1[5] from node03[1] to node77 HCA 2\n"},
		{"slower", "start_device;start_port;end_device;end_port;speed\nleaf1;4;node02;1;XDR\nleaf4;6;node16;1;400G\nleaf1;1;spine1;1;4X NDR\n",
			"slower: leaf1[4] to node02[1] runs at 4X NDR, planned: XDR\n\treplace or reseat the cable between leaf1[4] and node02[1]\n" +
				"slower: leaf4[6] to node16[1] runs at 4X HDR, planned: 400 Gbit/s\n\treplace or reseat the cable between leaf4[6] and node16[1]\n" +
				"slower: leaf1[1] to spine1[1] runs at 2X NDR, planned: 4X\n\treplace or reseat the cable between leaf1[1] and spine1[1]\n"},
		{"no such port", "StartDevice,StartPort,EndDevice,EndPort\nleaf1,99,node02,1\n",
			"missing-cable: leaf1 has no port 99\n\tcheck the port of leaf1[99] in the plan\n"},
		{"split ports and any port", "#StartDevice,StartPort,EndDevice,EndPort,LinkType\n# a comment\nLEAF1,2/2,node02,ibp11s0f0,InfiniBand\n,,,,\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			findings := parse(t, test.plan).Compare(f, nil)
			var kept []report.Finding
			for _, x := range findings {
				if x.Kind != report.UnexpectedCable || test.name == "the same" {
					kept = append(kept, x)
				}
			}
			if got := describe(kept); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestPlan_Adapters compares adapter labels, managed switch names, and GUIDs that have
// changed since the plan was written.
func TestPlan_Adapters(t *testing.T) {
	f := scan(t, "demo", func(s *sim.Fabric) {
		hosts(s)
		for _, n := range s.Nodes {
			if n.Desc.String() == "leaf1" {
				n.Desc = mad.NewNodeDescription("MF0;leaf1:MQM9700/U1")
			}
		}
	})
	for _, row := range []string{
		"leaf1,3,node01,mlx5_0", "leaf1,4,node01,HCA 2", "leaf1,4,node01,mlx5_1/P1", "leaf1,3,node01 mlx5_0,1", "leaf1,3,node01 HCA-1,1",
		"MF0;leaf1:MQM9700/U1,P3,node01,1", "leaf1,2/1,NODE01,1", "leaf1,,node01,", "0x0002c90000800200,4,node01,",
	} {
		t.Run(row, func(t *testing.T) {
			for _, x := range parse(t, "StartDevice,StartPort,EndDevice,EndPort\n"+row+"\n").Compare(f, nil) {
				if x.Kind != report.UnexpectedCable {
					t.Errorf("got %s: %s", x.Kind, x.Detail)
				}
			}
		})
	}
	plan := strings.ReplaceAll(csvOf(t, f), "0x0002c900001", "0x0002c900999") // adapters were replaced
	if got := parse(t, plan).Compare(f, nil); len(got) > 0 {
		t.Errorf("got %v", describe(got))
	}
	if got := describe(parse(t, "StartDevice,StartPort,EndDevice,EndPort\nleaf1,3,node01,mlx5_1\n").Compare(f, nil)); !strings.HasPrefix(got, "wrong-peer") {
		t.Errorf("got %v, want a wrong peer", got)
	}
}

// TestPlan_Labels compares NDT files with director and host device names.
func TestPlan_Labels(t *testing.T) {
	f := scan(t, "demo", func(s *sim.Fabric) {
		for _, n := range s.Nodes {
			switch n.Desc.String() {
			case "spine1":
				n.Desc = mad.NewNodeDescription("MF0;director-A:MCS8500/L06/U2")
			case "node01":
				n.Desc = mad.NewNodeDescription("node01 ibp11s0f0")
			case "node02":
				n.Desc = mad.NewNodeDescription("node01 ibp203s0f0")
			}
		}
	})
	for _, test := range []struct{ row, want string }{
		{"Leaf1,Port 1,DIRECTOR-A,Blade 06_Port 2/1,Data", ""},
		{"leaf1,Port 1,director-a,Blade 6_Port 1/1,Data", "missing-node"},
		{"node01,node01 ibp11s0f0,leaf1,Port 3,Data", ""},
		{"node01,ibp203s0f0,leaf1,Port 4,Data", ""},
		{"node01,node01 ibp203s0f1,leaf1,Port 4,Data", "wrong-peer"},
		{"node01,ibp203s0f0,leaf1,Port 3,Data", "wrong-peer"},
		{"node01,IB Port,leaf1,Port 3,Data", ""},
		{"leaf1,abra,leaf2,cadabra,Data", "missing-cable"},
		{"node01,1,leaf1,Port 3,Data", ""},
		{"node01,0,leaf1,Port 3,Data", "ambiguous"},
		{"node01,Port 0,leaf1,Port 3,Data", "ambiguous"},
		{"node01,-1,leaf1,Port 3,Data", "ambiguous"},
		{"node01,1,leaf1,-3,Data", "missing-cable"},
		{"node01,1,leaf1,0,Data", "missing-cable"},
	} {
		t.Run(test.row, func(t *testing.T) {
			got := parse(t, "#StartDevice,StartPort,EndDevice,EndPort,LinkType\n"+test.row+"\n").Compare(f, nil)
			if kind := string(got[0].Kind); kind != test.want && (test.want != "" || kind != "unexpected-cable") {
				t.Errorf("got %s: %s, want %q", kind, got[0].Detail, test.want)
			}
		})
	}
}

// formats returns the fabric demo in each format that ParsePlan reads.
func formats(t testing.TB, f *fabric.Fabric) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	for name, write := range map[string]func(io.Writer) error{
		"csv":         func(w io.Writer) error { return topology.WriteCSV(w, topology.Cables(f), nil) },
		"netdiscover": func(w io.Writer) error { return (&topology.Text{}).WriteTopology(w, f) },
		"grouped":     func(w io.Writer) error { return (&topology.Text{Group: true, Full: true}).WriteTopology(w, f) },
		"lst":         func(w io.Writer) error { return ibdiagnet.WriteList(w, f, nil) },
		"cache":       f.WriteCache,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		texts[name] = b.Bytes()
	}
	return texts
}

func TestPlan_Formats(t *testing.T) {
	f := scan(t, "demo", nil)
	for name, text := range formats(t, f) {
		t.Run(name, func(t *testing.T) {
			if got := parse(t, string(text)).Compare(f, nil); len(got) > 0 {
				t.Errorf("got %s", describe(got))
			}
			if p := parse(t, string(text)); len(p.Cables) != 24 {
				t.Errorf("got %d cables, want 24", len(p.Cables))
			}
		})
	}
	t.Run("db_csv", func(t *testing.T) {
		const text = "# ibdiagnet\nSTART_NODES\nNodeDesc,NumPorts,NodeGUID\n\"leaf1\",16,0x0002c90000800200\n\"node02\",1,0x00deadbeef\nEND_NODES\n\n" +
			"START_CABLE_INFO\nx\n1\nEND_CABLE_INFO\n\nSTART_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n0x0002c90000800200,4,0x00deadbeef,1\nEND_LINKS\n"
		for _, x := range parse(t, text).Compare(f, nil) {
			if x.Kind != report.UnexpectedCable {
				t.Errorf("got %s: %s", x.Kind, x.Detail)
			}
		}
	})
	for _, path := range []string{"opensm.lst", "demo.topo"} {
		t.Run(path, func(t *testing.T) {
			p, err := topology.ReadPlan(filepath.Join("testdata", path))
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Cables) != 8 || p.Cables[0].Speed.String() != "SDR" || p.Cables[0].Width.String() != "4X" {
				t.Errorf("got %d cables, the first one %+v", len(p.Cables), p.Cables[0])
			}
		})
	}
}

func TestParsePlan_Errors(t *testing.T) {
	for _, test := range []struct{ name, plan, want string }{
		{"empty", "", "read plan plan: not a plan: got no header"},
		{"no header", "a,b\nc,d\n", "read plan plan: not a plan: got no header"},
		{"measurements", "src,dst,bandwidth_gbps,latency_us\nnode01,node02,1,2\n", "read plan plan: not a plan: got no header"},
		{"binary", "a\x00b", "read plan plan: not a plan: the file is binary"},
		{"no cables", "StartDevice,EndDevice\n", "read plan plan: got no cables"},
		{"JSON", "{\"schema\":\n1}", "read plan plan:2: schema: got \"1\""},
		{"JSON syntax", "{\"schema\":\n}", "read plan plan:2: invalid JSON: invalid character '}'"},
		{"other JSON", `{"schema":"x"}`, `read plan plan: got schema "x"`},
		{"JSON width", `{"schema":"ibkit/topology/3","cables":[{"width":"9X"}]}`, "read plan plan:1: the cable has a single end"},
		{"lst", "{ CA Ports:01 x\n", "read plan plan:1: got \"x\", want SystemGUID: and a hexadecimal number"},
		{"topo order", "  P1 -> Y h P1\n", "read plan plan:1: got a cable before a system"},
		{"db_csv", "START_NODES\nNodeGUID,NumPorts\n0x1,1\nEND_NODES\nSTART_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n0x1,1,0x2,1\n", "read plan plan:7: node 0x0000000000000002 is not in section NODES"},
		{"db_csv without links", "START_NODES\nNodeGUID\n0x1\nEND_NODES\n", "read plan plan: got no cables"},
		{"netdiscover", "Switch\t2 \"S-0000000000000001\"\n[9]\t\"S-0000000000000002\"[1]\n", "plan:2"},
		{"cache", "\x2b\x83\xe7\x8f", "read plan plan: read cache: offset 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := topology.ParsePlan([]byte(test.plan), "plan")
			_, ok := errors.AsType[*textfile.Error](err)
			if !ok || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := topology.ReadPlan("/nonexistent"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func FuzzParsePlan(f *testing.F) {
	for _, text := range formats(f, scan(f, "single-switch:hosts=2", nil)) {
		f.Add(text)
	}
	for _, text := range []string{
		"#StartDevice,StartPort,EndDevice,EndPort,Speed\na,1/2,b,mlx5_0/P1,4X HDR\n",
		"{ CA Ports:02 SystemGUID:1 NodeGUID:1 PortGUID:1 VenID:0 DevID:B Rev:0 {H-{}1} LID:0002 PN:01 } { SW-SM Ports:18 SystemGUID:2 NodeGUID:2 PortGUID:2 VenID:2 DevID:B Rev:A {S-1} LID:0001 PN:01 } PHY=4x LOG=ACT SPD=2.5\n",
		"START_NODES\nNodeDesc,NodeGUID,NumPorts\n\"a, b\",0x1,1\nb,0x2,1\nEND_NODES\nSTART_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n0x1,1,0x2,1\nEND_LINKS\n",
		"X s CFG: a=b\n  P1 -4x-50G-> Y h mlx5_0/P1\n",
		`{"schema":"ibkit/linkinfo/4","nodes":[{"node_guid":"0x1","name":"a","ports":[{"port":1,"peer":{"node_guid":"0x2","port":1,"name":"b"}}]}]}`,
	} {
		f.Add([]byte(text))
	}
	fabricOf := scan(f, "demo", nil)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := topology.ParsePlan(data, "plan")
		if err != nil {
			if _, ok := errors.AsType[*textfile.Error](err); !ok {
				t.Fatalf("got %T, want a *textfile.Error: %v", err, err)
			}
			return
		}
		for _, x := range p.Compare(fabricOf, nil) {
			if x.Detail == "" || x.Hint == "" || len(endsOf(x)) == 0 || strings.ContainsAny(x.Detail+x.Hint, "\n\r\x1b") {
				t.Fatalf("got %+v", x)
			}
		}
	})
}

// A plan may have names from the node name map, the descriptions, or GUIDs as names.
func TestPlan_NodeNames(t *testing.T) {
	f := scan(t, "demo", nil)
	leaf := topology.Cables(f)[0].B.Node // leaf1, with node01 at port 3
	names, err := fabric.ReadNameMap(strings.NewReader(leaf.GUID.String()+" \"rack 7 top\"\n"), "map")
	if err != nil {
		t.Fatal(err)
	}
	for name, found := range map[string]bool{"Rack 7  Top": true, "leaf1": true, leaf.GUID.String(): true, "rack 8 top": false} {
		t.Run(name, func(t *testing.T) {
			got := parse(t, "StartDevice,StartPort,EndDevice,EndPort\n"+name+",3,node01,1\n").Compare(f, names)
			if missing := got[0].Kind == report.MissingNode; missing == found {
				t.Errorf("got %s", describe(got[:1]))
			}
		})
	}
}

// Nodes that share a description are findings if the plan identifies them by it.
func TestPlan_DuplicateNames(t *testing.T) {
	f := scan(t, "demo", func(s *sim.Fabric) { s.Nodes[3].Desc = s.Nodes[4].Desc })
	plan := parse(t, csvOf(t, f))
	if got := plan.Compare(f, nil); len(got) > 0 {
		t.Errorf("with GUIDs: got %s", describe(got))
	}
	for i := range plan.Cables {
		plan.Cables[i].A.GUID, plan.Cables[i].B.GUID = 0, 0
	}
	got := plan.Compare(f, nil)
	if len(got) != 1 || got[0].Kind != report.DuplicateName || len(endsOf(got[0])) != 2 || !strings.Contains(got[0].Hint, *endsOf(got[0])[1].GUID) {
		t.Errorf("without GUIDs: got %s", describe(got))
	}
}

// The fabric is the plan, whatever the names are: all the same, empty, comments, hostile.
func TestPlan_Same(t *testing.T) {
	for name, desc := range map[string]func(i int) string{
		"the same": func(int) string { return "MT4129 ConnectX7   Mellanox Technologies" },
		"empty":    func(int) string { return "" },
		"comments": func(i int) string { return fmt.Sprintf("#%d", i) },
		"hostile":  func(i int) string { return hostileNames[i%len(hostileNames)] },
	} {
		t.Run(name, func(t *testing.T) {
			f := scan(t, "demo", func(s *sim.Fabric) {
				for i, n := range s.Nodes {
					n.Desc = mad.NewNodeDescription(desc(i))
				}
			})
			plan := parse(t, csvOf(t, f))
			if got := plan.Compare(f, nil); len(got) > 0 || len(plan.Cables) != len(topology.Cables(f)) {
				t.Errorf("got %d cables, want %d; %s", len(plan.Cables), len(topology.Cables(f)), describe(got))
			}
		})
	}
}

// A plan without the ports at one end has one of several parallel cables in each row, and may
// list a cable at each end.
func TestPlan_WithoutStartPort(t *testing.T) {
	d, err := fabricfile.Read("../../../test/topologies/parallel-slow.topo")
	if err != nil {
		t.Fatal(err)
	}
	names, err := fabric.ReadNameMap(strings.NewReader("0x10 left\n0x20 right\n"), "map")
	if err != nil {
		t.Fatal(err)
	}
	const toRight = "left,right,Port 10\nleft,right,Port 11\nleft,right,Port 12\nleft,n1,1\n"
	for name, test := range map[string]struct{ rows, want string }{
		"one row for each cable": {toRight, ""},
		"at each end":            {toRight + "right,left,Port 10\nright,left,Port 11\nright,left,Port 12\nn1,left,Port 1\n", ""},
		"one row too many": {toRight + "left,right,Port 13\n",
			"missing-cable: no link between left and right Port 13\n\tconnect left to right Port 13\n"},
		"a row of two is missing": {"left,right,Port 10\nleft,right,Port 12\nleft,n1,\n",
			"unexpected-cable: left[11] is connected to right[11], which the plan does not contain\n\tremove the cable between left[11] and right[11], or add it to the plan\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := describe(parse(t, "#StartDevice,EndDevice,EndPort\n"+test.rows).Compare(d.Fabric, names))
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// BenchmarkPlan compares 10,368 hosts with their plan.
func BenchmarkPlan(b *testing.B) {
	f := scan(b, "fat-tree:levels=3,radix=48,pods=18", nil)
	plan := topology.PlanOf(f, nil)
	b.ReportMetric(float64(len(plan.Cables)), "cables")
	for b.Loop() {
		if got := plan.Compare(f, nil); len(got) > 0 {
			b.Fatalf("got %d findings", len(got))
		}
	}
}

// Labels that agents report take precedence over numbers: this switch's connectors have
// a single port, which is split.
func TestPlan_AgentLabels(t *testing.T) {
	s, err := sim.Build("single-switch:hosts=4,speed=HDR,split=2,vendor=on")
	if err != nil {
		t.Fatal(err)
	}
	f, err := topology.Run(t.Context(), topology.Options{Source: fabric.Source{OpenPort: s.Opener("")}, Labels: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := "switch1,3,host003,1,"; !strings.Contains(csvOf(t, f), want) || !strings.Contains(csvOf(t, f), ",1/2/1/1,B23D0F0/1/1\n") {
		t.Errorf("got no labels in\n%s", csvOf(t, f))
	}
	if page := render(t, topology.NewPicture(f, nil, nil).WriteHTML); !strings.Contains(page, `"3":"1/2/1/1"`) || !strings.Contains(page, `{"1":"B23D0F0/1/1"}`) {
		t.Error("got no labels in the page")
	}
	for _, tt := range []struct{ name, cable, want string }{
		{"the whole label", "switch1,1/2/1/2,host004,1", ""},
		{"without the chip", "switch1,2/1/2,host004,1", ""},
		{"of the adapter", "switch1,1/1/1/1,host001,B23D0F0/1/1", ""},
		{"the other half", "switch1,1/2/1/1,host004,1", "wrong-peer: switch1[3] (1/2/1/1) is connected to host003[1] (B23D0F0/1/1), planned: host004[1]\n"},
		{"no such cage", "switch1,1/99/1/1,host004,1", "has no port 1/99/1/1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := describe(parse(t, "StartDevice,StartPort,EndDevice,EndPort\n"+tt.cable+"\n").Compare(f, nil))
			var planned []string
			for line := range strings.Lines(got) {
				if !strings.HasPrefix(line, "unexpected-") && !strings.HasPrefix(line, "\t") {
					planned = append(planned, line)
				}
			}
			if got := strings.Join(planned, ""); (tt.want == "") != (got == "") || !strings.HasSuffix(got, tt.want) {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}
