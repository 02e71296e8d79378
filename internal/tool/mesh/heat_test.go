package mesh

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/report"
)

func TestHeat(t *testing.T) {
	r := simulated(t, wire(t, small), pairwise, "host00003=50%", "leaf002[5]=70%", "host00016=hang")
	h := r.Heat()
	if got := len(h.Rows); got != 16 || len(h.Leaves) != 4 || h.Leaves[1].Name != "leaf002" || h.Leaves[1].First != 4 || h.Leaves[1].Last != 7 {
		t.Fatalf("got %d rows and leaves %v, want 16 at 4 leaves", got, h.Leaves)
	}
	for _, test := range []struct {
		from, to int
		want     byte
	}{{0, 1, '.'}, {2, 8, '4'}, {8, 2, '4'}, {15, 3, 'x'}, {5, 5, ' '}} {
		t.Run(h.Rows[test.from]+" to "+h.Rows[test.to], func(t *testing.T) {
			if got := h.sign(test.from, test.to, 1); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if len(h.Marks(2)) != 1 || len(h.Marks(15)) != 1 || len(h.Marks(0)) != 0 || len(h.Leaves[1].Marks) != 1 {
		t.Errorf("got marks %v and %v, want the hosts 3 and 16 and leaf002", h.marks, h.Leaves)
	}
	if lines := h.Text(8); len(lines) != 8+3 || !strings.HasPrefix(lines[0], "host00001 .4 ") {
		t.Errorf("got %q, want pairs of rows in 4 groups", lines)
	}
}

// A page with hostile names is well-formed, and their text is escaped.
func TestResult_WriteHTML(t *testing.T) {
	text := "src,dst,bandwidth_gbps\n" + strings.Repeat("<script>a,</svg>&b,100\n", 3) + "host00001,<script>a,50\nhost00001,host00002,1\n"
	r := Analyze(parse(t, "f", text), wire(t, small), Options{})
	r.Add(report.New(report.SlowNode, "<script>a", "<b>"))
	for name, write := range map[string]func(io.Writer) error{"svg": r.WriteSVG, "html": r.WriteHTML} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), "<script") || strings.Contains(b.String(), "<b>") {
				t.Errorf("got names as elements:\n%.2000s", b.String())
			}
			_, svg, _ := strings.Cut(b.String(), "<svg ")
			svg, _, _ = strings.Cut("<svg "+svg, "</svg>\n")
			d := xml.NewDecoder(strings.NewReader(svg + "</svg>"))
			var err error
			for err == nil {
				_, err = d.Token()
			}
			if !errors.Is(err, io.EOF) {
				t.Errorf("got %v, want well-formed SVG", err)
			}
		})
	}
}

// Without any flow between known hosts, views do not fail.
func TestHeat_Small(t *testing.T) {
	r := Analyze(parse(t, "f", "src,dst,bandwidth_gbps\na,b,100\n"), wire(t, "single-switch:hosts=1"), Options{})
	if lines := r.Heat().Text(64); !slices.Equal(lines, []string{"a  .", "b"}) {
		t.Errorf("got %q", lines)
	}
	if err := r.WriteSVG(io.Discard); err != nil {
		t.Error(err)
	}
}

// Lines for many leaf switches have the distance of a text line, so that they do not hide the
// cells.
func TestHeatPicture_Lines(t *testing.T) {
	h := &Heat{Rows: make([]string, 512), cells: make([]float32, 512*512)}
	for i := range 256 {
		h.Leaves = append(h.Leaves, Leaf{Name: "leaf", First: 2 * i, Last: 2*i + 1})
	}
	if got := strings.Count(newHeatPicture(h).svg(), `stroke-width="0.5"`); got == 0 || got > heatSide/textHeight {
		t.Errorf("got %d lines for 256 leaves, want 1 to %d", got, heatSide/textHeight)
	}
}
