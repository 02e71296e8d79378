package sysfs

import (
	"errors"
	"maps"
	"strings"
	"testing"
)

// TestDir_Counters reads counters beside files without a value. Reading /proc/self/mem at
// offset 0 fails for each user.
func TestDir_Counters(t *testing.T) {
	const unreadable = " -> /proc/self/mem"
	for _, test := range []struct {
		name  string
		files map[string]string
		want  map[string]uint64
		fails string // problems without the root, one per line
	}{
		{"values", map[string]string{"a": "0", "b": "18446744073709551615", "lifespan": "10"}, map[string]uint64{"a": 0, "b": 1<<64 - 1}, ""},
		{"first file unreadable", map[string]string{"a" + unreadable: "", "b": "7"}, map[string]uint64{"b": 7}, "read /a: input/output error"},
		{"empty", map[string]string{"a": "", "b": "7"}, map[string]uint64{"b": 7}, `read /a: "" is not an unsigned 64-bit number`},
		{"word", map[string]string{"a": "many", "b": "7"}, map[string]uint64{"b": 7}, `read /a: "many" is not an unsigned 64-bit number`},
		{"negative", map[string]string{"a": "7", "b": "-1"}, map[string]uint64{"a": 7}, `read /b: "-1" is not an unsigned 64-bit number`},
		{"no PMA", map[string]string{"a": "N/A (no PMA)", "b": "7"}, map[string]uint64{"b": 7}, ""},
		{"two files", map[string]string{"a" + unreadable: "", "b" + unreadable: ""}, nil, "read /a and 1 other file: input/output error"},
		{"two causes", map[string]string{"a" + unreadable: "", "b": "x", "c" + unreadable: "", "d" + unreadable: ""}, nil,
			"read /a and 2 other files: input/output error\nread /b: \"x\" is not an unsigned 64-bit number"},
		{"no file", nil, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var problems []error
			fs := tree(t, test.files)
			got := fs.Dir(&problems).Counters()
			if !maps.Equal(got, test.want) || (got == nil) != (test.want == nil) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			text := ""
			if err := errors.Join(problems...); err != nil {
				text = strings.ReplaceAll(err.Error(), string(fs), "")
			}
			if text != test.fails {
				t.Errorf("got problems %s\nwant %s", text, test.fails)
			}
		})
	}
}
