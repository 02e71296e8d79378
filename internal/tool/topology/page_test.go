package topology_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/topology"
)

// page is a page's data as far as the tests read it.
type page struct {
	Sizes  [3][2]float64
	Nodes  [][]any // name, short name, GUID, kind, LID, switch above, group
	Groups []struct{ Title string }
	Cables [][4]int
	Paint  struct {
		Rates  [][3]any // text, cables, line width
		RateOf []int    `json:"rate_of"`
	}
	Drawings []pageDrawing
}

type pageDrawing struct {
	Area   [4]float64
	Boxes  [][3]float64
	Frames [][]any
	Links  []pageLink
}

type pageLink struct {
	a, b   int
	curve  []float64
	cables []int
}

func (l *pageLink) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&l.a, &l.b, &l.curve, &l.cables})
}

// at returns the place on the link at t.
func (l *pageLink) at(t float64) (x, y float64) {
	c := l.curve
	switch len(c) {
	case 4:
		c = append(c[:4:4], (c[0]+c[2])/2, (c[1]+c[3])/2)
	case 6:
	default: // straight between several points
		places := append(append(c[:2:2], c[4:]...), c[2:4]...)
		whole, part := math.Modf(t * float64(len(places)/2-1))
		if whole == float64(len(places)/2-1) {
			return c[2], c[3]
		}
		p := places[2*int(whole):]
		return p[0] + part*(p[2]-p[0]), p[1] + part*(p[3]-p[1])
	}
	u := 1 - t
	return u*u*c[0] + 2*u*t*c[4] + t*t*c[2], u*u*c[1] + 2*u*t*c[5] + t*t*c[3]
}

