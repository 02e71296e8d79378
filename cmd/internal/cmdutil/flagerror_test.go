package cmdutil

import (
	"errors"
	"io"
	"testing"

	"github.com/spf13/pflag"
)

// A color is a flag value that is either red or an error.
type color string

func (c color) String() string { return string(c) }

func (color) Type() string { return "COLOR" }

func (color) Set(s string) error {
	if s != "red" {
		return errors.New("the only color is red")
	}
	return nil
}

func TestFlagError(t *testing.T) {
	for _, test := range []struct{ arg, want string }{
		{"--port=x", `invalid --port "x": not a number from 0 to 255`},
		{"-P300", `invalid --port "300": not a number from 0 to 255`},
		{"--lid=0x10000", `invalid --lid "0x10000": not a number from 0 to 65535`},
		{"--count=-1", `invalid --count "-1": not a number of at least 0, or out of range`},
		{"--size=many", `invalid --size "many": not a number, or out of range`},
		{"--rate=fast", `invalid --rate "fast": not a number, or out of range`},
		{"--quiet=perhaps", `invalid --quiet "perhaps": not true or false`},
		{"--interval=5", `invalid --interval "5": not a duration with a unit, for example 500ms or 10s`},
		{"--color=blue", `invalid --color "blue": the only color is red`},
		{"--nosuch", "unknown flag: --nosuch"},
	} {
		t.Run(test.arg, func(t *testing.T) {
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.SetOutput(io.Discard)
			flags.Uint8P("port", "P", 0, "")
			flags.Uint16("lid", 0, "")
			flags.Uint("count", 0, "")
			flags.Int("size", 0, "")
			flags.Float64("rate", 0, "")
			flags.Bool("quiet", false, "")
			flags.Duration("interval", 0, "")
			flags.Var(color("red"), "color", "")
			err := flags.Parse([]string{test.arg})
			if err == nil {
				t.Fatal("got no error")
			}
			if got := flagError(err).Error(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCheckDurations(t *testing.T) {
	for arg, want := range map[string]string{
		"-i1s": "", "-i8760h": "", "-i999999h": "invalid -i (--interval) 999999h0m0s: want at most 8760h",
	} {
		t.Run(arg, func(t *testing.T) {
			flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
			flags.DurationP("interval", "i", 0, "")
			flags.Duration("other", 1<<62, "") // defaults are not checked
			if err := flags.Parse([]string{arg}); err != nil {
				t.Fatal(err)
			}
			got := ""
			if err := checkDurations(flags); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
