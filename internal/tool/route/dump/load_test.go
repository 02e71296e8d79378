package dump

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// mustLoad loads files in testdata.
func mustLoad(t *testing.T, paths ...string) *route.Routing {
	t.Helper()
	r, err := Load(paths, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// outputs returns a switch's output ports for LIDs from 1.
func outputs(n *route.Node, lids int) (ports []uint8) {
	for lid := 1; lid <= lids; lid++ {
		ports = append(ports, n.Tables.Lookup(ib.LID(lid)))
	}
	return ports
}

// writeCache writes the cache from a scan of the fabric that testdata describes.
func writeCache(t *testing.T) string {
	t.Helper()
	f, err := fabric.Discover(context.Background(), open(t, build(t, "fat-tree:radix=4,pods=2,spines=2")), fabric.DiscoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cache")
	if err := f.WriteCacheFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeTopology writes that fabric in ibnetdiscover's form.
func writeTopology(t *testing.T) string {
	t.Helper()
	var text bytes.Buffer
	if err := build(t, "fat-tree:radix=4,pods=2,spines=2").WriteTopology(&text); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "topology")
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The files are from opensm 3.3.23 and infiniband-diags 44 on the same ibsim fabric.
func TestLoad(t *testing.T) {
	cache := writeCache(t)
	for _, test := range []struct {
		name   string
		paths  []string
		sltovl uint8 // virtual lane for service level 9 on leaf001
		state  ib.PortState
	}{
		{"opensm", []string{"testdata/opensm"}, 1, ib.PortActive},
		{"dump_fts and list", []string{"testdata/dump_fts.txt", "testdata/opensm/opensm-subnet.lst"}, 9, ib.PortActive},
		{"dump_fts and cache", []string{"testdata/dump_fts.txt", cache}, 9, ib.PortActive},
		{"dump_fts and topology", []string{"testdata/dump_fts.txt", writeTopology(t)}, 9, ib.PortNoChange}, // no states
	} {
		t.Run(test.name, func(t *testing.T) {
			r := mustLoad(t, test.paths...)
			if got := len(r.Nodes); got != 8 {
				t.Errorf("got %d nodes, want 8", got)
			}
			leaf := r.NodeByGUID(0x0002c90000800200)
			if leaf == nil || !leaf.IsSwitch() || leaf.Desc.String() != "leaf001" || len(leaf.Ports) != 5 {
				t.Fatalf("got node %+v, want switch leaf001 with 4 ports", leaf)
			}
			if got, want := outputs(leaf, 9), []uint8{1, 0, 3, 3, 4, 2, 3, 4, route.NoRoute}; !slices.Equal(got, want) {
				t.Errorf("got output ports %v, want %v", got, want)
			}
			host := &r.NodeByGUID(0x0002c90000100100).Ports[1]
			if host.Peer != &leaf.Ports[2] || host.Speed != ib.HDR || host.Width != ib.Width4X || host.State != test.state {
				t.Errorf("got port %+v, want one linked to port 2 of leaf001, 4X HDR, state %v", host, test.state)
			}
			if got := leaf.Lane(1, 2, 9); got != test.sltovl {
				t.Errorf("got virtual lane %d for service level 9, want %d", got, test.sltovl)
			}
		})
	}
}

// dumps are table texts for the nodes in testdata/opensm.
var dumps = map[string]string{
	"mcfdbs":  "Switch 0x0002c90000800200\nLID    : Out Port(s)\n0xC001 : 0x001 0x003\n",
	"mfts":    "Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x0002c90000800200 (leaf001):\n     Ports: 0 1 2 3 4 \n MLid\n0xc001        x   x   \n1 valid mlids dumped \n",
	"masks":   "Multicast mlids [0xc000-0xc3ff] of switch Lid 2 guid 0x0002c90000800200 (leaf001):\n MLid       Port Mask\n0xc001      000a\n",
	"slvl":    "0x0002c90000800200 1 3 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7\n",
	"psl":     "0x0002c90000100000 3 5\n0x0002c90000100001 4 6\n",
	"psl osm": "Channel Adapter 0x0002c90000100001, base LID 1, \"host00001\"\n0x0003 : 5\n0x0004 : 6\n",
}

// loadDump loads a text with the topology and the linear tables in testdata/opensm.
func loadDump(t *testing.T, text string) (*route.Routing, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dump")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load([]string{path, "testdata/opensm/opensm-subnet.lst", "testdata/opensm/opensm.fdbs"}, LoadOptions{})
}

func TestLoad_Tables(t *testing.T) {
	for name, text := range dumps {
		t.Run(name, func(t *testing.T) {
			r, err := loadDump(t, text)
			if err != nil {
				t.Fatal(err)
			}
			leaf := r.NodeByGUID(0x0002c90000800200)
			switch {
			case strings.HasPrefix(name, "psl"):
				host := route.NewTracer(r).Port(1)
				for lid, want := range map[ib.LID]uint8{3: 5, 4: 6} {
					if got, ok := r.PathSLs.Of(host, lid); got != want || !ok {
						t.Errorf("got service level %d (known: %v) for LID %d, want %d", got, ok, lid, want)
					}
				}
			case name == "slvl":
				if a, b, c := leaf.Lane(1, 3, 15), leaf.Lane(1, 3, 14), leaf.Lane(1, 2, 15); a != 7 || b != 14 || c != 15 {
					t.Errorf("got virtual lanes %d, %d, %d, want 7, 14, 15", a, b, c)
				}
			default:
				mask := leaf.Tables.MFT[0xc001]
				var want mad.PortMask
				want.Add(1)
				want.Add(3)
				if mask != want {
					t.Errorf("got mask %x, want %x", mask, want)
				}
			}
		})
	}
}

// Errors name the file, the line and the reason.
func TestLoad_Errors(t *testing.T) {
	head := "dump_ucast_routes: Switch 0x0002c90000800200\nLID    : Port : Hops : Optimal\n"
	for _, test := range []struct{ name, text, want string }{
		{"other text", "hello\n", ":1: got \"hello\", want a saved routing, or a file of "},
		{"other switch", "\ndump_ucast_routes: Switch 0x0002c90000800201\n", ":2: switch 0x0002c90000800201 is not in the topology"},
		{"adapter", "dump_ucast_routes: Switch 0x0002c90000100000\n", ":1: 0x0002c90000100000 is not a switch"},
		{"two sections", head + head, ":3: switch 0x0002c90000800200 has two sections"},
		{"high LID", head + "0xC000 : 001  : 01   : yes\n", ":3: got \"0xC000 : 001  : 01   : yes\", want a unicast LID"},
		{"high port", head + "0x0001 : 256  : 01   : yes\n", ":3: got \"256  : 01   : yes\", want a port from 000 to 255"},
		{"truncated port", head + "0x0001 : 00", ":3: got \"00\", want a port"},
		{"truncated LID", head + "0x0001 : 001  : 01   : yes\n0x00", ":4: got \"0x00\", want a unicast LID"},
		{"mixed", head + "{ CA Ports:01\n", ":3: got \"{ CA Ports:01\", want a switch or an entry"},
		{"truncated link", "{ CA Ports:01 SystemGUID:1 NodeGUID:1\n", "got the end of the line, want PortGUID: and a hexadecimal number"},
		{"multicast LID", "Switch 0x0002c90000800200\nLID    : Out Port(s)\n0x0001 : 0x001\n", ":3: got \"0x0001 : 0x001\", want a multicast LID"},
		{"table entry", "Unicast lids [0x0-0x8] of switch Lid 2 guid 0x0002c90000800200 (leaf001):\n0x0001 1\n", ":2: got \"0x0001 1\", want a LID and a port"},
		{"virtual lanes", "0x0002c90000800200 1 9 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7\n", ":1: port 0x0002c90000800200[9]: want 0 to 4"},
		{"service level", "0x0002c90000100000 3 16\n", ":1: got \"0x0002c90000100000 3 16\", want a node, a destination LID and a service level"},
		{"saved", "{\"schema\":\"ibkit/routing/0\"}\n", `:1: got schema "ibkit/routing/0", want "ibkit/routing/2"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "dump")
			if err := os.WriteFile(path, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			paths := []string{"testdata/opensm/opensm-subnet.lst", path}
			if strings.HasPrefix(test.text, "{ ") || strings.HasPrefix(test.text, `{"`) {
				paths = paths[1:]
			}
			r, err := Load(paths, LoadOptions{})
			if err == nil && len(r.Failures) > 0 { // the file has a table
				err = r.Failures[0].Err
			}
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, path+test.want)
			}
		})
	}
}

func TestLoad_Incomplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := Load([]string{"testdata/opensm/opensm.fdbs"}, LoadOptions{})
		if err == nil || !strings.Contains(err.Error(), "a topology is missing") {
			t.Errorf("got error %v, want one about the topology", err)
		}
		for _, path := range []string{"testdata/opensm/opensm-subnet.lst", writeCache(t), writeTopology(t)} {
			if _, err := Load([]string{path}, LoadOptions{}); err == nil || !strings.Contains(err.Error(), "read "+path+": no forwarding tables, only nodes and links") {
				t.Errorf("got error %v, want one about the tables", err)
			}
		}
		_, err = Load([]string{"testdata/opensm", writeCache(t)}, LoadOptions{})
		if err == nil || !strings.Contains(err.Error(), "has a topology already") {
			t.Errorf("got error %v, want one about two topologies", err)
		}
	})
}

