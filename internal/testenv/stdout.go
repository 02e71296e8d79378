package testenv

import (
	"io"
	"os"
	"testing"
)

// Stdout returns the text that f writes to standard output, at most 64 KiB.
func Stdout(tb testing.TB, f func()) string {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	stdout := os.Stdout
	os.Stdout = w
	f()
	os.Stdout = stdout
	w.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
