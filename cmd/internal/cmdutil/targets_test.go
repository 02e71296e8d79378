package cmdutil

import (
	"strings"
	"testing"
)

// TestCheckPorts checks the error for a LID that may be meant as a port.
func TestCheckPorts(t *testing.T) {
	for _, test := range []struct{ args, hint string }{
		{"3 1", "the port: 3 --ports 1; the LID: lid:1"},
		{"leaf1 1", "the port: 'leaf1[1]'; the LID: lid:1"},
		{"node01 leaf1 1", "the port: 'leaf1[1]'; the LID: lid:1"},
		{"3 lid:1", ""},
		{"3 300", ""},
		{"3 5 7", ""},
		{"0x3 1", ""},
		{"leaf1[2] 1", ""},
		{"leaf1 lid:1", ""},
	} {
		t.Run(test.args, func(t *testing.T) {
			err := CheckPorts(strings.Fields(test.args))
			if (err != nil) != (test.hint != "") || err != nil && (!isUsage(err) || Hint(err) != test.hint) {
				t.Errorf("got error %v, want a usage error with hint %q", err, test.hint)
			}
		})
	}
}

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
