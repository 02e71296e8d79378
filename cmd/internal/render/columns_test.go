package render

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Columns and Table lay out the same rows the same way.
func TestColumns(t *testing.T) {
	for _, test := range []struct {
		name string
		rows [][]string
	}{
		{"plain", [][]string{{"leaf1", "3", "good"}, {"a", "4294967295", ""}}},
		{"empty cells", [][]string{{"", "", ""}, {"x", "", "y"}, {"", "1", ""}}},
		{"wide and combining characters", [][]string{{"機架一", "é", "ok"}, {"node", "e\u0301", "ok"}}},
		{"escape sequences", [][]string{{"\x1b[31;1mslow\x1b[0;22m", "1", "\x1b[33mlimited\x1b[0m"}, {"fast", "1000", ""}}},
		{"more than is stored", [][]string{{"a", "1", ""}, {"b", "22", strings.Repeat("x", storedText)}, {"cc", "", "y"}, {"d", "4", "zz"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			header := []string{"NODE", "PORT", "FINDING"}
			var want, got bytes.Buffer
			if err := Table(&want, header, test.rows); err != nil {
				t.Fatal(err)
			}
			var columns []Column[[]string]
			for i, h := range header {
				columns = append(columns, Column[[]string]{h, func(b []byte, r []string) []byte { return append(b, r[i]...) }})
			}
			out := NewOutput(&got)
			Columns(out, columns, test.rows)
			if err := out.Flush(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.String(), got.String()); diff != "" {
				t.Errorf("differs from Table (-want +got):\n%s", diff)
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
