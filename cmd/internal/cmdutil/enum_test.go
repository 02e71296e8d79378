package cmdutil

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestEnumFlag(t *testing.T) {
	for _, test := range []struct {
		args    string
		one     string
		list    []string
		failure string
	}{
		{"", "b", []string{"x"}, ""},
		{"--one A --list Y", "a", []string{"y"}, ""},
		{"--list x,y --list x", "b", []string{"x", "y", "x"}, ""},
		{"--one c", "", nil, `invalid argument "c" for "--one" flag: want one of a, b`},
		{"--list x,", "", nil, `"": want one of x, y`},
	} {
		t.Run(test.args, func(t *testing.T) {
			cmd := &cobra.Command{}
			var one string
			list := []string{"x"}
			EnumFlag(cmd, &one, "one", "", "b", []string{"a", "b"}, "pick a `LETTER`")
			EnumListFlag(cmd, &list, "list", "", []string{"x", "y"}, "pick some")
			err := cmd.ParseFlags(strings.Fields(test.args))
			if test.failure != "" {
				if err == nil || !strings.Contains(err.Error(), test.failure) {
					t.Fatalf("got error %v, want one with %q", err, test.failure)
				}
				return
			}
			if err != nil || one != test.one || !slices.Equal(list, test.list) {
				t.Errorf("got %q, %q, %v, want %q, %q", one, list, err, test.one, test.list)
			}
		})
	}
}

func TestEnumHelp(t *testing.T) {
	values := strings.Fields(strings.Repeat("value ", 12))
	for i, line := range strings.Split(enumHelp("a text", values), "\n") {
		if len(line) > maxHelp || i > 1 {
			t.Errorf("line %d: got %d characters, want at most %d in 2 lines: %s", i, len(line), maxHelp, line)
		}
	}
}
