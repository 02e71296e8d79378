package topology_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/report"
)

func TestRecognizeShape(t *testing.T) {
	for description, want := range map[string]string{
		"demo": "fat tree", "single-switch": "single switch", "fat-tree:levels=3,radix=8,pods=4": "fat tree",
		"dragonfly": "dragonfly", "dragonfly:groups=9,switches=8": "dragonfly", "torus": "torus", "torus:x=3,y=3": "torus",
		"torus:x=5,y=4": "torus", "torus:x=6,y=5,z=3": "torus", "torus:x=4,y=4,z=4": "torus",
		"net:../../../test/nets/back-to-back.net": "", "net:../../../test/nets/routers.net": "",
	} {
		t.Run(description, func(t *testing.T) {
			f := scan(t, description, nil)
			s := topology.RecognizeShape(f)
			if s.Name != want {
				t.Errorf("got %q, want %q", s.Name, want)
			}
			// Neighbours in a torus differ by a single step in a single dimension.
			for _, c := range topology.Cables(f) {
				a, b := s.Grid[c.A.Node], s.Grid[c.B.Node]
				if a == nil || b == nil {
					continue
				}
				steps := 0
				for d := range a {
					if a[d] != b[d] {
						steps++
					}
				}
				if steps != 1 {
					t.Errorf("got neighbours at %v and %v", a, b)
				}
			}
		})
	}
}

// The preset's names are switch-X-Y-Z. A torus of four by four switches has several
// equivalent grids; the grid is in name order.
func TestRecognizeShape_NameOrder(t *testing.T) {
	for _, description := range []string{"torus", "torus:x=3,y=4", "torus:x=12,y=4,hosts=1", "torus:x=4,y=4,z=4,hosts=1"} {
		t.Run(description, func(t *testing.T) {
			grid := topology.RecognizeShape(scan(t, description, nil)).Grid
			if len(grid) == 0 {
				t.Fatal("got no grid")
			}
			for n, c := range grid {
				want := "switch"
				for _, v := range slices.Backward(c) {
					want += "-" + strconv.Itoa(v)
				}
				if len(c) == 2 {
					want += "-0"
				}
				if got := n.Desc.Clean(); got != want {
					t.Errorf("got %s at %v, want %s", got, c, want)
				}
			}
		})
	}
}

func TestPicture_HostileSVG(t *testing.T) {
	f := hostile(t)
	text := render(t, topology.NewPicture(f, nil, nil).WriteSVG)
	d := xml.NewDecoder(strings.NewReader(text))
	elements := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("got the attribute %s", a.Name.Local)
				}
			}
		}
	}
	rates := len(regexp.MustCompile(`: \d+ cables?</text>`).FindAllString(text, -1))
	if elements["script"] > 0 || elements["img"] > 0 || elements["text"] != len(f.Nodes)+rates {
		t.Errorf("got the elements %v", elements)
	}
}

func TestPicture_HostileHTML(t *testing.T) {
	f := hostile(t)
	page := render(t, topology.NewPicture(f, nil, nil).WriteHTML)
	_, rest, _ := strings.Cut(page, `<script id="data" type="application/json">`)
	text, after, ok := strings.Cut(rest, "</script>")
	if !ok || strings.ContainsAny(text, "<>&") || strings.Count(after, "<script") != 1 {
		t.Error("the data ends the script element")
	}
	var data struct{ Nodes [][]any }
	if err := json.Unmarshal([]byte(text), &data); err != nil || len(data.Nodes) != len(f.Nodes) {
		t.Fatalf("got %d nodes, error %v", len(data.Nodes), err)
	}
	for i, n := range f.Nodes {
		if data.Nodes[i][0] != n.Desc.Clean() {
			t.Errorf("got name %q, want %q", data.Nodes[i][0], n.Desc.Clean())
		}
	}
	names := strings.NewReplacer(text, "")
	if url := regexp.MustCompile(`https?:|src=|href=|url\(|import|fetch|XMLHttp|WebSocket|innerHTML|eval\(`).FindString(names.Replace(page)); url != "" {
		t.Errorf("got %q in the page", url)
	}
	if !strings.Contains(page, "default-src 'none'") {
		t.Error("got no Content-Security-Policy")
	}
}

