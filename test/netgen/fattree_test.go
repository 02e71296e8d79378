package netgen

import (
	"io"
	"testing"
)

func TestShapes(t *testing.T) {
	tests := map[string]struct{ hosts, switches, links int }{
		"ft100": {108, 9, 216},
		"ft1k":  {1024, 48, 2048},
		"ft4k":  {4000, 500, 12000},
		"ft10k": {10400, 1440, 31200},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			net, err := Shapes[name].Build()
			if err != nil {
				t.Fatal(err)
			}
			if h, s, l := len(net.Hosts), len(net.Switches), net.Links(); h != want.hosts || s != want.switches || l != want.links {
				t.Errorf("%d hosts, %d switches, %d links, want %+v", h, s, l, want)
			}
			for _, s := range net.Switches {
				if len(s.peers) > s.Size {
					t.Errorf("%s has %d links and %d ports", s.ID, len(s.peers), s.Size)
				}
				for i, peer := range s.peers {
					if back := peer.node.peers[peer.port-1]; back != (end{s, i + 1}) {
						t.Errorf("%s port %d: the other end leads to %s port %d", s.ID, i+1, back.node.ID, back.port)
					}
				}
			}
			if err := net.Write(io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBuildRejects(t *testing.T) {
	for _, tree := range []FatTree{
		{Levels: 1, Radix: 4, Width: 2},
		{Levels: 2, Radix: 5, Width: 2},
		{Levels: 2, Radix: 256, Width: 2},
		{Levels: 2, Radix: 4, Width: 0},
		{Levels: 3, Radix: 4, Width: 5},
	} {
		if _, err := tree.Build(); err == nil {
			t.Errorf("%+v: no error", tree)
		}
	}
}
