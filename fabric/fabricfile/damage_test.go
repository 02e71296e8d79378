package fabricfile_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// pair is a switch with two hosts, as ibnetdiscover prints it.
const pair = `vendid=0x2c9
devid=0x1
sysimgguid=0x10
switchguid=0x10(11)
Switch	4 "S-0000000000000010"		# "swA" base port 0 lid 1 lmc 0
[1]	"H-0000000000000020"[1](21) 		# "n1 HCA-1" lid 3 4xEDR
[2]	"H-0000000000000030"[1](31) 		# "n2 HCA-1" lid 4 4xEDR

vendid=0x2c9
devid=0x1
sysimgguid=0x20
caguid=0x20
Ca	1 "H-0000000000000020"		# "n1 HCA-1"
[1](21) 	"S-0000000000000010"[1]		# lid 3 lmc 0 "swA" lid 1 4xEDR

vendid=0x2c9
devid=0x1
sysimgguid=0x30
caguid=0x30
Ca	1 "H-0000000000000030"		# "n2 HCA-1"
[1](31) 	"S-0000000000000010"[2]		# lid 4 lmc 0 "swA" lid 1 4xEDR
`

// A part is the content that a damaged file shares with the whole file.
type part struct {
	nodes, links int
	damage       string // failures, each with its node and port, without the file name
}

func partOf(t *testing.T, text string) part {
	t.Helper()
	d, err := fabricfile.Parse([]byte(text), "file")
	if err != nil {
		t.Fatal(err)
	}
	p := part{nodes: len(d.Fabric.Nodes)}
	for _, n := range d.Fabric.Nodes {
		for _, port := range n.Ports {
			if port != nil && port.Peer != nil {
				p.links++
			}
		}
	}
	p.links /= 2
	for _, f := range d.Fabric.Failures {
		if !f.IsDamage() || !d.Fabric.Partial() || !d.Fabric.Unfinished() {
			t.Errorf("got failure %+v in a complete fabric, want damage", f)
		}
		place := ""
		if n := d.Fabric.NodeByGUID(f.NodeGUID); n != nil {
			place = fmt.Sprintf(" at %s[%d]", n.Desc.String(), f.Port)
		}
		p.damage += strings.TrimPrefix(f.Err.Error(), "file:") + place + "\n"
	}
	return p
}

// replace replaces a text that occurs once.
func replace(t *testing.T, text, from, to string) string {
	t.Helper()
	if strings.Count(text, from) != 1 {
		t.Fatalf("got %d times %q, want one", strings.Count(text, from), from)
	}
	return strings.Replace(text, from, to, 1)
}

const (
	host1Node = "Ca	1 \"H-0000000000000020\"		# \"n1 HCA-1\"\n"
	host1Port = "[1](21) 	\"S-0000000000000010\"[1]		# lid 3 lmc 0 \"swA\" lid 1 4xEDR\n"
	lost1     = "6: \"S-0000000000000010\"[1] is linked to node \"H-0000000000000020\", which is not in the file at swA[1]\n"
)

