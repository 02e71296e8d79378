package mesh

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseSchedule_File(t *testing.T) {
	w := wire(t, "single-switch:hosts=4")
	for name, test := range map[string]struct{ text, want, err string }{
		"spaces":       {"# ClusterKit\n2 host003 host001\n1 host001 host002\n\n1 host003 host004\n", "[[{0 1} {2 3}] [{2 0}]]", ""},
		"commas":       {"round,src,dst\n0,host001,host004\n", "[[{0 3}]]", ""},
		"empty":        {"", "", "the file has no rounds"},
		"fields":       {"1 host001\n", "", ":1: got 2 fields, want ROUND SENDER RECEIVER"},
		"number":       {"1 host001 host002\nx host001 host002\n", "", `:2: got the round "x", want a number`},
		"loopback":     {"1 host001 host001\n", "[[{0 0}]]", ""},
		"unknown host": {"1 host001 other\n", "", "find host other: got 0 ports with this name, want 1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rounds")
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := ParseSchedule("file:" + path)
			var c *Course
			if err == nil {
				c, err = NewCourse(w, nil, 4, s)
			}
			if test.err != "" {
				if err == nil || !strings.HasSuffix(err.Error(), test.err) {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			if got := fmt.Sprint(c.rounds); err != nil || got != test.want || s.String() != "file:"+path {
				t.Errorf("got %s, %v; want %s", got, err, test.want)
			}
		})
	}
}
