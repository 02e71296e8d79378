// Package ringtest reads the work requests that a driver's C library has posted, and the rings
// that it wrote, for the tests that compare providers with them. A file has a line for each work
// request or ring: values as NAME=VALUE (programs wqes.c below test/guest).
package ringtest

import (
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/verbs/provider"
)

// A Line is a line of a file.
type Line struct {
	Text   string
	Values map[string]string
	SGEs   []provider.SGE // of "sge", which a line may have several times
}

// Lines reads a file.
func Lines(t *testing.T, file string) []Line {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []Line
	for text := range strings.Lines(string(text)) {
		l := Line{Text: text, Values: map[string]string{}}
		for word := range strings.FieldsSeq(text) {
			name, value, _ := strings.Cut(word, "=")
			l.Values[name] = value
			if name == "sge" {
				var s provider.SGE
				if _, err := fmt.Sscanf(value, "%d,%d,%d", &s.Addr, &s.Length, &s.LKey); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				l.SGEs = append(l.SGEs, s)
			}
		}
		all = append(all, l)
	}
	return all
}

// Number returns a value, 0 if the line has none of this name.
func (l *Line) Number(t *testing.T, name string) uint64 {
	t.Helper()
	if l.Values[name] == "" {
		return 0
	}
	n, err := strconv.ParseUint(l.Values[name], 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Hex returns a value's bytes.
func (l *Line) Hex(t *testing.T, name string) []byte {
	t.Helper()
	b, err := hex.DecodeString(l.Values[name])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Send returns the line's send work request without its address handle.
func (l *Line) Send(t *testing.T) provider.SendWR {
	t.Helper()
	wr := provider.SendWR{
		Opcode: provider.Opcode(l.Number(t, "op")), Flags: provider.SendFlags(l.Number(t, "flags")), SGEs: l.SGEs, Inline: l.Hex(t, "inline"),
		Imm: uint32(l.Number(t, "imm")), InvalidateKey: uint32(l.Number(t, "invalidate")), RemoteAddr: l.Number(t, "raddr"),
		RKey: uint32(l.Number(t, "rkey")), CompareAdd: l.Number(t, "compare"), Swap: l.Number(t, "swap"),
		RemoteQPN: uint32(l.Number(t, "rqpn")), QKey: uint32(l.Number(t, "qkey")), RemoteSRQN: uint32(l.Number(t, "srqn")),
	}
	if wr.Opcode == provider.OpBindMW {
		wr.Bind = &provider.Bind{
			Window: uint32(l.Number(t, "window")), RKey: uint32(l.Number(t, "newkey")), LKey: uint32(l.Number(t, "bindkey")),
			Addr: l.Number(t, "bindaddr"), Length: l.Number(t, "bindlen"), Access: provider.Access(l.Number(t, "access")),
		}
	}
	return wr
}

// Compare reports the first entries of a ring that differ; entry is their size in bytes. want has no zeros at the end. The
// bytes of an entry at the offsets in ignored are those that libraries choose freely.
func Compare[T any](t *testing.T, name string, ring []T, want []byte, entry int, ignored ...int) {
	t.Helper()
	var element T
	got := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(ring))), len(ring)*int(unsafe.Sizeof(element)))
	if len(want) > len(got) {
		t.Fatalf("%s: got %d bytes, the library has %d", name, len(got), len(want))
	}
	want = append(want, make([]byte, len(got)-len(want))...)
	different := 0
	for at := 0; at < len(got) && different < 5; at += entry {
		ours, theirs := string(got[at:at+entry]), append([]byte(nil), want[at:at+entry]...)
		for _, i := range ignored {
			theirs[i] = ours[i]
		}
		if ours != string(theirs) {
			different++
			t.Errorf("%s, entry %d:\ngot                %x\nthe library writes %x", name, at/entry, ours, theirs)
		}
	}
}

// Posted reports whether a test has posted enough rings and work requests.
func Posted(t *testing.T, rings, requests int) {
	t.Helper()
	if rings < 2 || requests < 200 {
		t.Errorf("got %d rings and %d work requests, want at least 2 and 200", rings, requests)
	}
}
