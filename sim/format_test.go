package sim

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/netfile"
)

// write creates a file in the test's temporary directory.
func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fabric")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReadFile writes each preset in both text formats and checks that the formats are
// recognised.
func TestReadFile(t *testing.T) {
	for _, p := range Presets {
		t.Run(p.Name, func(t *testing.T) {
			f := build(t, p.Name)
			var net, topology strings.Builder
			if f.WriteNet(&net) != nil || f.WriteTopology(&topology) != nil {
				t.Fatal("cannot write the fabric")
			}
			if !netfile.IsTopology([]byte(topology.String())) {
				t.Error("topology: recognised as a net file")
			}
			if netfile.IsTopology([]byte(net.String())) {
				t.Error("net file: recognised as a topology")
			}
			for _, content := range []string{net.String(), topology.String()} {
				if got, err := ReadFile(write(t, content)); err != nil || len(got.Nodes) != len(f.Nodes) {
					t.Errorf("got %v, want %d nodes", err, len(f.Nodes))
				}
			}
		})
	}
	for _, net := range netFiles(t) {
		content, err := os.ReadFile(net)
		if err != nil {
			t.Fatal(err)
		}
		// The links in this file are as ibnetdiscover prints them.
		want := filepath.Base(net) == "fdr10.net"
		if got := netfile.IsTopology(content); got != want || netfile.CheckText(content, net) != nil {
			t.Errorf("%s: got topology %v, want %v", net, got, want)
		}
	}
}

// TestReadFile_Topology reads ibnetdiscover output: the headings from -g and the speeds
// from -f do not change the format.
func TestReadFile_Topology(t *testing.T) {
	const start = "#\n# Topology file: generated on Sat Nov 21 10:00:00 2026\n#\n# Initiated from node 0002c90000100000 port 0002c90000100001\n\n"
	const nodes = "vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x2c90000800100\nswitchguid=0x2c90000800100(2c90000800100)\n" +
		"Switch\t4 \"S-0002c90000800100\"\t\t# \"switch1\" base port 0 lid 2 lmc 0\n" +
		"[1]\t\"H-0002c90000100000\"[1](2c90000100001) \t\t# \"host001\" lid 1 4xHDR\n\n" +
		"caguid=0x2c90000100000\nCa\t1 \"H-0002c90000100000\"\t\t# \"host001\"\n" +
		"[1](2c90000100001) \t\"S-0002c90000800100\"[1]\t\t# lid 1 lmc 0 \"switch1\" lid 2 4xHDR\n"
	for name, content := range map[string]string{
		"whole":            start + nodes,
		"without comments": nodes,
		"ungrouped":        start + "\nNon-Chassis Nodes\n" + nodes,
		"grouped":          start + "Chassis 1 (guid 0x2c90000800100)\n" + strings.ReplaceAll(nodes, "[1]\t\"H", "[1][ext 7]\t\"H"),
		"DOS line ends":    strings.ReplaceAll(start+nodes, "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			f := build(t, write(t, content))
			if p := &f.Node("H-0002c90000100000").Ports[1]; p.Info.LID != 1 || p.Info.LinkWidthSupported.Has(ib.Width12X) {
				t.Errorf("got LID %d, widths %v, want LID 1 and 4X at most", p.Info.LID, p.Info.LinkWidthSupported)
			}
		})
	}
}

// TestBuild_TopologyWithoutLID checks that a port without a LID gets no LID, and that the
// link is not active.
func TestBuild_TopologyWithoutLID(t *testing.T) {
	f := build(t, "single-switch:hosts=3,radix=4")
	f.Node("host002").Ports[1].Info.LID = 0
	var topology strings.Builder
	if err := f.WriteTopology(&topology); err != nil {
		t.Fatal(err)
	}
	back := build(t, write(t, topology.String()))
	for i, n := range []string{"host001", "host002", "host003"} {
		p := &back.Node(topologyID(f.Node(n))).Ports[1]
		want, lid := ib.PortActive, f.Node(n).Ports[1].Info.LID
		if i == 1 {
			want = ib.PortInit
		}
		if p.Info.State != want || p.Peer.Info.State != want || p.Info.LID != lid {
			t.Errorf("%s: got %v, %v at the switch, LID %d, want %v, LID %d", n, p.Info.State, p.Peer.Info.State, p.Info.LID, want, lid)
		}
	}
}

