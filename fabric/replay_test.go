package fabric

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

// TestReplay compares the node order with the order in Debian ibnetdiscover caches, and
// the longest route.
func TestReplay(t *testing.T) {
	paths, err := filepath.Glob("testdata/*/*.cache")
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %d caches, error %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f, err := ParseCache(data)
			if err != nil {
				t.Fatal(err)
			}
			want := f.Replay(nil)
			if got := encode(t, f); !bytes.Equal(got, data) {
				t.Errorf("the cache differs after reading and writing: got %d bytes, want %d", len(got), len(data))
			}
			f.stored = nil
			found := 0
			got := f.Replay(func(v Visit) {
				if v.New {
					found++
				}
			})
			if !slices.Equal(guids(got.Nodes), guids(want.Nodes)) || got.MaxHops != want.MaxHops {
				t.Errorf("got %v, %d hops, want %v, %d hops", guids(got.Nodes), got.MaxHops, guids(want.Nodes), want.MaxHops)
			}
			if found != len(f.Nodes) || got.Requests <= found {
				t.Errorf("got %d new nodes, %d requests, want %d nodes", found, got.Requests, len(f.Nodes))
			}
		})
	}
}

func encode(t *testing.T, f *Fabric) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.WriteCache(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func guids(nodes []*Node) []ib.GUID {
	var list []ib.GUID
	for _, n := range nodes {
		list = append(list, n.GUID)
	}
	return list
}
