package sim

import (
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// pair is a switch with one host, as ibkit linkinfo --json printed it.
func pair(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/pair.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Ports are as they are in the file.
func TestParseJSON(t *testing.T) {
	f := build(t, "testdata/pair.json")
	sw, host := f.Node("S-0002c90000800100"), f.Node("H-0002c90000100000")
	if sw == nil || host == nil || len(f.Nodes) != 2 {
		t.Fatalf("%d nodes", len(f.Nodes))
	}
	p := &host.Ports[1]
	if p.Peer != &sw.Ports[1] || p.Info.State != ib.PortActive || p.Info.LID != 1 || p.GUID != 0x0002c90000100001 || !p.Info.CapMask.Has(mad.CapSM) {
		t.Errorf("leads to %v, state %v, LID %d, GUID 0x%x", p.Peer, p.Info.State, p.Info.LID, p.GUID)
	}
	if sw.Ports[0].Info.LID != 2 || sw.LFT[1] != 1 || sw.Desc.String() != "switch1" {
		t.Errorf("LID %d, forwarding table %v", sw.Ports[0].Info.LID, sw.LFT)
	}
	if f = build(t, "json:testdata/pair.json", "sm=off"); f.Nodes[0].LFT != nil || f.Nodes[1].LFT != nil {
		t.Error("with sm=off, there is a forwarding table")
	}
}

// A port that did not answer does what the other end of its link does.
func TestParseJSONUnknownPort(t *testing.T) {
	text := pair(t)
	i := strings.LastIndex(text, `"info":{"mkey"`) // of the switch's port
	text = text[:i] + `"info":null,"was":` + text[i+len(`"info":`):]
	f, err := ParseJSON(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	p := &f.Node("H-0002c90000100000").Ports[1]
	if !p.up() || !p.Peer.up() || p.Peer.Info.LinkSpeedExtActive != p.Info.LinkSpeedExtActive {
		t.Errorf("%v, %v", p.Info.PhysState, p.Peer.Info)
	}
}

// A file that was printed with a filter lacks ports; one of a scan that had no
// answer may do so.
func TestJSONFilter(t *testing.T) {
	text := pair(t)
	i, j := strings.Index(text, `,{"number":3,`), strings.Index(text, `,{"number":4,`)
	text = text[:i] + text[j:]
	_, err := ParseJSON(strings.NewReader(text), "f")
	if err == nil || !strings.Contains(err.Error(), "f:5:1: nodes[1].ports: port 3 is missing; was it printed with a filter?") {
		t.Error(err)
	}
	if _, err := ParseJSON(strings.NewReader(strings.Replace(text, `"partial":false`, `"partial":true`, 1)), "f"); err != nil {
		t.Error(err)
	}
}

// Mistakes are told with their place, the member and what was expected.
func TestJSONErrors(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"", "", ""},
		{`{` + "\n" + `"schema"`, "[" + "\n" + `"schema"`, "f:1:1: expected an object, as ibkit linkinfo --json --attributes prints it"},
		{`ibkit/linkinfo/1`, `ibkit/linkinfo/9`, "schema: expected ibkit/linkinfo/1 or ibkit/linkinfo/2"},
		{`"ibkit/linkinfo/1"`, `5`, `f:2:10: schema: expected a string, not number`},
		{`"nodes":[`, `"nodes":{`, "f:3:9: expected nodes: an array"},
		{`"nodes":[`, `"knots":[`, "nodes: there is none"},
		{`"guid":"0x0002c90000100000","type"`, `"guid":5,"type"`, "f:4:9: nodes[0].guid: expected a string, not number"},
		{`"guid":"0x0002c90000100000","type"`, `"guid":"zero","type"`, `f:4:1: nodes[0].guid: expected a GUID such as "0x0002c90000100300", not "zero"`},
		{`"guid":"0x0002c90000100000","type"`, `"guid":"0x5","type"`, `nodes[0].guid: expected 0x0002c90000100000, the GUID in info`},
		{`"num_ports":4`, `"num_ports":0`, `f:5:1: nodes[1].info.num_ports: expected a number from 1 to 254, not 0`},
		{`"num_ports":4`, `"num_ports":256`, `nodes[1].info.num_ports: expected a whole number from 0 to 255, not 256`},
		{`"num_ports":4,`, ``, `nodes[1].info.num_ports: expected a whole number from 0 to 255, and there is nothing`},
		{`"node_type":{"value":1`, `"node_type":{"value":7`, `nodes[0].info.node_type: expected 1, 2 or 3, not 7`},
		{`"link_state":{"value":4`, `"link_state":{"value":16`, `nodes[0].ports[0].info.link_state: expected an object whose "value" is a whole number from 0 to 15`},
		{`"switch_info":null`, `"switch_info":7`, `nodes[0].switch_info: expected an object or null`},
		{`"number":3,`, `"number":2,`, `nodes[1].ports[2].number: nodes[1].ports[1] is port 2 already`},
		{`"number":3,`, `"number":5,`, `nodes[1].ports[2].number: expected a number from 1 to 4, not 5`},
		{`"number":3,`, `"number":300,`, `ports.number: expected a whole number from 0 to 255, not number 300`},
		{`"peer":{"node_guid":"0x0002c90000800100"`, `"peer":{"node_guid":"0x0002c90000800101"`, `f:4:1: nodes[0].ports[0].peer.node_guid: 0x0002c90000800101 is no node of the file; was it printed with a filter?`},
		{`"port_guid":"0x0002c90000800100","port":1`, `"port_guid":"0x0002c90000800100","port":9`, `nodes[0].ports[0].peer.port: expected a number from 1 to 4, for nodes[1] (f:5:1) has so many ports, not 9`},
		{`"port_guid":"0x0002c90000800100","port":1`, `"port_guid":"0x0002c90000800100","port":2`, `nodes[0].ports[0].peer: port 2 of nodes[1] (f:5:1) is not linked back to it`},
		{`"number":3,`, `"number":4,`, `nodes[1].ports[3].number: nodes[1].ports[2] is port 4 already`},
		{`"partial":false`, `"partial":"no"`, `f:2:`},
		{`"lid":2,"route"`, `"lid":70000,"route"`, `nodes[1].lid: expected a whole number from 0 to 65535, not number 70000`},
		{`"ports":[{`, `"ports":[}`, `f:4:440: nodes[0]: invalid character '}'`},
		{`"failures":[]`, `"failures":[`, `f:6:13: failures: invalid character ','`},
		{`"summary":`, `"summary"=`, `f:8:`},
	} {
		text := pair(t)
		if !strings.Contains(text, test.old) {
			t.Errorf("no %s in the file", test.old)
		}
		f, err := ParseJSON(strings.NewReader(strings.Replace(text, test.old, test.new, 1)), "f")
		if test.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || f != nil {
			t.Errorf("%s: %v; want %s", test.new, err, test.want)
		}
	}
	for text, want := range map[string]string{
		"":                    "f:1:1: expected more: the file ends in the middle",
		pair(t)[:3000]:        "f:5:126: expected more: the file ends in the middle",
		pair(t) + "x":         "f:",
		"{}":                  "schema: expected",
		`{"nodes":[5]}`:       "nodes[0]: expected an object, not number",
		`{"nodes":[null]}`:    "nodes[0].info: expected an object, the node's NodeInfo",
		`{"nodes":[{}, {}]}`:  "nodes[0].info: expected an object, the node's NodeInfo",
		`{"nodes":[{"info":5`: "f:1:20: expected more",
		doubled(pair(t)):      "nodes[1].guid: nodes[0] (f:4:1) has the GUID 0x2c90000100000 as well",
	} {
		if _, err := ParseJSON(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v; want %s", text, err, want)
		}
	}
}

// doubled returns the file with its first node twice.
func doubled(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(append(lines[:4:4], lines[3:]...), "\n")
}

// The seeds have no PortInfo: it is long, and mad has a fuzz target for it.
func FuzzParseJSON(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		fabric, err := ParseJSON(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for _, n := range fabric.Nodes {
			for i := range n.Ports {
				if p := &n.Ports[i]; p.Peer != nil && p.Peer.Peer != p {
					t.Errorf("%s leads to %s, which leads to %v", p, p.Peer, p.Peer.Peer)
				}
			}
		}
		_ = fabric.resume() // LIDs may be twice
	})
}
