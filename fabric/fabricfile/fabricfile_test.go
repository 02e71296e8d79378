package fabricfile_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// cabling formats the data that all file formats contain.
func cabling(f *fabric.Fabric) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d hops\n", f.MaxHops)
	for _, n := range f.Nodes {
		fmt.Fprintf(&b, "%v %q %v at %v, LMC %d\n", n.Info.NodeType, n.Desc.String(), n.GUID, n.Route, n.Info.NumPorts)
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil {
				fmt.Fprintf(&b, "  %d %v LID %d %v %v to %v port %d\n", p.Number, p.GUID, p.LID(), p.Info.LinkWidthActive,
					p.Info.ActiveSpeed(p.Caps(), p.Ext), p.Peer.Node.GUID, p.Peer.Number)
			}
		}
	}
	return b.String()
}

// scan returns a simulated fabric.
func scan(t testing.TB, description string) *fabric.Fabric {
	t.Helper()
	simulated, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	s, err := fabric.Source{OpenPort: simulated.Opener("")}.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := s.Fabric(context.Background(), fabric.DiscoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// formats returns files with a fabric by their format name.
func formats(t testing.TB, f *fabric.Fabric) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	for name, write := range map[string]func(io.Writer) error{
		"netdiscover": func(w io.Writer) error { return (&topology.Text{}).WriteTopology(w, f) },
		"grouped":     func(w io.Writer) error { return (&topology.Text{Group: true, Full: true}).WriteTopology(w, f) },
		"lst":         func(w io.Writer) error { return ibdiagnet.WriteList(w, f, nil) },
		"db_csv":      func(w io.Writer) error { return (&ibdiagnet.Database{Fabric: f}).Write(w) },
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

// A file is read by its content, and a directory by the name of ibdiagnet's file.
func TestRead(t *testing.T) {
	f := scan(t, "single-switch:hosts=2")
	texts := formats(t, f)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ibdiagnet2.db_csv"), texts["db_csv"], 0o600); err != nil {
		t.Fatal(err)
	}
	if d, err := fabricfile.Read(dir); err != nil || len(d.Fabric.Nodes) != 3 {
		t.Errorf("directory: got %v, %v, want 3 nodes", d, err)
	}
	for name, text := range texts {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := fabricfile.Read(path); err != nil || len(d.Fabric.Nodes) != 3 {
			t.Errorf("%s: got %v, %v, want 3 nodes", name, d, err)
		}
	}
}

// Each format has the fabric's cabling.
func TestParse(t *testing.T) {
	for _, preset := range []string{"demo", "mixed", "chassis"} {
		f := scan(t, preset)
		for name, text := range formats(t, f) {
			t.Run(preset+"/"+name, func(t *testing.T) {
				d, err := fabricfile.Parse(text, "file")
				if err != nil {
					t.Fatal(err)
				}
				want := cabling(f)
				if name == "cache" { // which cannot store FDR10
					want = strings.ReplaceAll(want, "FDR10", "QDR")
				}
				if diff := cmp.Diff(want, cabling(d.Fabric)); diff != "" {
					t.Errorf("want (-), got (+)\n%s", diff)
				}
				if sparse := name != "cache" && name != "db_csv"; d.Fabric.Sparse != sparse {
					t.Errorf("got sparse %v, want %v", d.Fabric.Sparse, sparse)
				}
			})
		}
	}
}

func TestParse_Errors(t *testing.T) {
	info, err := mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 1, NodeGUID: 1}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	attributes := `"description":"a","info":` + string(info)
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "read fabric file: want a cache"},
		{"binary", "a\x00b", "read fabric file: want a cache"},
		{"plan", "StartDevice,EndDevice\na,b\n", "read fabric file: want a cache"},
		{"cache", "\x2b\x83\xe7\x8f", "read cache file: offset 0"},
		{"list", "{ CA Ports:01 x\n", "read file:1: got \"x\", want SystemGUID:"},
		{"db_csv", "START_NODES\nNodeGUID\nx\n", "read file:3: NodeGUID: got \"x\""},
		{"netdiscover", "Switch\t2 \"S-0000000000000001\"\n[9]\t\"S-0000000000000002\"[1]\n", "file:2"},
		{"JSON", "{\n1}", "read fabric: file:2: "},
		{"schema", `{"schema":"ibkit/topology/3"}`, `got schema "ibkit/topology/3", want ibkit/linkinfo/4`},
		{"no nodes", `{"schema":"ibkit/linkinfo/4"}`, "got no nodes"},
		{"no attributes", `{"schema":"ibkit/linkinfo/4","nodes":[{"description":"a"}]}`, "node 0 has no attributes"},
		{"GUID twice", `{"schema":"ibkit/linkinfo/4","nodes":[{` + attributes + `},{` + attributes + `}]}`, "is that of another node"},
		{"filtered", `{"schema":"ibkit/linkinfo/4","nodes":[{` + attributes + `,"ports":[{"port":1,"port_guid":"0x0000000000000001","peer":{"node_guid":"0x0000000000000002","port":1}}]}]}`, "is not in the file, which may be filtered"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := fabricfile.Parse([]byte(test.text), "file")
			if err == nil && d.Fabric.Damaged() {
				err = d.Fabric.Failures[0].Err
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// Every link in a fabric that was read has two ends.
func FuzzParse(f *testing.F) {
	for _, text := range formats(f, scan(f, "single-switch:hosts=2")) {
		f.Add(text)
	}
	info, err := mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 1, NodeGUID: 1}.MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"schema":"ibkit/linkinfo/4","start":"0x1","nodes":[{"description":"a","info":` + string(info) + `,"ports":[{"port":1,"port_guid":"0x0000000000000001"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := fabricfile.Parse(data, "file")
		if err != nil {
			return
		}
		for _, n := range d.Fabric.Nodes {
			for _, p := range n.Ports {
				if p != nil && p.Peer != nil && p.Peer.Peer != p {
					t.Fatalf("port %d of %v: the link has one end", p.Number, n.GUID)
				}
			}
		}
		topology.Levels(d.Fabric)
	})
}
