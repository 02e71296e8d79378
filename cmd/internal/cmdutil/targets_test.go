package cmdutil

import (
	"strings"
	"testing"
)

// TestParseTargets_Note checks the note for a LID that may be meant as a port.
func TestParseTargets_Note(t *testing.T) {
	const note = "note: 1 is a LID, not port 1 of leaf1 ('leaf1[1]')\n"
	for _, test := range []struct{ args, want string }{
		{"leaf1 1", note},
		{"leaf1 1 2", note},
		{"node01 leaf1 1", note},
		{"3 1", ""},
		{"leaf1[2] 1", ""},
		{"leaf1 300", ""},
		{"leaf1 0x1", ""},
		{"leaf1 node01", ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			var errOut strings.Builder
			if _, err := ParseTargets(&Env{ErrOut: &errOut}, strings.Fields(test.args), false, false, ""); err != nil {
				t.Fatal(err)
			}
			if got := errOut.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
