package cpio

import (
	"strings"
	"testing"
)

// TestWriter compares an archive with an archive that GNU cpio unpacks.
func TestWriter(t *testing.T) {
	var b strings.Builder
	w := NewWriter(&b)
	w.Add("d", Dir|0o755, nil)
	w.Add("d/file", File|0o644, []byte("hello"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	const zero = "00000000"
	want := "07070100000001000041ed" + zero + zero + "00000002" + zero + zero + zero + zero + zero + zero + "00000002" + zero + "d\x00" +
		"07070100000002000081a4" + zero + zero + "00000001" + zero + "00000005" + zero + zero + zero + zero + "00000007" + zero + "d/file\x00\x00\x00\x00" + "hello\x00\x00\x00" +
		"070701" + zero + zero + zero + zero + "00000001" + zero + zero + zero + zero + zero + zero + "0000000b" + zero + "TRAILER!!!\x00\x00\x00\x00"
	if got := b.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
