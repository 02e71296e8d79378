package lookup

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// at returns a resolver at a simulated fabric's first node.
func at(t *testing.T, description string, o Options, change func(*sim.Fabric)) *Resolver {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(f)
	}
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	o.Simulated = o.NextHop == nil
	return New(umad.NewClient(p, umad.ClientOptions{Attempts: 1}), p.Attr(), o)
}

// find returns the ports that an address leads to, described and written down.
func find(t *testing.T, r *Resolver, address string) ([]string, error) {
	t.Helper()
	a, err := Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	ports, err := r.Find(t.Context(), a)
	if err == nil {
		err = r.Describe(t.Context(), ports)
	}
	var lines []string
	for _, p := range ports {
		lines = append(lines, describe(p))
	}
	return lines, err
}

func describe(p *Port) string {
	if p.Err != nil || p.Node == nil {
		return fmt.Sprint(p.Err)
	}
	first, last := p.LIDs()
	number, _ := p.Number()
	s := fmt.Sprintf("%s/%d LID %d-%d GUID %x %v, %v, %v", p.Description.Clean(), number, first, last, p.Node.PortGUID, p.GIDs()[0], p.FoundBy, p.DescribedBy)
	for _, f := range p.Findings {
		s += " " + string(f.Kind)
	}
	return s
}

// TestDirections resolves each port's addresses from each other kind, by everybody who
// can be asked.
func TestDirections(t *testing.T) {
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	names, err := fabric.ReadNameMap(strings.NewReader(fmt.Sprintf("0x%x \"rack 7\"\n", f.Node("node07").Info.NodeGUID)), "map")
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []Mode{ModeAll, ModeSA, ModeNodes} {
		r := at(t, "demo", Options{Mode: ask, Names: names}, nil)
		for _, n := range f.Nodes {
			number := 1
			if n.IsSwitch() {
				number = 0
			}
			p := &n.Ports[number]
			if p.Info.LID == 0 {
				continue
			}
			gid := ib.MakeGID(p.Info.GIDPrefix, p.GUID)
			addresses := []string{fmt.Sprint(p.Info.LID), fmt.Sprintf("guid:%x", p.GUID), gid.String(), "name:" + n.Desc.Clean()}
			if n == f.Node("node07") {
				addresses = append(addresses, "rack 7")
			}
			for _, address := range addresses {
				lines, err := find(t, r, address)
				want := fmt.Sprintf("%s/%d LID %d-%d GUID %x %v", n.Desc.Clean(), number, p.Info.LID, p.Info.LID+1<<p.Info.LMC-1, p.GUID, gid)
				if err != nil || len(lines) == 0 || !slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, want) }) {
					t.Errorf("ask %d for %s: %q, %v; want %s", ask, address, lines, err, want)
				}
			}
		}
	}
}

func TestNotFound(t *testing.T) {
	for _, ask := range []Mode{ModeAll, ModeSA, ModeNodes} {
		r := at(t, "demo", Options{Mode: ask}, nil)
		for _, address := range []string{"0x1234567890", "fe80::1:2:3:4", "name:nobody"} {
			lines, err := find(t, r, address)
			var not *NotFoundError
			if !errors.As(err, &not) || len(lines) > 0 || !strings.Contains(err.Error(), strings.TrimPrefix(address, "name:")) {
				t.Errorf("%s: %q, %v", address, lines, err)
			}
		}
	}
}

func TestNotFound_Similar(t *testing.T) {
	for _, mode := range Modes {
		for _, c := range []struct{ address, want string }{
			{"NODE0", `similar names: "node01", "node02", "node03"`},
			{"laef1", `similar names: "leaf1", "leaf2", "leaf3"`},
			{"node1", `similar names: "node01", "node10", "node11"`},
			{"spin1/4", `similar names: "spine1", "spine2"`},
			{"leaf1:4", `similar names: "leaf1/4"`},
			{"leaf9:4", `similar names: "leaf1", "leaf2", "leaf3"`},
			{"nobody", ""},
			{"LID3", `similar names: "lid:3"`},
			{"3/4", "a port number follows a name, not a LID; find the name: ibkit addr 3"},
			{"0x3[4]", "a port number follows a name, not a LID; find the name: ibkit addr 0x3"},
			{"3:4", "a port number follows a name, not a LID; find the name: ibkit addr 3"},
			{"99999/4", ""},
		} {
			t.Run(mode.String()+" "+c.address, func(t *testing.T) {
				_, err := find(t, at(t, "demo", Options{Mode: mode}, nil), c.address)
				var not *NotFoundError
				if !errors.As(err, &not) || not.Hint() != c.want {
					t.Errorf("got %v, hint %q, want %q", err, not.Hint(), c.want)
				}
			})
		}
	}
}

