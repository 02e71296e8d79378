package sim

import (
	"os"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// pair returns ibkit linkinfo --json output for a switch with a single host.
func pair(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/pair.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestParseJSON checks that ports keep the state in the file.
func TestParseJSON(t *testing.T) {
	f := build(t, "testdata/pair.json")
	sw, host := f.Node("S-0002c90000800100"), f.Node("H-0002c90000100000")
	if sw == nil || host == nil || len(f.Nodes) != 2 {
		t.Fatalf("got %d nodes, want a switch and a host", len(f.Nodes))
	}
	p := &host.Ports[1]
	if p.Peer != &sw.Ports[1] || p.Info.State != ib.PortActive || p.Info.LID != 1 || p.GUID != 0x0002c90000100001 || !p.Info.CapMask.Has(mad.CapSM) {
		t.Errorf("got peer %v, state %v, LID %d, GUID 0x%x", p.Peer, p.Info.State, p.Info.LID, p.GUID)
	}
	if sw.Ports[0].Info.LID != 2 || sw.LFT[1] != 1 || sw.Desc.String() != "switch1" {
		t.Errorf("got LID %d, forwarding table %v, want LID 2 and port 1 for LID 1", sw.Ports[0].Info.LID, sw.LFT)
	}
	if f = build(t, "json:testdata/pair.json", "sm=off"); f.Nodes[0].LFT != nil || f.Nodes[1].LFT != nil {
		t.Error("sm=off: got a forwarding table, want none")
	}
}

// TestBuild_JSONWithoutLID checks that a port that the subnet manager has left out stays
// without a LID, and that a fabric without any LID is configured.
func TestBuild_JSONWithoutLID(t *testing.T) {
	text := pair(t)
	const host, sw = `"lid":1,"sm_lid"`, `"lid":2,"sm_lid"`
	if !strings.Contains(text, host) || !strings.Contains(text, sw) {
		t.Fatal("the file does not contain the LIDs")
	}
	text = strings.ReplaceAll(text, host, `"lid":0,"sm_lid"`)
	f := build(t, write(t, text))
	if got := f.Node("H-0002c90000100000").Ports[1].Info.LID; got != 0 {
		t.Errorf("host: got LID %d, want 0", got)
	}
	if lft := f.Node("S-0002c90000800100").LFT; len(lft) != 3 || lft[1] != noRoute || lft[2] != 0 {
		t.Errorf("got forwarding table %v, want a route to LID 2 only", lft)
	}
	f = build(t, write(t, strings.ReplaceAll(text, sw, `"lid":0,"sm_lid"`)))
	if got := f.Node("H-0002c90000100000").Ports[1].Info.LID; got == 0 {
		t.Error("no LIDs: got LID 0 of the host, want a configured fabric")
	}
}

// A port without PortInfo gets the peer's PortInfo.
func TestParseJSON_UnknownPort(t *testing.T) {
	text := pair(t)
	i := strings.LastIndex(text, `"info":{"mkey"`) // for the switch's port
	text = text[:i] + `"info":null,"was":` + text[i+len(`"info":`):]
	f, err := ParseJSON(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	p := &f.Node("H-0002c90000100000").Ports[1]
	if !p.up() || !p.Peer.up() || p.Peer.Info.LinkSpeedExtActive != p.Info.LinkSpeedExtActive {
		t.Errorf("got %v, peer %+v, want two ports that are up at the same speed", p.Info.PhysState, p.Peer.Info)
	}
}

// Filtered files are rejected. Files from partial scans may lack ports.
func TestParseJSON_Filter(t *testing.T) {
	text := pair(t)
	i, j := strings.Index(text, `,{"port":3,`), strings.Index(text, `,{"port":4,`)
	text = text[:i] + text[j:]
	_, err := ParseJSON(strings.NewReader(text), "f")
	if err == nil || !strings.Contains(err.Error(), "f:5:1: nodes[1].ports: port 3 is missing; the file may be filtered") {
		t.Errorf("got %v, want an error about port 3", err)
	}
	if _, err := ParseJSON(strings.NewReader(strings.Replace(text, `"partial":false`, `"partial":true`, 1)), "f"); err != nil {
		t.Error(err)
	}
}

// TestParseJSON_Errors checks that errors name the position and the member.
func TestParseJSON_Errors(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{"", "", ""},
		{`{` + "\n" + `"schema"`, "[" + "\n" + `"schema"`, "f:1:1: want an object, as ibkit linkinfo --json --attributes prints it"},
		{`ibkit/linkinfo/4`, `ibkit/linkinfo/9`, "schema: want ibkit/linkinfo/4"},
		{`"ibkit/linkinfo/4"`, `5`, `f:2:10: schema: got number, want a string`},
		{`"nodes":[`, `"nodes":{`, "f:3:9: want nodes: an array"},
		{`"nodes":[`, `"knots":[`, "nodes: the array is empty"},
		{`"node_guid":"0x0002c90000100000","type"`, `"node_guid":5,"type"`, "f:4:14: nodes[0].node_guid: got number, want a string"},
		{`"node_guid":"0x0002c90000100000","type"`, `"node_guid":"zero","type"`, `f:4:1: nodes[0].node_guid: got "zero", want a GUID, for example "0x0002c90000100300"`},
		{`"node_guid":"0x0002c90000100000","type"`, `"node_guid":"0x5","type"`, `nodes[0].node_guid: want 0x0002c90000100000, as in info`},
		{`"num_ports":4`, `"num_ports":0`, `f:5:1: nodes[1].info.num_ports: got 0, want a number from 1 to 254`},
		{`"num_ports":4`, `"num_ports":256`, `nodes[1].info.num_ports: got 256, want a whole number from 0 to 255`},
		{`"num_ports":4,`, ``, `nodes[1].info.num_ports: the member is missing, want a whole number from 0 to 255`},
		{`"node_type":{"value":1`, `"node_type":{"value":7`, `nodes[0].info.node_type: got 7, want 1, 2 or 3`},
		{`"link_state":{"value":4`, `"link_state":{"value":16`, `nodes[0].ports[0].info.link_state: got {"value":16,"name":"Active"}, want an object whose "value" is a whole number from 0 to 15`},
		{`"switch_info":null`, `"switch_info":7`, `nodes[0].switch_info: want an object or null`},
		{`"port":3,`, `"port":2,`, `nodes[1].ports[2].port: duplicate port 2, used by nodes[1].ports[1]`},
		{`"port":3,`, `"port":5,`, `nodes[1].ports[2].port: got 5, want a number from 1 to 4`},
		{`"port":3,`, `"port":300,`, `ports.port: got number 300, want a whole number from 0 to 255`},
		{`"peer":{"node_guid":"0x0002c90000800100"`, `"peer":{"node_guid":"0x0002c90000800101"`, `f:4:1: nodes[0].ports[0].peer.node_guid: node 0x0002c90000800101 is not in the file`},
		{`"port_guid":"0x0002c90000800100","port":1`, `"port_guid":"0x0002c90000800100","port":9`, `nodes[0].ports[0].peer.port: got 9, want a port of nodes[1] (f:5:1), from 1 to 4`},
		{`"port_guid":"0x0002c90000800100","port":1`, `"port_guid":"0x0002c90000800100","port":2`, `nodes[0].ports[0].peer: port 2 of nodes[1] (f:5:1) has another peer`},
		{`"port":3,`, `"port":4,`, `nodes[1].ports[3].port: duplicate port 4, used by nodes[1].ports[2]`},
		{`"partial":false`, `"partial":"no"`, `f:2:`},
		{`"lid":2,"route"`, `"lid":70000,"route"`, `nodes[1].lid: got number 70000, want a whole number from 0 to 65535`},
		{`"ports":[{`, `"ports":[}`, `f:4:445: nodes[0]: invalid JSON: invalid character '}'`},
		{`"failures":[]`, `"failures":[`, `f:6:13: failures: invalid JSON: invalid character ','`},
		{`"summary":`, `"summary"=`, `f:8:`},
	} {
		t.Run(test.new, func(t *testing.T) {
			text := pair(t)
			if !strings.Contains(text, test.old) {
				t.Errorf("the file does not contain %s", test.old)
			}
			f, err := ParseJSON(strings.NewReader(strings.Replace(text, test.old, test.new, 1)), "f")
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || f != nil {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
	for text, want := range map[string]string{
		"":                    "f:1:1: unexpected end of the file",
		pair(t)[:3000]:        "f:5:120: unexpected end of the file",
		pair(t) + "x":         "f:",
		"{}":                  "schema: want",
		`{"nodes":[5]}`:       "nodes[0]: got number, want an object",
		`{"nodes":[null]}`:    "nodes[0].info: want an object",
		`{"nodes":[{}, {}]}`:  "nodes[0].info: want an object",
		`{"nodes":[{"info":5`: "f:1:20: unexpected end of the file",
		doubled(pair(t)):      "nodes[1].guid: duplicate GUID 0x2c90000100000, used by nodes[0] (f:4:1)",
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := ParseJSON(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40s: got %v, want %s", text, err, want)
			}
		})
	}
}

// doubled returns a file that contains the first node twice.
func doubled(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(append(lines[:4:4], lines[3:]...), "\n")
}

// FuzzParseJSON has no seeds with a PortInfo: mad has a fuzz target for PortInfo.
func FuzzParseJSON(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		fabric, err := ParseJSON(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for _, n := range fabric.Nodes {
			for i := range n.Ports {
				if p := &n.Ports[i]; p.Peer != nil && p.Peer.Peer != p {
					t.Errorf("got peer %s of %s, but peer %v of %s", p.Peer, p, p.Peer.Peer, p.Peer)
				}
			}
		}
		_ = fabric.resume() // fails for duplicate LIDs
	})
}
