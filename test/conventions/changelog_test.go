package conventions

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// lintian accepts lines of 80 columns in Debian's changelog, where the list items from
// CHANGELOG.md have two more.
func TestChangelog_Columns(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if n := utf8.RuneCountInString(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "`", "")); n > 78 {
			t.Errorf("CHANGELOG.md:%d: got %d columns, want at most 78", number, n)
		}
	}
}
