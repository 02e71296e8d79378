package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"strings"
	"testing"
)

var charts = []Chart{
	{Title: "a < b", X: "x", Y: "y µs", Series: []Series{{Name: "<&>", Points: []Point{{0, 1}, {1, 3}, {2.5, 2}}}, {Name: "none"}}},
	{Title: "nothing"},
	{Title: "one point", Series: []Series{{Points: []Point{{7, 0}}}}},
	{Title: "many", XWhole: true, Series: make([]Series, 40)},
}

// TestSVG checks that the document is well-formed for any charts.
func TestSVG(t *testing.T) {
	text := SVG(charts)
	d := xml.NewDecoder(strings.NewReader(text))
	dots := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			dots++
		}
	}
	if dots != 4 || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || !strings.Contains(text, ">and 22 more<") {
		t.Errorf("got %d dots, want 4:\n%s", dots, text)
	}
	if page := HTML("t", charts); !strings.HasPrefix(page, "<!DOCTYPE html>") || !strings.Contains(page, text) {
		t.Errorf("got page without the SVG document:\n%s", page)
	}
}

// TestPNG checks that the image has lines and texts at the same positions as the SVG.
func TestPNG(t *testing.T) {
	var b bytes.Buffer
	if err := PNG(&b, charts); err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if size := got.Bounds().Size(); size.X != scale*width || size.Y != scale*height*len(charts) {
		t.Fatalf("got size %v, want %d × %d", size, scale*width, scale*height*len(charts))
	}
	at := func(x, y float64) color.RGBA {
		return color.RGBAModel.Convert(got.At(int(scale*x), int(scale*y))).(color.RGBA)
	}
	x := newAxis(0, 2.5, left, width-left-right, false)
	y := newAxis(0, 3, height-bottom, -(height - top - bottom), false)
	line, white := color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xff, 0xff, 0xff, 0xff}
	for _, p := range []Point{{0, 1}, {0.5, 2}, {1, 3}, {2.5, 2}} {
		if c := at(x.at(p.X), y.at(p.Y)); c != line {
			t.Errorf("line at %v: got %v, want %v", p, c, line)
		}
	}
	if c := at(x.at(1.5)+3, y.at(0.5)+3); c != white {
		t.Errorf("background: got %v, want %v", c, white)
	}
	for name, box := range map[string][4]float64{
		"title": {left, 8, left + 60, 26}, "name of Y": {6, height/2 - 30, 20, height/2 + 30}, "name of X": {300, height - 28, 400, height - 10},
	} {
		t.Run(name, func(t *testing.T) {
			dark := 0
			for y := box[1]; y < box[3]; y += 0.5 {
				for x := box[0]; x < box[2]; x += 0.5 {
					if at(x, y).R < 0x80 {
						dark++
					}
				}
			}
			if dark < 10 {
				t.Errorf("got %d dark dots, want at least 10", dark)
			}
		})
	}
}

// TestAxis checks that all values are within the chart, the highest at the top.
func TestAxis(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		whole    bool
	}{{0, 97, false}, {0, 0.0031, false}, {0, 1, false}, {6, 20, true}, {1, 23, true}, {16, 16, true}, {0, 0, true}, {0, 0, false}, {0, 4, true}, {0, 7000, false}} {
		t.Run(fmt.Sprintf("%v to %v, whole %v", c.from, c.to, c.whole), func(t *testing.T) {
			a := newAxis(c.from, c.to, 360, -320, c.whole)
			ticks := a.ticks()
			if a.at(c.to) > a.at(c.from) || a.at(c.to) < 39.9 || a.at(c.from) > 360.1 {
				t.Errorf("got %+v, want the range within it", a)
			}
			if n := len(ticks); n < 2 || n > 16 || ticks[n-1] < c.to {
				t.Errorf("got ticks %v, want 2 to 16 up to %v", ticks, c.to)
			}
			for _, v := range ticks {
				if c.whole && v != float64(int(v)) {
					t.Errorf("got ticks %v, want whole numbers", ticks)
				}
				if v < 0 {
					t.Errorf("got ticks %v, want none below 0", ticks)
				}
			}
		})
	}
}
