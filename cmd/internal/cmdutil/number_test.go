package cmdutil

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestNumberFlag(t *testing.T) {
	for _, test := range []struct {
		text string
		want uint8 // 0: an error
	}{{"1", 1}, {"0x7", 7}, {"7", 7}, {"0", 0}, {"8", 0}, {"-1", 0}, {"256", 0}, {"", 0}, {" 1", 0}, {"1.0", 0}} {
		t.Run(test.text, func(t *testing.T) {
			var got uint8
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			NumberFlag(flags, &got, "number", NumberRange{1, 7}, "a `NUMBER`")
			err := flags.Set("number", test.text)
			if got != test.want || (err == nil) != (test.want > 0) {
				t.Fatalf("got %d, %v, want %d", got, err, test.want)
			}
			if err == nil {
				return
			}
			want := `invalid --number "` + test.text + `": want 1 to 7`
			if got := flagError(err).Error(); got != want {
				t.Errorf("got error %q, want %q", got, want)
			}
		})
	}
}