// An end node has the colour and sign of its cable's finding, as a line has.
func TestPicture_EndNodeColours(t *testing.T) {
	f := scan(t, "demo", nil)
	for kind, want := range map[report.Kind]string{"": "#f3f4f6 node07", "slow": "#fde68a ▲ node07", "not-active": "#fecaca ● node07", "wrong-peer": "#ddd6fe ◆ node07"} {
		t.Run(string(kind), func(t *testing.T) {
			marks := map[*fabric.Port]topology.Mark{}
			for _, n := range f.Nodes {
				if kind != "" && n.Desc.Clean() == "node07" {
					marks[n.Ports[1]] = topology.Mark{Kind: kind, Text: string(kind) + ": x"}
				}
			}
			svg := render(t, topology.NewPicture(f, nil, marks).WriteSVG)
			m := regexp.MustCompile(`<title>node07\n.*\n?.*</title><rect [^>]*fill="(#\w+)" /><text [^>]*>([^<]*)`).FindStringSubmatch(svg)
			if m == nil || m[1]+" "+m[2] != want {
				t.Errorf("got %q, want %q", m, want)
			}
			if kind != "" && strings.Count(svg, strings.Fields(want)[1]) != 2 {
				t.Error("the legend does not have the sign")
			}
		})
	}
}

// The legend has the rates with their cables, the fastest with the widest line, also without
// problems.
func TestPicture_Rates(t *testing.T) {
	for description, want := range map[string]string{
		"single-switch": "1: 4X HDR: 8 cables",
		"demo":          "2.2: 4X NDR: 18 cables, 1.6: 2X NDR: 1 cable, 1: 4X HDR: 5 cables",
		"mixed": "3: 4X XDR: 4 cables, 2.75: 4X NDR: 4 cables, 2.5: 4X HDR: 4 cables, 2.25: 4X EDR: 4 cables, 2: 4X FDR: 4 cables, " +
			"1.75: 4X FDR10: 2 cables, 1.5: 4X QDR: 6 cables, 1.25: 4X DDR: 4 cables, 1: 4X SDR: 4 cables",
	} {
		t.Run(description, func(t *testing.T) {
			f := scan(t, description, nil)
			var svg []string
			text := render(t, topology.NewPicture(f, nil, nil).WriteSVG)
			for _, m := range regexp.MustCompile(`<path d="M\S+ \S+h36" stroke="#9aa5b1" stroke-width="(\S+)"/><text [^>]*>([^<]*)`).FindAllStringSubmatch(text, -1) {
				svg = append(svg, m[1]+": "+m[2])
			}
			if got := strings.Join(svg, ", "); got != want {
				t.Errorf("picture: got %s, want %s", got, want)
			}
			p := pageOf(t, f)
			count := make([]float64, len(p.Paint.Rates))
			for _, rate := range p.Paint.RateOf {
				count[rate]++
			}
			for i, r := range p.Paint.Rates {
				line := fmt.Sprintf("%v: %s: %v cable", r[2], r[0], r[1])
				if r[1] != count[i] || !strings.HasPrefix(svg[i], line) {
					t.Errorf("page: got %v for %v cables, want %s", r, count[i], svg[i])
				}
			}
		})
	}
	t.Run("line", func(t *testing.T) {
		text := render(t, topology.NewPicture(scan(t, "mixed", nil), nil, nil).WriteSVG)
		wide := regexp.MustCompile(`<line [^>]*?( stroke-width="\S+")?><title>([^\n]*)`).FindAllStringSubmatch(text, -1)
		if len(wide) == 0 {
			t.Fatal("got no lines")
		}
		for _, m := range wide {
			if isFast := strings.Contains(m[2], "4X XDR"); isFast != (m[1] == ` stroke-width="3"`) {
				t.Errorf("got the width %q for %s", m[1], m[2])
			}
		}
	})
}

// A cable's colour is its worst finding's colour.
func TestPicture_Colours(t *testing.T) {
	f := scan(t, "demo", nil)
	cable := topology.Cables(f)[1] // between switches
	for kind, colour := range map[report.Kind]string{
		"": "", "narrow": "#d97706", "slower": "#d97706", "swapped": "#7c3aed", "not-active": "#b91c1c", "zero-lid": "#b91c1c",
	} {
		marks := map[*fabric.Port]topology.Mark{}
		if kind != "" {
			marks[cable.B] = topology.Mark{Kind: kind, Text: string(kind) + ": x"}
		}
		var found []string
		for _, m := range regexp.MustCompile(`<line [^>]* stroke="(#\w+)"`).FindAllStringSubmatch(render(t, topology.NewPicture(f, nil, marks).WriteSVG), -1) {
			found = append(found, m[1])
		}
		if got := strings.Join(found, " "); got != colour {
			t.Errorf("%s: got the colours %q, want %q", kind, got, colour)
		}
	}
}

// A page about 10,368 hosts has less than 5 MB.
func TestPicture_Size(t *testing.T) {
	f := scan(t, "fat-tree:levels=3,radix=48,pods=18", nil)
	p := topology.NewPicture(f, nil, nil)
	if size := len(render(t, p.WriteHTML)); size > 5<<20 || !p.Folded() {
		t.Errorf("got %d bytes, folded %t", size, p.Folded())
	}
}
