package getopt

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Perl 5.36 returns the same results with getopts("hRC:P:").
func TestParseStd(t *testing.T) {
	for _, test := range []struct {
		args     string
		set      string // options in order, with values
		operands string
		err      string // "usage", or an invalid option's text
	}{
		{"-R -C mlx5_0 0x1 3", "R C=mlx5_0", "0x1 3", ""},
		{"-RCmlx5_0 0x1", "R C=mlx5_0", "0x1", ""},
		{"0x1 -R", "", "0x1 -R", ""},
		{"-R -- -C", "R", "-C", ""},
		{"- -R", "", "- -R", ""},
		{"-C", "", "", "usage"},
		{"-hR", "R", "", "usage"},
		{"-xRy", "R", "", "Unknown option: x\nUnknown option: y"},
		{"--sim demo -R --sim=demo 1", "sim=demo sim=demo R", "1", ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			var set []string
			add := func(name string) func(string) error {
				return func(value string) error {
					if value != "" {
						name += "=" + value
					}
					set = append(set, name)
					return nil
				}
			}
			tool := &Tool{Std: true, Options: []Option{
				{Short: 'h', Set: Usage}, {Short: 'R', Set: add("R")},
				{Short: 'C', Arg: "<ca>", Set: func(v string) error { return add("C")(v) }}, {Short: 'P', Arg: "<port>", Set: add("P")},
				{Long: "sim", Arg: "<fabric>", Set: func(v string) error { return add("sim")(v) }, Extension: true},
			}}
			operands, err := parse(tool, strings.Fields(test.args))
			var invalid *invalidOption
			got := ""
			switch {
			case errors.As(err, &invalid):
				got = invalid.text
			case errors.Is(err, ErrUsage):
				got = "usage"
			case err != nil:
				t.Fatal(err)
			}
			if got != test.err || !slices.Equal(set, strings.Fields(test.set)) || !slices.Equal(operands, strings.Fields(test.operands)) {
				t.Errorf("got options %q, operands %q, error %q; want %q, %q, %q", set, operands, got, test.set, test.operands, test.err)
			}
		})
	}
}