// TestFind_Number finds a node's port with a number.
func TestFind_Number(t *testing.T) {
	for _, mode := range []Mode{ModeAll, ModeNodes} {
		r := at(t, "demo", Options{Mode: mode}, nil)
		for text, want := range map[string]string{
			"node02[1]":             "node02/1 LID 5-5",
			"node02/1":              "node02/1 LID 5-5",
			"0x0002c90000100400[1]": "node02/1 LID 5-5",
			"node0[2]":              "node02/1 LID 5-5", // a pattern
			"leaf1[0]":              "leaf1/0 LID 3-3",
		} {
			t.Run(text, func(t *testing.T) {
				lines, err := find(t, r, text)
				if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], want) {
					t.Errorf("got %q, %v, want %s", lines, err, want)
				}
			})
		}
		for text, want := range map[string]string{
			"leaf1[3]":   "find leaf1[3]: a port of a switch has no address of its own",
			"leaf1[17]":  "find leaf1[17]: the ports of leaf1 have the numbers 1 to 16",
			"node02[2]":  "find node02[2]: the ports of node02 have the numbers 1 to 1",
			"node02[0]":  "find node02[0]: the ports of node02 have the numbers 1 to 1",
			"nobody[1]":  "find name nobody[1]: no node has this name",
			"leaf*[900]": "find leaf*[900]: the ports of leaf* have the numbers 1 to 16",
		} {
			t.Run(text, func(t *testing.T) {
				if lines, err := find(t, r, text); err == nil || err.Error() != want {
					t.Errorf("got %q, error %v, want %s", lines, err, want)
				}
			})
		}
	}
}

// TestUnconfigured looks for ports that no subnet manager knows.
func TestUnconfigured(t *testing.T) {
	r := at(t, "demo:sm=off", Options{}, nil)
	lines, err := find(t, r, "node07")
	if err != nil || len(lines) != 1 || !strings.Contains(lines[0], "LID 0-0") || !strings.HasSuffix(lines[0], "scan, node zero-lid not-active") {
		t.Errorf("%q, %v", lines, err)
	}
	_, err = find(t, at(t, "demo:sm=off", Options{Mode: ModeSA}, nil), "node07")
	if !errors.Is(err, umad.ErrNoSM) {
		t.Error(err)
	}
}

// TestSilent resolves a port on a node that does not respond.
func TestSilent(t *testing.T) {
	t.Parallel()
	silence := func(f *sim.Fabric) { f.Node("node07").Silent = true }
	r := at(t, "demo", Options{}, silence)
	lines, err := find(t, r, "name:node07")
	if err != nil || len(lines) != 1 || !strings.HasSuffix(lines[0], "sa, sa") {
		t.Errorf("%q, %v", lines, err)
	}
}

// TestOtherSubnet looks for a GID in the subnet that is as good as its own, and for a
// GID in another subnet.
func TestOtherSubnet(t *testing.T) {
	move := func(f *sim.Fabric) {
		for _, n := range f.Nodes {
			for i := range n.Ports {
				n.Ports[i].Info.GIDPrefix = 0xfec0 << 48
			}
		}
	}
	for _, ask := range []Mode{ModeAll, ModeNodes} {
		r := at(t, "demo", Options{Mode: ask}, move)
		if lines, err := find(t, r, "fec0::2:c900:10:401"); err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "node02/1 LID 5-5") {
			t.Errorf("%q, %v", lines, err)
		}
		if lines, err := find(t, r, "fe80::2:c900:10:401"); err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "node02/1 LID 5-5") {
			t.Errorf("%q, %v", lines, err)
		}
		if lines, err := find(t, r, "fec1::2:c900:10:401"); err == nil {
			t.Errorf("%q", lines)
		}
	}
}

// TestNoAnswerOfSA finds ports where the host with subnet administration keeps
// silent: that is found out once.
func TestNoAnswerOfSA(t *testing.T) {
	t.Parallel()
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Open("node07")
	if err != nil {
		t.Fatal(err)
	}
	f.Node("node01").Silent = true // where the subnet manager is
	c := umad.NewClient(p, umad.ClientOptions{Attempts: 1})
	r := New(c, p.Attr(), Options{Simulated: true})
	for _, address := range []string{"guid:0x0002c90000100401", "node02", "5", "fe80::2:c900:10:401"} {
		lines, err := find(t, r, address)
		if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "node02/1 LID 5-5") {
			t.Errorf("%s: %q, %v", address, lines, err)
		}
	}
	_, err = find(t, r, "node01")
	var not *NotFoundError
	if !errors.As(err, &not) || !not.Incomplete || not.Hint() == "" {
		t.Errorf("%v", err)
	}
	if s := c.Stats(); s.Timeouts != 2 { // from subnet administration, and from the node
		t.Errorf("%d requests timed out", s.Timeouts)
	}
}

// TestIPoIB finds the port behind an IP address.
func TestIPoIB(t *testing.T) {
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	p := &f.Node("node07").Ports[1]
	gid := ib.MakeGID(p.Info.GIDPrefix, p.GUID)
	way := &NextHop{Netdev: "ib0", LinkAddr: append([]byte{0x80, 0, 0, 0x48}, gid[:]...)}
	r := at(t, "demo", Options{NextHop: func(context.Context, netip.Addr) (*NextHop, error) { return way, nil }}, nil)
	lines, err := find(t, r, "192.0.2.7")
	if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "node07") {
		t.Errorf("%q, %v", lines, err)
	}
	for what, change := range map[string]func(){
		"packets leave by ib0, on which no selected RoCE port": func() { way.LinkAddr = way.LinkAddr[:6] },
		"behind the router": func() { way.Gateway = netip.MustParseAddr("192.0.2.1") },
	} {
		t.Run(what, func(t *testing.T) {
			was := *way
			change()
			if _, err := find(t, r, "192.0.2.7"); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
			*way = was
		})
	}
}
