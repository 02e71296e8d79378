package sim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/ib"
)

const nets = "../test/nets/*.net"

func netFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(nets)
	if err != nil || len(files) == 0 {
		t.Fatalf("find %s: %v, %v", nets, files, err)
	}
	return files
}

func parseNet(t *testing.T, text string) *Fabric {
	t.Helper()
	f, err := ParseNet(strings.NewReader(text), "net")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestParseNet_Numbering checks the assignments to the next or all following nodes, and the
// GUIDs that ibsim assigns.
func TestParseNet_Numbering(t *testing.T) {
	f := parseNet(t, `
vendid=0x2c9
devid=7
sysimgguid=0x5
Switch	2 "s"	# "desc" enhanced port 0 lid 9 lmc 2
[1]	"a"
Hca 2 "a" # no quotes lid 3
[1]	"s"[1]
# a comment does not end the ports
[2]	"r" [3]
rtguid = 0x300000
Rt 3 "r"
[3]	"a"[2]	w=3
switchguid+0x10
Switch 1 "t"
`)
	type node struct {
		GUID, System, Port ib.GUID
		Vendor, Device     uint64
		Desc               string
	}
	got := map[string]node{}
	for _, n := range f.Nodes {
		i := &n.Info
		got[n.ID] = node{i.NodeGUID, i.SystemGUID, n.Ports[1].GUID, uint64(i.VendorID), uint64(i.DeviceID), n.Desc.String()}
	}
	want := map[string]node{
		"s": {0x200000, 5, 0x200000, 0x2c9, 7, "desc"},
		"a": {0x100000, 0x100000, 0x100001, 0, 7, "no quotes"},
		"r": {0x300000, 0x300000, 0x300001, 0, 7, "r"},
		"t": {0x200010, 0x200010, 0x200010, 0, 7, "t"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	s := f.Node("s")
	if i := &s.Ports[0].Info; i.LID != 9 || i.LMC != 2 || s.Switch.EnhancedPort0 != 1 {
		t.Errorf("got LID %d, LMC %d, enhanced port 0 %d, want 9, 2, 1", i.LID, i.LMC, s.Switch.EnhancedPort0)
	}
	if i := &f.Node("a").Ports[1].Info; i.State != ib.PortInit || i.LID != 0 || i.LinkWidthActive != ib.Width4X {
		t.Errorf("got state %v, LID %d, width %v, want Initialize, 0, 4X", i.State, i.LID, i.LinkWidthActive)
	}
	if peer := f.Node("a").Ports[2].Peer; peer.String() != `"r"[3]` {
		t.Errorf("second port: got peer %s, want \"r\"[3]", peer)
	}
}

// TestParseNet_Modules checks module prefixes and aliases.
func TestParseNet_Modules(t *testing.T) {
	f := parseNet(t, `
module = "left"
Switch 2 "s"
@[1]	"up"
[2]	"h"[1]
Hca 1 "h"
[1]	"s"[2]
module = "right"
Switch 2 "s"
[1]	"left@up"
do Unlink "left#h"[1]
do Link "s"[2] "left#h"[1]
`)
	for port, want := range map[*Port]string{
		&f.Node("right#s").Ports[1]: `"left#s"[1]`,
		&f.Node("right#s").Ports[2]: `"left#h"[1]`,
	} {
		if port.Peer == nil || port.Peer.String() != want {
			t.Errorf("%s: got peer %v, want %s", port, port.Peer, want)
		}
	}
	if f.Node("left#s").Ports[2].Peer != nil {
		t.Error("do Unlink has no effect")
	}
}

// TestParseNet_Errors checks that errors name the position and the expected text.
func TestParseNet_Errors(t *testing.T) {
	const pair = "Switch 8 \"s\"\n[1]\t\"h\"[1]\n\nHca 1 \"h\"\n"
	for _, test := range []struct{ text, want string }{
		{"", "the file contains no nodes"},
		{"Swich 8 \"s\"\n", `net:1:1: got "Swich 8 \"s\"", want a node`},
		{"Switch 0 \"s\"\n", `number of ports: got 0, want at least 1`},
		{"Switch 300 \"s\"\n", `net:1:8: got "300 \"s\"", want the number of ports, a number up to 254`},
		{"Switch 8 s\n", `net:1:10: got "s", want the ID of the node in quotation marks`},
		{"Switch 8 \"s@t\"\n", `ID "s@t": empty, or with # or @`},
		{"Switch 8 \"s\"\n\nSwitch 8 \"s\"\n", `net:3:10: duplicate node "s", defined in net:1`},
		{"caguid=1\nCa 1 \"a\"\ncaguid=1\nCa 1 \"b\"\n", `duplicate GUID 0x1, used by node "a" in net:2`},
		{"[1]\t\"a\"[1]\n", `got a port line, want the line of a node before it`},
		{"Switch 8 \"s\"\n[9]\t\"h\"[1]\n", `node "s" has ports 1 to 8, not 9`},
		{"Switch 8 \"s\"\n[0]\t\"h\"[1]\n", `net:2:2: got "0]\t\"h\"[1]", want a port number from 1 to 254`},
		{"Switch 8 \"s\"\n[1]\t\"h\"[1]\n[1]\t\"h\"[1]\n", `net:3:1: duplicate port 1 of node "s", defined in net:2`},
		{"Switch 8 \"s\"\n[1]\t\"h\"[1]\n", `net:2: "s"[1] is linked to node "h", which is not in the file`},
		{pair, `"h"[1], which has no line for the link`},
		{pair + "[1]\t\"s\"[2]\n", `"s"[2], which has no line`},
		{"Switch 8 \"s\"\n[1]\t\"s\"[2]\n[2]\t\"s\"[3]\n[3]\t\"s\"[1]\n", `net:2: "s"[1] is linked to "s"[2], which is linked to "s"[3] (net:3)`},
		{"Switch 8 \"s\"\n[1]\t\"s\"[1]\n", `is linked to itself`},
		{"Switch 8 \"s\"\n[1]\t\"s\"[9]\n", `port 9 of node "s", which has 8`},
		{"Switch 8 \"s\"\n[1]\t\"s\"[2] w=1\n[2]\t\"s\"[1] w=2\n", `no common width: "s"[1] has 1 enabled, "s"[2] (net:3) has 2`},
		{"Switch 8 \"s\"\n[1]\t\"s\"[2] w=0\n", `net:2:14: w=0: no width enabled`},
		{"Switch 8 \"s\"\n[1]\t\"s\"[2] x=0\n", `want w=, s=, e= or a comment`},
		{"width=32\n", `net:1:7: got "32", want a value of width, a number up to 31`},
		{"speed=0\n", `want a nonzero set of bits`},
		{"do Error \"s\" 30\n", `do Error: not supported in a file (only Link and Unlink)`},
		{"Switch 8 \"s\"\ndo Unlink \"s\"[1]\n", `"s"[1] is not linked`},
		{"include \"other\"\n", `include requires a file`},
		{"Non-Chassis Ports\n", `net:1:4: got "-Chassis Ports", want "Non-Chassis Nodes"`},
	} {
		t.Run(test.want, func(t *testing.T) {
			_, err := ParseNet(strings.NewReader(test.text), "net")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q: got %v, want %s", test.text, err, test.want)
			}
		})
	}
}

func TestReadFile_Include(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"net": "Switch 2 \"s\"\n[1]\t\"h\"[1]\ninclude \"host\"\n", "host": "Ca 1 \"h\"\n[1]\t\"s\"[1]\n",
		"loop": "include \"loop\"\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := build(t, "net:net")
	if p := &f.Node("h").Ports[1]; p.Info.State != ib.PortActive || p.Info.LID == 0 {
		t.Errorf("got state %v, LID %d, want an active port with a LID", p.Info.State, p.Info.LID)
	}
	for description, want := range map[string]string{"net:loop": "more than 9 nested files", "net:nosuch": "no such file", "topo:nosuch": "no such file"} {
		t.Run(description, func(t *testing.T) {
			if _, err := Build(description); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// A summary contains everything that a fabric file can express, by GUID.
type summary struct {
	Nodes map[ib.GUID]string
	Links map[string]string
}

func summarize(f *Fabric, keepLIDs bool) summary {
	s := summary{map[ib.GUID]string{}, map[string]string{}}
	for _, n := range f.Nodes {
		s.Nodes[n.Info.NodeGUID] = fmt.Sprintf("%v %q", n.Info.NodeType, n.Desc.String())
		for i := range n.Ports {
			p := &n.Ports[i]
			port := fmt.Sprintf("%s[%d]", topologyID(n), i)
			if keepLIDs && n.managed(uint8(i)) == p {
				s.Links[port+" LID"] = fmt.Sprint(p.Info.LID, p.Info.LMC)
			}
			if p.up() {
				s.Links[port] = fmt.Sprintf("%s[%d] %v %v", topologyID(p.Peer.Node), p.Peer.Number,
					p.Info.LinkWidthActive, p.Info.ActiveSpeed(&n.managed(uint8(i)).Info, p.Ext))
			}
		}
	}
	return s
}

// TestRoundTrip writes fabrics in both text formats and reads them again.
func TestRoundTrip(t *testing.T) {
	descriptions := []string{"fat-tree:radix=4,pods=3,speed=NDR", "torus:x=3,y=3,speed=QDR,width=1X", "demo"}
	for _, file := range netFiles(t) {
		descriptions = append(descriptions, "net:"+file+",sm=off", "net:"+file)
	}
	for _, d := range descriptions {
		t.Run(d, func(t *testing.T) {
			f := build(t, d)
			var net, topology bytes.Buffer
			if err := f.WriteNet(&net); err != nil {
				t.Fatal(err)
			}
			if err := f.WriteTopology(&topology); err != nil {
				t.Fatal(err)
			}
			if back, err := ParseTopology(&topology, "topology"); err != nil {
				t.Error(err)
			} else if d := cmp.Diff(summarize(f, true), summarize(back, true)); d != "" {
				t.Errorf("topology: written (-), read (+)\n%s", d)
			}
			back, err := ParseNet(&net, "net")
			if err != nil {
				t.Error(err)
			} else if diff := cmp.Diff(summarize(f, false), summarize(back, false)); diff != "" && d != "demo" {
				t.Errorf("net file: written (-), read (+)\n%s", diff)
			}
		})
	}
}

// TestParseTopology_LIDs checks that configuring a fabric keeps the LIDs from a file.
func TestParseTopology_LIDs(t *testing.T) {
	f := build(t, "single-switch:hosts=3,radix=4")
	f.Node("host002").Ports[1].Info.LID = 77
	path := filepath.Join(t.TempDir(), "topology")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := f.WriteTopology(file); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(summarize(f, true), summarize(build(t, "topo:"+path), true)); d != "" {
		t.Errorf("written (-), read (+)\n%s", d)
	}
}

// A system image GUID of 0 in a topology file stays 0; without IDs it is the node's.
func TestParseTopology_SystemGUID(t *testing.T) {
	const node = "switchguid=0x5\nSwitch 8 \"S-5\"\n"
	for text, want := range map[string]ib.GUID{
		"vendid=0x2c9\ndevid=0xb924\nsysimgguid=0x0\n" + node: 0, "vendid=0x2c9\ndevid=0xb924\nsysimgguid=0x7\n" + node: 7, node: 5,
	} {
		f, err := ParseTopology(strings.NewReader(text), "t")
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Nodes[0].Info.SystemGUID; got != want {
			t.Errorf("got %v, want %v of\n%s", got, want, text)
		}
	}
}

// Each end has the width and speed in its own line.
func TestParseTopology_Rates(t *testing.T) {
	f, err := ParseTopology(strings.NewReader("Switch 8 \"S-1\"\n[1]\t\"S-1\"[2] # \"s\" lid 0 4xHDR\n[2]\t\"S-1\"[1] # \"s\" lid 0 1xEDR\n"), "t")
	if err != nil {
		t.Fatal(err)
	}
	for number, want := range map[int]string{1: "4X HDR", 2: "1X EDR"} {
		p := &f.Nodes[0].Ports[number]
		if got := fmt.Sprint(p.Info.LinkWidthActive, " ", p.Info.ActiveSpeed(&p.Info, p.Ext)); got != want {
			t.Errorf("port %d: got %s, want %s", number, got, want)
		}
	}
}

func TestParseTopology_Errors(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"Switch 8 \"S-1\"\n[1]\t\"S-2\"[1]\n", `want a comment with LID, width and speed`},
		{"ibwarn: x\nSwitch 8 \"S-1\"\n", `t:1:1: got "ibwarn: x", want a node`},
		{"include \"x\"\n", "include is not supported in a topology file"},
	} {
		t.Run(test.want, func(t *testing.T) {
			_, err := ParseTopology(strings.NewReader(test.text), "t")
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q: got %v, want %s", test.text, err, test.want)
			}
		})
	}
}

func fuzz(f *testing.F, parse func(text string) (*Fabric, error), write func(*Fabric, *bytes.Buffer) error) {
	for _, file := range netFiles(f) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		fabric, err := parse(text)
		if err != nil {
			return
		}
		_ = fabric.Configure() // a fabric without hosts has no subnet manager
		var out bytes.Buffer
		if err := write(fabric, &out); err != nil {
			t.Fatal(err)
		}
		if _, err := parse(out.String()); err != nil {
			t.Errorf("the written fabric cannot be read: %v\n%s", err, out.String())
		}
	})
}

func FuzzParseNet(f *testing.F) {
	fuzz(f, func(text string) (*Fabric, error) { return ParseNet(strings.NewReader(text), "net") },
		func(f *Fabric, out *bytes.Buffer) error { return f.WriteNet(out) })
}

func FuzzParseTopology(f *testing.F) {
	f.Add("caguid=0x1\nCa\t1 \"H-1\"\t\t# \"a\"\n[1](2) \t\"S-2\"[3]\t\t# lid 4 lmc 0 \"s\" lid 5 4xFDR10\n\nswitchguid=0x2(2)\nSwitch\t3 \"S-2\"\t\t# \"s\" base port 0 lid 5 lmc 0\n[3][ext 2]\t\"H-1\"[1](2) \t\t# \"a\" lid 4 4xFDR10 s=4 w=2 v=4\n")
	fuzz(f, func(text string) (*Fabric, error) { return ParseTopology(strings.NewReader(text), "topology") },
		func(f *Fabric, out *bytes.Buffer) error { return f.WriteTopology(out) })
}
