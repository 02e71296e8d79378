package topology_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/sim"
)

// unlinked scans the demo without a node's link.
func unlinked(t *testing.T, node string) *fabric.Fabric {
	t.Helper()
	return scan(t, "demo", func(f *sim.Fabric) {
		c, err := f.ParseCommand("test", 1, "unlink "+node+"[1]")
		if err == nil {
			err = f.Do(c, io.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// narrowed scans the demo with a narrower link.
func narrowed(t *testing.T) *fabric.Fabric {
	t.Helper()
	return scan(t, "demo", func(f *sim.Fabric) {
		p := f.Node("leaf4").Ports[2]
		p.Info.LinkWidthActive, p.Peer.Info.LinkWidthActive = ib.Width2X, ib.Width2X
	})
}

// paint is the part of a page's data that changes.
type paint struct {
	Layout string
	Rates  [][3]any
	RateOf []int `json:"rate_of"`
	Marks  [][3]any
	MarkOf []int `json:"mark_of"`
}

func paintOf(t *testing.T, p *topology.Picture) (d paint) {
	t.Helper()
	if err := json.Unmarshal([]byte(render(t, p.WritePaint)), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPicture_Update checks that a lost link keeps its place with a mark, that a rate changes
// there, and that a link without a place requires a new layout.
func TestPicture_Update(t *testing.T) {
	if topology.NewPicture(unlinked(t, "node06"), nil, nil).Update(scan(t, "demo", nil)) != nil {
		t.Error("got a place for node06, which the first scan lacks")
	}
	all := topology.NewPicture(scan(t, "demo", nil), nil, nil)
	before := paintOf(t, all)
	for _, test := range []struct {
		name string
		scan *fabric.Fabric
		lost int
		want string // marks with their cables' rates
	}{
		{"unlink", unlinked(t, "node06"), 1, "the last scan has no such link, no link"},
		{"narrow", narrowed(t), 0, ""},
	} {
		next := all.Update(test.scan)
		if next == nil {
			t.Fatalf("%s: got a new layout", test.name)
		}
		now := paintOf(t, next)
		if now.Layout != before.Layout || next.Lost() != test.lost || slices.Equal(now.RateOf, before.RateOf) {
			t.Errorf("%s: got layout %s, %d lost cables, rates %v, want layout %s and another rate", test.name, now.Layout, next.Lost(), now.RateOf, before.Layout)
		}
		got := ""
		for i, m := range now.MarkOf {
			if m >= 0 {
				got += now.Marks[m][0].(string) + ", " + now.Rates[now.RateOf[i]][0].(string)
			}
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if svg := render(t, next.WriteSVG); strings.Contains(svg, "no link: 1 cable") != (test.lost == 1) {
			t.Errorf("%s: got\n%s", test.name, svg)
		}
	}
}

// TestScale_Mark checks the classes of values at their limits.
func TestScale_Mark(t *testing.T) {
	f := scan(t, "demo", nil)
	for _, test := range []struct {
		scale *topology.Scale
		value float64
		want  string // sign, "": no class
	}{
		{topology.Utilization, 0.099, ""},
		{topology.Utilization, 0.1, "▁"},
		{topology.Utilization, 0.59, "▃"},
		{topology.Utilization, 0.6, "▅"},
		{topology.Utilization, 1.2, "█"},
		{topology.Errors, 0, ""},
		{topology.Errors, 0.001, "▂"},
		{topology.Errors, 1, "▅"},
		{topology.Errors, 1e6, "█"},
	} {
		t.Run(fmt.Sprint(test.scale.Name, test.value), func(t *testing.T) {
			p := topology.NewPicture(f, nil, map[*fabric.Port]topology.Mark{f.Nodes[0].Ports[1]: test.scale.Mark(test.value, "x")})
			p.Scale = test.scale
			svg := render(t, p.WriteSVG)
			for _, sign := range []string{"▁", "▂", "▃", "▅", "█"} {
				if strings.Contains(svg, sign) != (sign == test.want) {
					t.Errorf("got the class %s, want %q", sign, test.want)
				}
			}
		})
	}
}