// A file part has the sections that begin in it, wherever it is cut.
func TestForwardingDump_Parts(t *testing.T) {
	text, err := os.ReadFile("testdata/opensm/opensm.fdbs")
	if err != nil {
		t.Fatal(err)
	}
	want := mustLoad(t, "testdata/opensm")
	r := mustLoad(t, "testdata/opensm")
	for cut := range len(text) {
		for _, n := range r.Nodes {
			n.Tables = nil
		}
		d := &forwardingDump{routing: r, in: bytes.NewReader(text), size: int64(len(text)), seen: map[*route.Node]bool{}}
		for _, part := range [][2]int{{0, cut}, {cut, len(text)}} {
			if err := d.part(int64(part[0]), int64(part[1])); err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
		}
		for _, n := range r.Nodes {
			if !n.IsSwitch() {
				continue
			}
			if got, want := outputs(n, 9), outputs(want.NodeByGUID(n.GUID), 9); !slices.Equal(got, want) {
				t.Fatalf("cut at %d: got output ports %v of 0x%016x, want %v", cut, got, uint64(n.GUID), want)
			}
		}
	}
}

// A saved routing is the same after it was loaded.
func TestSave(t *testing.T) {
	r := mustLoad(t, "testdata/opensm")
	host := route.NewTracer(r).Port(1)
	r.PathSLs = &route.PathSLs{}
	r.PathSLs.Set(host, 4, 3)
	r.Changing = r.Switches()[:1]
	r.Switches()[1].SetMulticast(0xc000, mad.PortMask{31: 6})
	r.Switches()[1].Tables.Missing = []uint16{1}
	var first, again bytes.Buffer
	if err := Save(&first, r); err != nil {
		t.Fatal(err)
	}
	loaded := &route.Routing{}
	if err := readSaved(loaded, bytes.NewReader(first.Bytes()), "saved"); err != nil {
		t.Fatal(err)
	}
	if err := Save(&again, loaded); err != nil {
		t.Fatal(err)
	}
	if first.String() != again.String() {
		t.Errorf("got\n%s\nwant\n%s", &again, &first)
	}
	whole := bytes.Count(first.Bytes(), []byte("\n"))
	for cut := 0; cut < first.Len(); cut += 7 {
		part, lines := &route.Routing{}, bytes.Count(first.Bytes()[:cut], []byte("\n"))
		err := readSaved(part, bytes.NewReader(first.Bytes()[:cut]), "saved")
		switch want := fmt.Sprintf("saved:%d: the file is truncated", lines+1); {
		case lines < 2 && (err == nil || err.Error() != want): // no node
			t.Fatalf("first %d bytes: got error %v, want %s", cut, err, want)
		case lines < 2:
		case err != nil || len(part.Nodes) != lines-1 || len(part.Failures) != 1 || part.Failures[0].Err.Error() != want:
			t.Fatalf("first %d bytes: got error %v, %d nodes, failures %v, want %d of %d nodes and %s", cut, err, len(part.Nodes), part.Failures, lines-1, whole-1, want)
		}
	}
}

