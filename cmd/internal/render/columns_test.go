package render

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tables align their columns by the width of the texts on a terminal.
func TestTable(t *testing.T) {
	long := strings.Repeat("x", storedText)
	for _, test := range []struct {
		name string
		rows [][]string
		want string
	}{
		{"no rows", nil, "NODE  PORT  FINDING\n"},
		{"plain", [][]string{{"leaf1", "3", "good"}, {"a", "4294967295", ""}}, "NODE   PORT        FINDING\nleaf1  3           good\na      4294967295\n"},
		{"empty cells", [][]string{{"", "", ""}, {"x", "", "y"}, {"", "1", ""}}, "NODE  PORT  FINDING\n\nx           y\n      1\n"},
		{"short row", [][]string{{"x"}, {"a", "1", "b"}}, "NODE  PORT  FINDING\nx\na     1     b\n"},
		{"lines", [][]string{{"x", "1", "a\nb"}}, "NODE  PORT  FINDING\nx     1     a; b\n"},
		{
			"wide and combining characters",
			[][]string{{"機架一", "é", "ok"}, {"node", "e\u0301", "ok"}, {"☃ “q” ±", "🙂", "👩\u200d💻"}},
			"NODE     PORT  FINDING\n機架一   é     ok\nnode     e\u0301     ok\n☃ “q” ±  🙂    👩\u200d💻\n",
		},
		{
			"escape sequences", [][]string{{"\x1b[31;1mslow\x1b[0;22m", "1", "\x1b[33mlimited\x1b[0m"}, {"fast", "1000", ""}},
			"NODE  PORT  FINDING\n\x1b[31;1mslow\x1b[0;22m  1     \x1b[33mlimited\x1b[0m\nfast  1000\n",
		},
		{
			"more than is stored", [][]string{{"a", "1", ""}, {"b", "22", long}, {"cc", "", "y"}, {"d", "4", "zz"}},
			"NODE  PORT  FINDING\na     1\nb     22    " + long + "\ncc          y\nd     4     zz\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got bytes.Buffer
			if err := Table(&got, []string{"NODE", "PORT", "FINDING"}, test.rows); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.String()); diff != "" {
				t.Errorf("want (-), got (+)\n%s", diff)
			}
		})
	}
}

func BenchmarkColumns(b *testing.B) {
	rows := make([][]string, 35_000)
	for i := range rows {
		rows[i] = []string{"leaf-1000", "123", "17", "4X", "HDR", "Active", "host-10000", "1", "limited: both ends support 12X HDR"}
	}
	var columns []Column[[]string]
	for i := range rows[0] {
		columns = append(columns, Column[[]string]{"COLUMN", func(b []byte, r []string) []byte { return append(b, r[i]...) }})
	}
	for b.Loop() {
		out := NewOutput(io.Discard)
		Columns(out, columns, rows)
		_ = out.Flush()
	}
}
