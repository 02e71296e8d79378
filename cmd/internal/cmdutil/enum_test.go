package cmdutil

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/ib"
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
			EnumFlag(cmd, &one, "one", "b", []string{"a", "b"}, "pick a `LETTER`")
			EnumListFlag(cmd, &list, "list", []string{"x", "y"}, "pick some")
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

// TestEnumFlag_Values checks flags for values of a type with texts.
func TestEnumFlag_Values(t *testing.T) {
	cmd := &cobra.Command{}
	var one ib.PortState
	list := []ib.Speed{ib.HDR}
	EnumFlag(cmd, &one, "one", ib.PortDown, []ib.PortState{ib.PortDown, ib.PortActive}, "a `STATE`")
	EnumListFlag(cmd, &list, "list", ib.Speeds(), "some `SPEEDS`")
	if got, want := cmd.Flags().FlagUsages(), "a STATE: Down, Active (default \"Down\")"; !strings.Contains(got, want) {
		t.Errorf("got help %q, want %q", got, want)
	}
	if got := cmd.Flag("list").DefValue; got != "HDR" {
		t.Errorf("got default %q, want HDR", got)
	}
	if err := cmd.ParseFlags([]string{"--one=active", "--list=edr,FDR10"}); err != nil {
		t.Fatal(err)
	}
	if want := []ib.Speed{ib.EDR, ib.FDR10}; one != ib.PortActive || !slices.Equal(list, want) {
		t.Errorf("got %v, %v, want Active, %v", one, list, want)
	}
}
