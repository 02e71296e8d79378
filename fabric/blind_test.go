package fabric_test

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// scanAfter scans a simulated fabric from node01 after commands.
func scanAfter(t *testing.T, s *sim.Fabric, o fabric.DiscoverOptions, commands ...string) *fabric.Fabric {
	t.Helper()
	for _, text := range commands {
		c, err := s.ParseCommand("command", 1, text)
		if err == nil {
			err = s.Do(c, io.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	port, err := s.Open("node01")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	c := umad.NewClient(port, umad.ClientOptions{Timeout: 50 * time.Millisecond, Attempts: 1})
	f, err := fabric.Discover(t.Context(), c, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func build(t *testing.T, description string) *sim.Fabric {
	t.Helper()
	s, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDiscover_Blind(t *testing.T) {
	for _, test := range []struct {
		name, command string
		down          bool
		want          string // in the reason; "": not blind
	}{
		{"link down", "unlink leaf1[3]", true, "the link of the local port is down (Polling): no other node was found"},
		{"peer silent", "hang leaf1", false, "no other node was found: Get NodeInfo of route 0,1"},
		{"other link down", "unlink leaf1[4]", false, ""},
		{"other switch silent", "hang leaf2", false, ""},
	} {
		for _, lean := range []bool{false, true} {
			t.Run(test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := scanAfter(t, build(t, "demo"), fabric.DiscoverOptions{Lean: lean}, test.command)
					blind := f.Blind()
					switch {
					case test.want == "":
						if blind != nil {
							t.Errorf("got blind %v, want a fabric", blind)
						}
					case blind == nil || !strings.Contains(blind.Error(), test.want) || !errors.Is(blind, fabric.ErrBlind) || errors.Is(blind, fabric.ErrLinkDown) != test.down:
						t.Errorf("got blind %v, want %s", blind, test.want)
					case !f.Partial() || !errors.Is(f.Incomplete(), blind) || len(f.Failures) != 1:
						t.Errorf("got partial %v, %d failures, %v, want a partial fabric with this reason", f.Partial(), len(f.Failures), f.Incomplete())
					}
				})
			})
		}
	}
}

// Adapters without a switch see each other; a loopback cable is a link, too.
func TestDiscover_NotBlind(t *testing.T) {
	a, b := newFakeNode(mad.NodeTypeCA, 0x10, "a", 1), newFakeNode(mad.NodeTypeCA, 0x20, "b", 1)
	connect(a, 1, b, 1)
	loop := newFakeNode(mad.NodeTypeCA, 0x10, "loop", 2)
	connect(loop, 1, loop, 2)
	for name, local := range map[string]*fakeNode{"back to back": a, "loopback": loop} {
		t.Run(name, func(t *testing.T) {
			if f := discover(t, newFakeFabric(local), fabric.DiscoverOptions{}); f.Partial() || f.Blind() != nil {
				t.Errorf("got %s, blind %v", describe(f), f.Blind())
			}
		})
	}
}

// A switch without a link is blind.
func TestDiscover_BlindSwitch(t *testing.T) {
	f := discover(t, newFakeFabric(newFakeNode(mad.NodeTypeSwitch, 0x10, "switch", 4)), fabric.DiscoverOptions{})
	if !errors.Is(f.Blind(), fabric.ErrLinkDown) || !f.Partial() {
		t.Errorf("got blind %v, partial %v", f.Blind(), f.Partial())
	}
}

// A stored fabric is not blind, but partial if the scan was.
func TestFabric_BlindStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := scanAfter(t, build(t, "demo"), fabric.DiscoverOptions{}, "unlink leaf1[3]")
		path := filepath.Join(t.TempDir(), "cache")
		if err := f.WriteCacheFile(path); err != nil {
			t.Fatal(err)
		}
		got, err := fabric.ReadCacheFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got.Blind() != nil || !got.Partial() || got.Incomplete().Error() != "1 request without a reply" {
			t.Errorf("got blind %v, partial %v, %v", got.Blind(), got.Partial(), got.Incomplete())
		}
	})
}

func TestFabric_Lacks(t *testing.T) {
	for _, test := range []struct {
		name, command string
		want          string // NODE@END by name
	}{
		{"none", "describe node06 other", ""},
		{"host", "unlink leaf2[4]", "node06@leaf2[4]"},
		{"switch", "hang leaf2", "leaf2@spine1[2] node05@spine1[2] node06@spine1[2] node07@spine1[2] node08@spine1[2]"},
		{"blind", "unlink leaf1[3]", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := build(t, "demo")
				before := scanAfter(t, s, fabric.DiscoverOptions{})
				records, err := readRecords(t, s)
				if err != nil {
					t.Fatal(err)
				}
				f := scanAfter(t, s, fabric.DiscoverOptions{}, test.command)
				for _, other := range []*fabric.Fabric{before, records} {
					if got := lackText(f.Lacks(other)); got != test.want {
						t.Errorf("got %s, want %s", got, test.want)
					}
				}
			})
		})
	}
}

// lackText formats missing nodes, by name.
func lackText(lacks []fabric.Lack) string {
	var parts []string
	for _, l := range lacks {
		text := l.Node.Desc.String()
		if l.End != nil {
			text += "@" + l.End.String()
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// A bounded scan lacks no nodes: it did not look for them.
func TestFabric_LacksBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := build(t, "demo")
		before := scanAfter(t, s, fabric.DiscoverOptions{})
		if lacks := scanAfter(t, s, fabric.DiscoverOptions{MaxHops: 1}).Lacks(before); lacks != nil {
			t.Errorf("got %s, want none", lackText(lacks))
		}
	})
}

// Lean records have the nodes and links that all records have.
func TestReadRecords_Lean(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := build(t, "demo")
		all, err := readRecords(t, s)
		if err != nil {
			t.Fatal(err)
		}
		port, err := s.Open("")
		if err != nil {
			t.Fatal(err)
		}
		defer port.Close()
		lean, err := fabric.ReadRecords(t.Context(), umad.NewClient(port, umad.ClientOptions{}), fabric.RecordOptions{Lean: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := describe(lean), describe(all); got != want || lean.Stats.Sent >= all.Stats.Sent {
			t.Errorf("got %d requests and\n%s\nwant less than %d and\n%s", lean.Stats.Sent, got, all.Stats.Sent, want)
		}
	})
}