func TestReadFile_Errors(t *testing.T) {
	const formats = ", want a net file of ibsim, or the output of ibnetdiscover or of ibkit linkinfo --json --attributes"
	for _, test := range []struct{ name, content, want string }{
		{"empty", "", "the file is empty"},
		{"blank", " \n\t\n", "the file is empty"},
		{"comments", "# a comment\n#\n", "the file contains no nodes"},
		{"prose", "# a comment\n\nHello, world\n", `:3:1: got "Hello, world"` + formats},
		{"CSV", "guid,port,state\n0x1,2,Active\n", `:1:1: got "guid,port,state"` + formats},
		{"script", "#!/bin/sh\nexec ibsim\n", `:2:1: got "exec ibsim"` + formats},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00\x00", `\x00"` + formats},
		{"array", "[1, 2]", `:1:1: got "[1, 2]"` + formats},
		{"another document", `{"schema":"ibkit/devinfo/1","devices":[]}`, `schema: want ibkit/linkinfo/4`},
		{"cut JSON", `{"schema":"ibkit/linkinfo/4","nodes":[`, "unexpected end of the file"},
		{"net file", "Switch 4 \"s\"\n[1]\t\"h\"[1]\tw=99\n", `2:14: got "99", want a set of bits, a number up to 31`},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, test.content)
			f, err := Build(path)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %s:…%s", err, path, test.want)
			}
			if f != nil {
				t.Error("got a fabric, want none")
			}
		})
	}
	for _, content := range []string{"\x8f\xe7\x83\x2b\x00\x00\x00\x01", "\x2b\x83\xe7\x8f\x01\x00\x00\x00"} {
		if _, err := Build(write(t, content)); !errors.Is(err, ErrCache) || !strings.Contains(err.Error(), "a cache of a scan, not a fabric file") {
			t.Errorf("cache: got %v, want %v", err, ErrCache)
		}
	}
	for description, want := range map[string]string{
		"/nonexistent":  "read fabric: open /nonexistent: no such file or directory",
		"./x,sm=off":    "read fabric: open ./x: no such file or directory",
		t.TempDir():     "is a directory",
		"moon":          `unknown fabric "moon": not a file, and not one of demo, faults, optics, single-switch, fat-tree, dragonfly, torus, mixed, chassis, rails, forwarding-loop, credit-loop, dead-end, unbalanced-leaf, broken-multicast, json:FILE, net:FILE, topo:FILE`,
		"moon:hosts=3":  `unknown fabric "moon": not a file`,
		"net:/x":        "open /x: no such file or directory",
		"demo,colour=1": `build fabric demo: unknown parameter "colour" (known: sm, root, vendor, ar)`,
		"demo,sm=maybe": "build fabric demo: sm=maybe: ",
		"json:" + nets:  "no such file",
	} {
		if _, err := Build(description); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", description, err, want)
		}
	}
}

// TestBuild_Similar checks the hint for a misspelt preset.
func TestBuild_Similar(t *testing.T) {
	for name, want := range map[string]string{
		"dmeo": `similar names: "demo"`, "fattree:levels=3": `similar names: "fat-tree"`, "moon": "",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(name)
			var hinter interface{ Hint() string }
			if !errors.As(err, &hinter) || hinter.Hint() != want {
				t.Errorf("got %v, want hint %q", err, want)
			}
		})
	}
}

// TestBuild_Parameters checks that parameters follow a colon or a comma.
func TestBuild_Parameters(t *testing.T) {
	for _, description := range []string{
		"demo:sm=off", "demo,sm=off", "single-switch:hosts=3,sm=off", "single-switch,hosts=3,sm=off", "demo:,sm=off",
		"testdata/pair.json,sm=off", "json:testdata/pair.json,sm=off",
	} {
		t.Run(description, func(t *testing.T) {
			for _, n := range build(t, description).Nodes {
				if n.LFT != nil {
					t.Errorf("%s has routes, want none", n.ID)
				}
			}
		})
	}
	for _, option := range []string{"sm=off", "sm=on"} {
		f := build(t, "demo,sm=on", option)
		if got := f.Node("leaf1").LFT != nil; got != (option == "sm=on") {
			t.Errorf("demo,sm=on with %s: got routes %v", option, got)
		}
	}
	net := write(t, "Switch 4 \"s\"\n[1]\t\"h\"[1]\n\nCa 1 \"h\"\n[1]\t\"s\"[1]\n")
	if f := build(t, net+",sm=off"); f.Node("s").LFT != nil {
		t.Error("a net file with sm=off has routes, want none")
	}
	if f := build(t, net); f.Node("s").LFT == nil {
		t.Error("a net file has no routes, want some")
	}
	// A comma in a file name is not an option.
	path := filepath.Join(t.TempDir(), "a,b.net")
	content, err := os.ReadFile(net)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := build(t, path+",sm=off"); len(f.Nodes) != 2 {
		t.Errorf("got %d nodes, want 2", len(f.Nodes))
	}
}

// FuzzReadFile checks that any content is read or refused with the file name.
func FuzzReadFile(f *testing.F) {
	f.Add("Switch 4 \"s\"\n[1]\t\"h\"[1]\n")
	f.Add(pair(f))
	f.Fuzz(func(t *testing.T, content string) {
		format, r, err := detect(strings.NewReader(content), "name")
		if err == nil && format.parse == nil {
			t.Fatal("no format and no error")
		}
		if err == nil {
			_, err = format.parse(r, "name")
		}
		if err != nil && !strings.Contains(err.Error(), "name") {
			t.Errorf("the error does not name the file: %v", err)
		}
	})
}
