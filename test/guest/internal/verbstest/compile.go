//go:build guest

package verbstest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Compile compiles a C program that uses libibverbs, with more flags, and returns its path.
func Compile(tb testing.TB, source string, flags ...string) string {
	tb.Helper()
	program := filepath.Join(tb.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	args := append([]string{"-O2", "-Wall", "-Werror", "-I../testdata", "-o", program, source, "-libverbs"}, flags...)
	if out, err := exec.CommandContext(tb.Context(), "gcc", args...).CombinedOutput(); err != nil {
		tb.Fatalf("compile %s (make deps installs what it needs): %v\n%s", source, err, out)
	}
	return program
}
