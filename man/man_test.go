//go:build packages

// Package man has the manual pages, which make man writes, and tests that they
// can be read.
package man

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRender has mandoc and man look at each page: neither may warn.
func TestRender(t *testing.T) {
	pages, err := filepath.Glob("*.1")
	if err != nil || len(pages) == 0 {
		t.Fatalf("found no pages: %v", err)
	}
	for _, page := range pages {
		if out, err := exec.Command("mandoc", "-Tlint", "-W", "warning", page).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("mandoc: %v\n%s", err, out)
		}
		out, err := exec.Command("sh", "-c", `man -l --warnings "$0" 2>&1 >/dev/null`, page).Output()
		if err != nil || len(out) > 0 {
			t.Errorf("man: %s: %v\n%s", page, err, out)
		}
	}
}
