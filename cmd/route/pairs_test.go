package route

import (
	"errors"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/textfile"
)

func TestScanPairs(t *testing.T) {
	for _, test := range []struct {
		name, text string
		pairs      int
		err        string
	}{
		{"pairs", "1 2\n# comment\n\n  node01 0x0002c90000800000  \n", 2, ""},
		{"too many words", "1 2 x\n", 0, "file:1: number of ports: got 3, want 2"},
		{"one word", "1 2\n3\n", 0, "file:2: number of ports: got 1, want 2"},
		{"range", "1 2\n3 4-5\n", 0, "file:2: find LID 4-5: want a single LID"},
		{"IP address", "1 192.0.2.1\n", 1, ""},
		{"large LID", "65536 1\n", 0, "file:1: "},
		{"long line", "1 2\n" + strings.Repeat("x", 1<<17), 0, "file:2: line longer than 65536 bytes"},
		{"empty", "", 0, "read file: no pairs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			pairs, err := scanPairs(strings.NewReader(test.text), "file")
			if len(pairs) != test.pairs || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %d pairs, error %v, want %d, %q", len(pairs), err, test.pairs, test.err)
			}
		})
	}
}

// FuzzScanPairs checks that each error names a line, except for files without pairs.
func FuzzScanPairs(f *testing.F) {
	f.Add("1 2\n# comment\nnode01 0x0002c90000800000\n")
	f.Add("fe80::2:c903:0:1 0,1,3 more\n")
	f.Add("1 2-3\n")
	f.Fuzz(func(t *testing.T, text string) {
		pairs, err := scanPairs(strings.NewReader(text), "file")
		var invalid *textfile.Error
		switch {
		case err != nil && !errors.As(err, &invalid) && err.Error() != "read file: no pairs":
			t.Errorf("got error %v without a line", err)
		case err == nil && len(pairs) == 0:
			t.Error("got no pairs and no error")
		}
	})
}
