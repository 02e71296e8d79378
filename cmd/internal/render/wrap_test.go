package render

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		name, line    string
		width, indent int
		want          string
	}{
		{"no terminal", "one two three", 0, 2, "one two three"},
		{"fits", "one two three", 13, 2, "one two three"},
		{"between words", "one two three four", 9, 2, "one two\n  three\n  four"},
		{"indented", "  next: one two", 11, 4, "  next: one\n    two"},
		{"long word", "a 0123456789012 b", 8, 2, "a\n  0123456789012\n  b"},
		{"wide characters", "日本 日本 日本", 9, 2, "日本 日本\n  日本"},
		{"colour", "\x1b[31;1merror\x1b[0m: one two", 14, 2, "\x1b[31;1merror\x1b[0m: one two"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Wrap(test.line, test.width, test.indent)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if strings.Contains(got, " \n") {
				t.Errorf("got %q, want no blanks at the ends of lines", got)
			}
		})
	}
}