// The valid lines of a damaged file are read. A peer in an invalid line is unknown.
func TestLoad_DamagedSaved(t *testing.T) {
	var whole bytes.Buffer
	if err := Save(&whole, mustLoad(t, "testdata/opensm")); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(whole.String(), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"node_guid":"0x0002c90000800200"`) }) // leaf001
	for _, test := range []struct {
		name  string
		edit  func([]string)
		nodes int
		want  string // failure
		leaf  bool   // is in the routing with its tables
	}{
		{"whole", func([]string) {}, 8, "", true},
		{"node", func(l []string) { l[at] = "{\n" }, 7, ": unexpected end of JSON input", false},
		{"description", func(l []string) { l[at] = strings.Replace(l[at], `"description":"`, `"description":"x`, 1) }, 7, ": encoding/hex", false},
		{"port", func(l []string) { l[at] = strings.Replace(l[at], `"port":1`, `"port":99`, 1) }, 8, ": port 99: want 0 to 4", true},
		{"peer", func(l []string) { l[at] = strings.Replace(l[at], `"peer":{"node":`, `"peer":{"node":77`, 1) }, 8, " is not in the file", true},
		{"more lines", func(l []string) { l[len(l)-1] = "x\n" }, 8, ": want the end of the file after 8 nodes", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			edited := slices.Clone(lines)
			test.edit(edited)
			path := filepath.Join(t.TempDir(), "saved")
			if err := os.WriteFile(path, []byte(strings.Join(edited, "")), 0o600); err != nil {
				t.Fatal(err)
			}
			r := mustLoad(t, path)
			leaf := r.NodeByGUID(0x0002c90000800200)
			if len(r.Nodes) != test.nodes || (leaf != nil && leaf.Tables.Known()) != test.leaf {
				t.Errorf("got %d nodes, leaf001 %v, want %d nodes, leaf001 %v", len(r.Nodes), leaf, test.nodes, test.leaf)
			}
			switch {
			case test.want == "":
				if len(r.Failures) > 0 {
					t.Errorf("got failures %v, want none", r.Failures)
				}
			case len(r.Failures) != 1 || !strings.HasPrefix(r.Failures[0].Err.Error(), path+":") || !strings.Contains(r.Failures[0].Err.Error(), test.want):
				t.Errorf("got failures %v, want %s", r.Failures, test.want)
			}
			if test.leaf {
				return
			}
			for _, n := range r.Nodes {
				for i := range n.Ports {
					if peer := n.Ports[i].Peer; peer != nil && peer.Node.GUID == 0x0002c90000800200 {
						t.Errorf("got a link from %v to leaf001, which was not read", n.GUID)
					}
				}
			}
		})
	}
}
