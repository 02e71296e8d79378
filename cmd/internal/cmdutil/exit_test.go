package cmdutil

import (
	"strings"
	"testing"
)

func TestMessage(t *testing.T) {
	long := strings.Repeat("é", 3000)
	for _, test := range []struct{ name, line, want string }{
		{"short", `open "leaf1": file does not exist`, `open "leaf1": file does not exist`},
		{"control characters", "got a\x1b[31mb", `got a\x1b[31mb`},
		{"long word", `got "` + long + `", want one`, `got "` + long[:59*2] + "…" + long[:28*2] + `", want one`},
		{"long line", strings.Repeat("word ", 100) + "end", strings.Repeat("word ", 100) + "end"},
		{"empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Message(test.line); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"leaf 1": "leaf 1", "ünï☃": "ünï☃", "a\tb": `a\tb`, "\x1b[31m": `\x1b[31m`, "\xff": `\xff`,
		"a\u202eb": `a\u202eb`, "a\u200bb": `a\u200bb`, "a\u00a0b": `a\u00a0b`,
	} {
		t.Run(want, func(t *testing.T) {
			if got := Visible(text); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
