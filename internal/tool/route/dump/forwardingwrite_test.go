package dump

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// opensm's tables are written as opensm wrote them.
func TestWriteForwarding(t *testing.T) {
	r, err := Load([]string{"testdata/opensm"}, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/opensm/opensm.fdbs")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteForwarding(&b, r); err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for s := range strings.SplitSeq(b.String(), "\n\n") {
		sections[strings.TrimSpace(s)] = true
	}
	for s := range strings.SplitSeq(string(want), "\n\n") {
		for part := range strings.SplitSeq(strings.TrimSpace(s), "dump_ucast_routes") {
			if part = strings.TrimSpace(part); part != "" && !sections["dump_ucast_routes"+part] {
				t.Errorf("got no section\n%s\nin\n%s", part, b.String())
			}
		}
	}
}
