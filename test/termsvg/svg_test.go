package termsvg

import (
	"encoding/xml"
	"os/exec"
	"strings"
	"testing"
)

func TestRunAndDraw(t *testing.T) {
	text, err := Run(exec.Command("printf", `plain <a> \033[31;1mred\033[0m \033[2mfaint\033[22m\n\033[32mé`), 80)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := Draw("a & b", text)
	if err != nil {
		t.Fatal(err)
	}
	var svg struct {
		Title string `xml:"title"`
		Text  []struct {
			Span []struct {
				Text string `xml:",chardata"`
				Fill string `xml:"fill,attr"`
				Bold string `xml:"font-weight,attr"`
			} `xml:"tspan"`
		} `xml:"g>text"`
	}
	if err := xml.Unmarshal(picture, &svg); err != nil {
		t.Fatalf("%v:\n%s", err, picture)
	}
	if svg.Title != "a & b" || len(svg.Text) != 2 || len(svg.Text[0].Span) != 4 {
		t.Fatalf("%+v", svg)
	}
	if s := svg.Text[0].Span[1]; s.Text != "red" || s.Fill != colours[31] || s.Bold != "bold" {
		t.Errorf("%+v", s)
	}
	if s := svg.Text[0].Span[0]; s.Text != "plain <a> " || s.Fill != "" {
		t.Errorf("%+v", s)
	}
	if s := svg.Text[1].Span[0]; s.Text != "é" || s.Fill != colours[32] {
		t.Errorf("%+v", s)
	}
}

func TestDrawUnknown(t *testing.T) {
	for _, text := range []string{"\x1b[2J", "\x1b[31", "\x1b[99m", "\x1b["} {
		if _, err := Draw("", text); err == nil || !strings.Contains(err.Error(), "unknown control sequence") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
