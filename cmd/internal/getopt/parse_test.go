package getopt

import "testing"

// TestParse_ShortOnly reports an unknown long name as getopt does in a tool without long
// names. Extensions in ibkit are no long names of the tool.
func TestParse_ShortOnly(t *testing.T) {
	ignore := func(string) error { return nil }
	short := Option{Short: 's', Set: ignore}
	extension := Option{Long: "sim", Set: ignore, Extension: true}
	for _, test := range []struct {
		options []Option
		want    string
	}{
		{[]Option{short, extension}, "tool: invalid option -- '-'"},
		{[]Option{short, {Long: "long", Set: ignore}}, "tool: unrecognized option '--nosuch'"},
	} {
		_, err := parse(&Tool{Name: "tool", Options: test.options}, []string{"--nosuch"})
		if err == nil || err.Error() != test.want {
			t.Errorf("got error %v, want %s", err, test.want)
		}
	}
}
