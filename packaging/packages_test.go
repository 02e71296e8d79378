//go:build packages

// Package packaging has what the packages hold beside the binary, and tests
// what goreleaser made of it.
package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// dist and before are where make package built the same commit twice.
const (
	dist   = "../build/dist"
	before = "../build/dist-before"
)

// one returns the file that a pattern stands for.
func one(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("found %q for %s: %v", found, pattern, err)
	}
	return found[0]
}

// command runs a program and returns what it printed.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestReproducible compares the checksums of all archives, packages and bills.
func TestReproducible(t *testing.T) {
	now, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	then, err := os.ReadFile(filepath.Join(before, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now, then) {
		t.Errorf("the same commit made other bytes:\n%s\n%s", then, now)
	}
	// For each of 5 architectures: an archive, a deb, an rpm, a bill.
	if n := bytes.Count(now, []byte("\n")); n != 20 {
		t.Errorf("%d files have a checksum:\n%s", n, now)
	}
}

// TestChecksums has sha256sum, as a user would, check the files.
func TestChecksums(t *testing.T) {
	check := exec.Command("sha256sum", "--quiet", "--check", "SHA256SUMS")
	check.Dir = dist
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
}

// TestContents looks into both packages for each manual page and each classic
// name.
func TestContents(t *testing.T) {
	pages, err := filepath.Glob("../man/*.1")
	if err != nil || len(pages) == 0 {
		t.Fatalf("found no pages: %v", err)
	}
	for kind, list := range map[string]string{
		"deb": command(t, "dpkg-deb", "--fsys-tarfile", one(t, "*_amd64.deb")),
		"rpm": command(t, "rpm", "-qlp", one(t, "*.x86_64.rpm")),
	} {
		for _, page := range pages {
			name := filepath.Base(page)
			if !strings.Contains(list, "/usr/share/man/man1/"+name+".gz") {
				t.Errorf("%s is not in the %s", name, kind)
			}
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			_, classic, isClassic := strings.Cut(strings.TrimSuffix(name, ".1"), "-")
			if isClassic && bytes.Contains(text, []byte("in the place of")) && !strings.Contains(list, "/usr/lib/ibkit/bin/"+classic) {
				t.Errorf("the classic name %s is not in the %s", classic, kind)
			}
		}
	}
}