// pageOf returns the data in a fabric's page.
func pageOf(t *testing.T, f *fabric.Fabric) page {
	t.Helper()
	text := render(t, topology.NewPicture(f, nil, nil).WriteHTML)
	_, text, _ = strings.Cut(text, `<script id="data" type="application/json">`)
	text, _, _ = strings.Cut(text, "</script>")
	var p page
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// size returns the width and height of a drawing's box.
func (p *page) size(box [3]float64) (wide, high float64) {
	size := p.Sizes[2]
	if ref := int(box[0]); ref >= 0 {
		size = p.Sizes[0]
		if p.Nodes[ref][3] == 1.0 {
			size = p.Sizes[1]
		}
	}
	return size[0], size[1]
}

// name returns a box's text.
func (p *page) name(box [3]float64) string {
	if ref := int(box[0]); ref >= 0 {
		return p.Nodes[ref][0].(string)
	}
	return p.Groups[-1-int(box[0])].Title
}

// crossings returns the boxes that links cross or touch without ending there.
func (p *page) crossings(d pageDrawing) []string {
	const gap, step = 2, 8 // less than a box
	var found []string
	for _, l := range d.Links {
		var xs, ys []float64
		for i := 0; i < len(l.curve); i += 2 {
			xs, ys = append(xs, l.curve[i]), append(ys, l.curve[i+1])
		}
		left, right, top, bottom := slices.Min(xs), slices.Max(xs), slices.Min(ys), slices.Max(ys)
		steps := len(xs)*int(right-left+bottom-top)/step + 1
		for k, b := range d.Boxes {
			wide, high := p.size(b)
			wide, high = wide/2+gap, high/2+gap
			if k == l.a || k == l.b || b[1]+wide < left || b[1]-wide > right || b[2]+high < top || b[2]-high > bottom {
				continue
			}
			for i := range steps + 1 {
				if x, y := l.at(float64(i) / float64(steps)); math.Abs(x-b[1]) < wide && math.Abs(y-b[2]) < high {
					found = append(found, p.name(d.Boxes[l.a])+" - "+p.name(d.Boxes[l.b])+" over "+p.name(b))
					break
				}
			}
		}
	}
	return found
}

// presets are fabrics of all shapes, folded and in full.
var presets = []string{
	"demo", "single-switch", "fat-tree", "fat-tree:levels=3,radix=8,pods=8", "fat-tree:levels=3,radix=16,pods=16,hosts=1",
	"fat-tree:levels=3,radix=16,pods=4", "fat-tree:radix=36,pods=36,hosts=18", "dragonfly", "dragonfly:groups=9,switches=8",
	"torus", "torus:x=3,y=3", "torus:x=6,y=5", "torus:x=4,y=4,z=4", "torus:x=3,y=4,z=5", "torus:x=16,y=12,hosts=2", "mixed", "chassis", "rails", "credit-loop",
	"net:../../../test/nets/routers.net", "net:../../../test/nets/parallel-links-and-router.net", "net:../../../test/nets/multi-port-hosts.net",
}

// Cables cross neither switches nor end nodes nor groups, in particular not the switches
// between the ends of a torus's ring.
func TestPage_Crossings(t *testing.T) {
	for _, description := range presets {
		t.Run(description, func(t *testing.T) {
			p := pageOf(t, scan(t, description, nil))
			for i, d := range p.Drawings[:min(3, len(p.Drawings))] {
				if found := p.crossings(d); len(found) > 0 {
					t.Errorf("got %d crossings in drawing %d, the first: %s", len(found), i, found[0])
				}
			}
		})
	}
}

// secondPorts links each end node's second port to another switch: to the switch of the end
// node that is so many places after it.
func secondPorts(t *testing.T, description string, places int) *fabric.Fabric {
	t.Helper()
	f := scan(t, description, nil)
	var ends []*fabric.Node
	for _, n := range f.Nodes {
		if !n.IsSwitch() {
			ends = append(ends, n)
		}
	}
	for i, n := range ends {
		other := ends[(i+places)%len(ends)].Ports[1].Peer.Node
		if other == n.Ports[1].Peer.Node {
			continue
		}
		a, b := n.At(2), other.At(uint8(len(other.Ports)))
		a.Peer, b.Peer = b, a
	}
	return f
}

// The second cables of end nodes cross no boxes.
func TestPage_SecondPorts(t *testing.T) {
	for _, description := range []string{"torus", "torus:x=6,y=5", "torus:x=4,y=3,z=3,hosts=1", "demo", "rails", "dragonfly", "fat-tree:radix=8,pods=8,hosts=3"} {
		for _, places := range []int{1, 2, 7, 23} {
			t.Run(fmt.Sprint(description, "/", places), func(t *testing.T) {
				p := pageOf(t, secondPorts(t, description, places))
				d := p.Drawings[0]
				if found := p.crossings(d); len(found) > 0 {
					t.Errorf("got %d crossings of %d links, the first: %s", len(found), len(d.Links), found[0])
				}
				// No two cables share a line, so that each can be followed.
				seen := map[string]int{}
				for i, l := range d.Links {
					if other, again := seen[fmt.Sprint(l.curve)]; again {
						t.Errorf("got the same line for the links %d and %d", i, other)
					}
					seen[fmt.Sprint(l.curve)] = i
				}
			})
		}
	}
}

// Each cable is in the drawing of the whole fabric, or between an end node and the switch
// above it, or within a group, or both its ends are at a node.
func TestPage_Complete(t *testing.T) {
	for _, description := range presets {
		t.Run(description, func(t *testing.T) {
			p := pageOf(t, scan(t, description, nil))
			drawn := map[int]int{}
			for _, l := range p.Drawings[0].Links {
				for _, c := range l.cables {
					drawn[c]++
				}
			}
			for i, c := range p.Cables {
				a, b := p.Nodes[c[0]], p.Nodes[c[2]]
				want := 1
				if c[0] == c[2] || a[5] == float64(c[2]) || b[5] == float64(c[0]) || a[6] != -1.0 && a[6] == b[6] {
					want = 0
				}
				if drawn[i] != want {
					t.Fatalf("got the cable %v - %v %d times, want %d", a[0], b[0], drawn[i], want)
				}
			}
			if len(p.Drawings) != len(p.Groups)+1 {
				t.Errorf("got %d drawings of %d groups", len(p.Drawings), len(p.Groups))
			}
		})
	}
}

// The short labels of neighbours differ: of the end nodes below a switch, of the switches
// in a frame, and of the other switches.
func TestPage_Labels(t *testing.T) {
	for _, description := range presets {
		t.Run(description, func(t *testing.T) {
			p := pageOf(t, scan(t, description, nil))
			for _, d := range p.Drawings {
				labels := map[[2]any]bool{}
				for _, b := range d.Boxes {
					if b[0] < 0 {
						continue
					}
					n := p.Nodes[int(b[0])]
					where := n[5]
					for _, f := range d.Frames {
						if math.Abs(b[1]-f[1].(float64)-f[3].(float64)/2) < f[3].(float64)/2 && math.Abs(b[2]-f[2].(float64)-f[4].(float64)/2) < f[4].(float64)/2 && where == -1.0 {
							where = f[0]
						}
					}
					label := n[1]
					if label == "" {
						label = n[0]
					}
					if labels[[2]any{where, label}] {
						t.Errorf("got the label %v twice in %v", label, where)
					}
					labels[[2]any{where, label}] = true
				}
			}
		})
	}
}

// A dragonfly's groups have titles, its switches labels that differ. Before, names were
// cut after 14 characters: group01-switch… for each switch in a group.
func TestPicture_DragonflyLabels(t *testing.T) {
	f := scan(t, "dragonfly", nil)
	svg := render(t, topology.NewPicture(f, nil, nil).WriteSVG)
	for _, label := range []string{"group01", "group05", "group01-switch01", "group01-switch04", "group05-switch04"} {
		if n := strings.Count(svg, ">"+label+"</text>"); n != 1 {
			t.Errorf("got the label %s %d times, want once", label, n)
		}
	}
	for _, n := range pageOf(t, f).Nodes {
		if n[0] == "group01-switch02" && n[1] != "switch02" {
			t.Errorf("got the short label %v, want switch02", n[1])
		}
	}
}

// A large tree is folded to pods on both sides of the core, and uses the height.
func TestPage_Pods(t *testing.T) {
	p := pageOf(t, scan(t, "fat-tree:levels=3,radix=16,pods=16,hosts=1", nil))
	titles := map[string]bool{}
	for _, g := range p.Groups {
		titles[g.Title] = true
	}
	if len(titles) != 24 || !titles["pod01"] || !titles["pod16"] || !titles["core 8"] {
		t.Errorf("got the groups %v, want 16 pods and 8 planes", titles)
	}
	d := p.Drawings[0]
	if len(d.Boxes) != 24 || len(d.Links) != 16*8 || d.Area[3] < d.Area[2]/2 {
		t.Errorf("got %d boxes, %d links, area %v, want 24, 128, and at least half as high as wide", len(d.Boxes), len(d.Links), d.Area)
	}
	pod := p.Drawings[1]
	if want := 8 + 8 + 8 + 8; len(pod.Boxes) != want || len(pod.Links) != 8*8+8 {
		t.Errorf("got %d boxes and %d links in a pod, want %d and 72", len(pod.Boxes), len(pod.Links), want)
	}
}
