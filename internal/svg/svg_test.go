package svg

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// What is drawn is well-formed, whatever there is to draw.
func TestDocument(t *testing.T) {
	charts := []Chart{
		{Title: "a < b", X: "x", Y: "y", Series: []Series{{Name: "<&>", Points: []Point{{0, 1}, {1, 3}, {2.5, 2}}}, {Name: "none"}}},
		{Title: "nothing"},
		{Title: "one point", Series: []Series{{Points: []Point{{7, 0}}}}},
	}
	text := Document(charts)
	d := xml.NewDecoder(strings.NewReader(text))
	lines := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "polyline" {
			lines++
		}
	}
	if lines != 3 || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("%d lines of 3\n%s", lines, text)
	}
	if page := Page("t", charts); !strings.HasPrefix(page, "<!DOCTYPE html>") || !strings.Contains(page, text) {
		t.Error(page)
	}
}

// Highest values are at the top, and within the drawing.
func TestAxis(t *testing.T) {
	a := newAxis(0, 97, 360, -320)
	if a.at(0) != 360 || a.at(97) < 40 || a.at(97) > a.at(50) {
		t.Errorf("%+v: %v, %v", a, a.at(0), a.at(97))
	}
	if n := len(a.ticks()); n < 4 || n > 12 {
		t.Errorf("%d ticks of %+v", n, a)
	}
}