// The valid part of ibnetdiscover output is read, and the other lines are reported.
func TestParse_DamagedNetdiscover(t *testing.T) {
	const want = "want a node (Switch, Hca, Ca, Rt), a port ([1]), an assignment (switchguid=) or a comment (#)\n"
	crlf := strings.ReplaceAll(pair, "\n", "\r\n")
	for _, test := range []struct {
		name, text string
		want       part
	}{
		{"whole", pair, part{3, 2, ""}},
		{"CR LF", crlf, part{3, 2, ""}},
		{"CR LF in some lines", "\r\r\n" + replace(t, pair, host1Port, strings.TrimSuffix(host1Port, "\n")+"\r\n"), part{3, 2, ""}},
		{"byte order mark", "\ufeff" + pair, part{3, 2, ""}},
		{"progress", "DR path slid 0; dlid 0; 0,1 -> new Switch {0000000000000010} portnum 0 lid 1-1 \"swA\"\n" + pair, part{3, 2, ""}},
		{"terminal codes", "\x1b[?2004l\r# Topology file\r\n" + replace(t, pair, "[2]\t\"H", "\x1b[01;31m\x1b[K[2]\t\"H"), part{3, 2, ""}},
		{"line of stderr", "ibwarn: [7] x\n" + pair, part{3, 2, `1:1: got "ibwarn: [7] x", ` + want}},
		{"line of stderr between ports", replace(t, pair, "[2]\t\"H", "ibwarn: [7] x\n[2]\t\"H"), part{3, 2, `7:1: got "ibwarn: [7] x", ` + want}},
		{"prompt", "[root@h ~]# ibnetdiscover\n" + pair, part{3, 2, "1:2: got \"root@h ~]# ibnetdiscover\", want a port number from 1 to 254\n"}},
		{"log of script", "Script started on 2026-11-28\n" + pair, part{3, 2, `1:1: got "Script started on 2026-11-28", ` + want}},
		{"node missing", pair[:strings.Index(pair, "vendid=0x2c9\ndevid=0x1\nsysimgguid=0x30")], part{
			2, 1, "7: \"S-0000000000000010\"[2] is linked to node \"H-0000000000000030\", which is not in the file at swA[2]\n",
		}},
		{"node invalid", replace(t, pair, host1Node, "Ca\tx\n"), part{
			2, 1, "13:4: got \"x\", want the number of ports, a number up to 254; 1 port line after it skipped\n" + lost1,
		}},
		{"no node before a port", replace(t, pair, host1Node, "\n"), part{
			2, 1, "14:1: got a port line, want the line of a node before it\n" + lost1,
		}},
		{"node GUID invalid", replace(t, pair, "caguid=0x20", "caguid=?"), part{3, 2, "12:8: got \"?\", want a GUID, a number up to 18446744073709551615\n"}},
		{"port invalid", replace(t, pair, host1Port, "[1](21) 	\"S-00\n"), part{
			3, 1, "14:10: got \"\\\"S-00\", want the ID of the node at the other end in quotation marks at n1 HCA-1[1]\n" +
				"6: \"S-0000000000000010\"[1] is linked to \"H-0000000000000020\"[1], which has no line for the link at swA[1]\n",
		}},
		{"port without a rate", replace(t, pair, host1Port, "[1](21) 	\"S-0000000000000010\"[1]		# lid 3\n"), part{
			3, 2, "14:35: want a comment with LID, width and speed of the link, for example \"# \\\"name\\\" lid 4 4xHDR\" at n1 HCA-1[1]\n",
		}},
		{"port twice", replace(t, pair, host1Port, host1Port+host1Port), part{
			3, 2, "15:1: duplicate port 1 of node \"H-0000000000000020\", defined in file:14 at n1 HCA-1[1]\n",
		}},
		{"ends contradict", replace(t, pair, host1Port, replace(t, host1Port, "[1]		#", "[2]		#")), part{
			3, 1, "6: \"S-0000000000000010\"[1] is linked to \"H-0000000000000020\"[1], which is linked to \"S-0000000000000010\"[2] (file:14) at swA[1]\n" +
				"14: \"H-0000000000000020\"[1] is linked to \"S-0000000000000010\"[2], which is linked to \"H-0000000000000030\"[1] (file:7) at n1 HCA-1[1]\n",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, partOf(t, test.text), cmp.AllowUnexported(part{})); diff != "" {
				t.Errorf("want (-), got (+)\n%s", diff)
			}
		})
	}
}

