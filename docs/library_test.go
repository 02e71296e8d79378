package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestLibrary checks that the functions and outputs on the page are those of the examples,
// which the compiler and their own tests check.
func TestLibrary(t *testing.T) {
	page, err := os.ReadFile("library.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("library_example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```(go|text)\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 8 {
		t.Fatalf("got %d blocks, want five functions and three outputs", len(blocks))
	}
	for _, b := range blocks {
		kind, text := b[1], b[2]
		if kind == "text" {
			text = asOutput(text)
		}
		if !strings.Contains(string(source), text) {
			t.Errorf("library_example_test.go does not contain:\n%s", text)
		}
	}
}

// asOutput returns an example's output comment.
func asOutput(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) == 1 {
		return "	// Output: " + lines[0] + "\n"
	}
	return "	// Output:\n	// " + strings.Join(lines, "\n	// ") + "\n"
}