// Each end has its own width, speed, GUID and LID from the file, as far as it is known.
func TestParse_NetdiscoverValues(t *testing.T) {
	parse := func(t *testing.T, text string) *fabric.Fabric {
		t.Helper()
		d, err := fabricfile.Parse([]byte(text), "file")
		if err != nil || d.Fabric.Damaged() {
			t.Fatalf("got %v, %v, want no damage", d, err)
		}
		return d.Fabric
	}
	t.Run("rates", func(t *testing.T) {
		f := parse(t, replace(t, pair, host1Port, replace(t, host1Port, "4xEDR", "1xHDR")))
		host := f.NodeByGUID(0x20).Ports[1]
		if w, s := host.Info.LinkWidthActive, host.ActiveSpeed(); w != ib.Width1X || s != ib.HDR {
			t.Errorf("host: got %v %v, want 1X HDR", w, s)
		}
		if w, s := host.Peer.Info.LinkWidthActive, host.Peer.ActiveSpeed(); w != ib.Width4X || s != ib.EDR {
			t.Errorf("switch: got %v %v, want 4X EDR", w, s)
		}
	})
	t.Run("unknown rate", func(t *testing.T) {
		host := parse(t, replace(t, pair, host1Port, replace(t, host1Port, "4xEDR", "?????"))).NodeByGUID(0x20).Ports[1]
		if w, s := host.Info.LinkWidthActive, host.ActiveSpeed(); w != 0 || s != 0 {
			t.Errorf("got %v %v, want both unknown", w, s)
		}
	})
	t.Run("LID", func(t *testing.T) {
		host := parse(t, replace(t, pair, host1Port, replace(t, host1Port, "lid 3", "lid 65535"))).NodeByGUID(0x20).Ports[1]
		if host.LID() != 65535 || len(host.Invalid()) == 0 {
			t.Errorf("got LID %d, invalid %v, want the invalid LID 65535", host.LID(), host.Invalid())
		}
	})
	t.Run("port GUID", func(t *testing.T) {
		n := parse(t, pair).NodeByGUID(0x10)
		if n.Ports[0].GUID != 0x11 || n.Ports[1].GUID != 0x11 || n.Info.PortGUID != 0x11 {
			t.Errorf("got port GUIDs %v and %v, NodeInfo %v, want 0x11", n.Ports[0].GUID, n.Ports[1].GUID, n.Info.PortGUID)
		}
	})
	for _, test := range []struct {
		name, ids string
		want      ib.GUID
	}{
		{"system GUID", "vendid=0x2c9\ndevid=0x1\nsysimgguid=0x77\n", 0x77},
		{"system GUID 0", "vendid=0x2c9\ndevid=0x1\nsysimgguid=0x0\n", 0},
		{"system GUID 0 of ibnetdiscover", "vendid=0x2c9\ndevid=0x1\n", 0},
		{"no IDs", "", 0x20},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := replace(t, pair, "vendid=0x2c9\ndevid=0x1\nsysimgguid=0x20\n", test.ids)
			if got := parse(t, text).NodeByGUID(0x20).Info.SystemGUID; got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	t.Run("node GUID without its line", func(t *testing.T) {
		if f := parse(t, replace(t, pair, "caguid=0x20\n", "")); f.NodeByGUID(0x20) == nil {
			t.Error("got no node 0x20, want the GUID in its ID")
		}
	})
}

// A description may have the characters that other texts use as separators.
func TestParse_NetdiscoverNames(t *testing.T) {
	const name = `MF0;r1:Q3400_RA/U2 "x" [3]`
	d, err := fabricfile.Parse([]byte(strings.ReplaceAll(pair, "swA", name)), "file")
	if err != nil || d.Fabric.Damaged() {
		t.Fatalf("got %v, %v, want no damage", d, err)
	}
	if got := d.Fabric.NodeByGUID(0x10).Desc.String(); got != name {
		t.Errorf("got %q, want %q", got, name)
	}
}

// testdata has the output of Debian's ibnetdiscover -s and -p at the same fabric in ibsim:
// test/nets/parallel-links-and-router.net.
func TestParse_Forms(t *testing.T) {
	text := func(name string) string {
		t.Helper()
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := part{5, 8, ""}
	for _, name := range []string{"progress.topo", "ports.txt"} {
		if got := partOf(t, text(name)); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	d, err := fabricfile.Parse([]byte(text("ports.txt")), "file")
	if err != nil {
		t.Fatal(err)
	}
	router := d.Fabric.PortByGUID(0x300002)
	if n := router.Node; n != d.Fabric.PortByGUID(0x300001).Node || n.Info.NumPorts != 2 || n.Desc.String() != "router" ||
		router.Peer.Node.GUID != 0x200001 || router.Peer.Number != 6 {
		t.Errorf("got router %+v, want the ports 0x300001 and 0x300002 at a node, linked to port 6 of 0x200001", n)
	}
}

const (
	listedHost   = "CA     3  1 0x0000000000000021 4x EDR - SW     1  1 0x0000000000000010 ( 'n1' - 'sw' )\n"
	listedSwitch = "SW     1  1 0x0000000000000010 4x EDR - CA     3  1 0x0000000000000021 ( 'sw' - 'n1' )\n"
	listedDown   = "SW     1  2 0x0000000000000010 4x SDR                                    'sw'\n"
)

func TestParse_DamagedPortList(t *testing.T) {
	const form = `, want a port such as "CA 4 1 0x0002c90000100301 4x HDR - SW 3 6 0x0002c90000801100 ( 'node16' - 'leaf4' )"` + "\n"
	for _, test := range []struct {
		name, text string
		want       part
	}{
		{"whole", listedDown + listedHost + listedSwitch, part{2, 1, ""}},
		{"CR LF", "\ufeff" + strings.ReplaceAll(listedHost+listedSwitch, "\n", "\r\n"), part{2, 1, ""}},
		{"foreign line", "ibwarn: x\n" + listedHost + listedSwitch, part{2, 1, `1: got "ibwarn: x"` + form}},
		{"peer without a line", listedHost, part{
			2, 1, "1: port 1 of 0x0000000000000010, the peer of port 1 of 0x0000000000000021, has no line at n1[1]\n",
		}},
		{"truncated", listedHost + listedSwitch[:40], part{
			2, 1, `2: got "SW     1  1 0x0000000000000010 4x EDR -"` + form +
				"1: port 1 of 0x0000000000000010, the peer of port 1 of 0x0000000000000021, has no line at n1[1]\n",
		}},
		{"rate", strings.Replace(listedHost, "4x EDR", "4x FAST", 1) + listedSwitch, part{
			2, 1, `1: got the rate "4x FAST", want a width and a speed such as 4x HDR` + "\n",
		}},
		{"port twice", listedHost + listedHost + listedSwitch, part{2, 1, "2: port 1 of 0x0000000000000021 has a line before, line 1\n"}},
		{"other LID", listedHost + strings.Replace(listedSwitch, "CA     3", "CA     4", 1), part{
			2, 1, "2: port 1 of 0x0000000000000021 has LID 4, and LID 3 in line 1\n",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, partOf(t, test.text), cmp.AllowUnexported(part{})); diff != "" {
				t.Errorf("want (-), got (+)\n%s", diff)
			}
		})
	}
}

// In each format, lines of other programs and a missing end leave the rest.
func TestParse_Damaged(t *testing.T) {
	const foreign = "ibwarn: [7] mad_rpc: timeout\n"
	f := scan(t, "single-switch:hosts=4,radix=8")
	for name, text := range formats(t, f) {
		for _, test := range []struct {
			name    string
			text    []byte
			nodes   int // least
			damaged bool
		}{
			{"byte order mark", append([]byte("\ufeff"), text...), 5, false},
			{"CR LF", bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")), 5, false},
			{"foreign line", append([]byte(foreign), text...), 5, true},
			{"truncated", text[:len(text)*8/10], 3, true},
		} {
			if name == "cache" && test.name != "truncated" {
				continue
			}
			t.Run(name+"/"+test.name, func(t *testing.T) {
				d, err := fabricfile.Parse(test.text, "file")
				if err != nil {
					t.Fatal(err)
				}
				if len(d.Fabric.Nodes) < test.nodes || d.Fabric.Damaged() != test.damaged {
					t.Errorf("got %d nodes, failures %v, want at least %d nodes, damage %v", len(d.Fabric.Nodes), d.Fabric.Failures, test.nodes, test.damaged)
				}
			})
		}
	}
}

// linksText is the JSON of a switch and two hosts.
const linksText = `{
"schema":"ibkit/linkinfo/4","start":"0x0000000000000020","partial":false,"failures":[],
"nodes":[
{"description":"sw","info":SWITCH,"ports":[{"port":1,"port_guid":"0x0000000000000010","peer":{"node_guid":"0x0000000000000020","port":1}},{"port":2,"port_guid":"0x0000000000000010","peer":{"node_guid":"0x0000000000000030","port":1}}]},
{"description":"n1","info":HOST1,"ports":[{"port":1,"port_guid":"0x0000000000000021","peer":{"node_guid":"0x0000000000000010","port":1}}]},
{"description":"n2","info":HOST2,"ports":[{"port":1,"port_guid":"0x0000000000000031","peer":{"node_guid":"0x0000000000000010","port":2}}]}],
"stats":{}}
`

func TestParse_DamagedJSON(t *testing.T) {
	info := func(kind mad.NodeType, guid ib.GUID, ports uint8) string {
		b, err := mad.NodeInfo{NodeType: kind, NumPorts: ports, NodeGUID: guid}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	text := strings.NewReplacer("SWITCH", info(mad.NodeTypeSwitch, 0x10, 2), "HOST1", info(mad.NodeTypeCA, 0x20, 1), "HOST2", info(mad.NodeTypeCA, 0x30, 1)).Replace(linksText)
	for _, test := range []struct {
		name, text string
		want       part
	}{
		{"whole", text, part{3, 2, ""}},
		{"CR LF", "\ufeff" + strings.ReplaceAll(text, "\n", "\r\n"), part{3, 2, ""}},
		{"line before", "ibwarn: x\n" + text, part{3, 2, "1: got \"ibwarn: x\", want only a JSON document\n"}},
		{"line after", text + "\n$ exit\n", part{3, 2, "9: got \"$ exit\", want only a JSON document\n"}},
		{"truncated", text[:strings.Index(text, `{"description":"n2"`)+30], part{
			2, 1, "6: invalid JSON: unexpected EOF\n4: port 0x0000000000000010[2]: peer 0x0000000000000030 is not in the file, which may be filtered at sw[2]\n",
		}},
		{"node", strings.Replace(text, `"description":"n1"`, `"description":7`, 1), part{
			2, 1, "5: invalid JSON: description: a number is not possible here\n" +
				"4: port 0x0000000000000010[1]: peer 0x0000000000000020 is not in the file, which may be filtered at sw[1]\n",
		}},
		{"port", strings.Replace(text, `{"port":1,"port_guid":"0x0000000000000021"`, `{"port":"x","port_guid":"0x0000000000000021"`, 1), part{
			3, 1, "5: port 0 in the list of node 0x0000000000000020: invalid JSON: port: a string is not possible here at n1[0]\n" +
				"4: port 0x0000000000000010[1]: the peer has another peer at sw[1]\n",
		}},
		{"node twice", strings.Replace(text, info(mad.NodeTypeCA, 0x30, 1), info(mad.NodeTypeCA, 0x20, 1), 1), part{
			2, 1, "6: node 2 has GUID 0x0000000000000020, which is that of another node\n" +
				"4: port 0x0000000000000010[2]: peer 0x0000000000000030 is not in the file, which may be filtered at sw[2]\n",
		}},
		{"member", strings.Replace(text, `"partial":false`, `"partial":"no"`, 1), part{3, 2, "2: partial: got \"\\\"no\\\"\"\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, partOf(t, test.text), cmp.AllowUnexported(part{})); diff != "" {
				t.Errorf("want (-), got (+)\n%s", diff)
			}
		})
	}
}
