package irdma

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/verbs/provider"
)

// recorded is the output of test/guest/irdma/testdata/wqes.c with libirdma 44.0 for
// generations 1 and 2, and 65.0 for generation 3: work requests, and the rings that the
// library wrote. The test in a guest replaces it with new output.
var recorded = flag.String("wqes", "testdata/libirdma.wqes", "`FILE` with work requests of libirdma")

// A line is a line of the file: values by name.
type line map[string]string

func (l line) number(t *testing.T, name string) uint64 {
	t.Helper()
	if l[name] == "" {
		return 0
	}
	n, err := strconv.ParseUint(l[name], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (l line) hex(t *testing.T, name string) []byte {
	t.Helper()
	b, err := hex.DecodeString(l[name])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readLine parses a line. An SGE may be there several times.
func readLine(t *testing.T, text string) (l line, sges []provider.SGE) {
	t.Helper()
	l = line{}
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		l[name] = value
		if name == "sge" {
			var s provider.SGE
			if _, err := fmt.Sscanf(value, "%d,%d,%d", &s.Addr, &s.Length, &s.LKey); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			sges = append(sges, s)
		}
	}
	return l, sges
}

// TestLibirdma posts the same work requests as a program with libirdma and compares the
// rings, byte by byte, after more than a round.
func TestLibirdma(t *testing.T) {
	text, err := os.ReadFile(*recorded)
	if err != nil {
		t.Fatal(err)
	}
	var f *fake
	var q *qp
	rings, requests := 0, 0
	for text := range strings.Lines(string(text)) {
		l, sges := readLine(t, text)
		switch {
		case l["generation"] != "":
			f = newFake(t, uint8(l.number(t, "generation")))
		case l["queue"] != "":
			q = f.openRecorded(t, l)
		case l["send"] != "":
			rings++
			if q.send.head < uint32(len(q.send.ring)) && !q.send.ud {
				t.Errorf("got %d quanta, want more than a round of %d", q.send.head, len(q.send.ring))
			}
			compareRing(t, fmt.Sprintf("send ring %d", rings), q.send.ring, l.hex(t, "send"))
			compareRing(t, fmt.Sprintf("receive ring %d", rings), q.recv.ring, l.hex(t, "receive"))
		case l["receive"] != "":
			if _, err := q.PostRecv([]provider.RecvWR{{SGEs: sges}}); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			q.recv.tail.Store(q.recv.head)
		default:
			requests++
			if _, err := q.PostSend([]provider.SendWR{l.request(t, sges)}); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			q.send.tail.Store(q.send.head)
		}
	}
	if rings < 2 || requests < 200 {
		t.Errorf("got %d rings and %d work requests, want at least 2 and 200", rings, requests)
	}
}

// openRecorded creates the queue pair of a line.
func (f *fake) openRecorded(t *testing.T, l line) *qp {
	t.Helper()
	transport := provider.RC
	if l["queue"] == "ud" {
		transport = provider.UD
	}
	sges := uint32(l.number(t, "sges"))
	c := f.newCQ(t, 100)
	return f.newQP(t, provider.QPAttr{Transport: transport, SendCQ: c, RecvCQ: c, Cap: provider.QPCap{
		MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: sges, MaxRecvSGE: sges, MaxInline: uint32(l.number(t, "inline")),
	}})
}

// request returns the work request of a line.
func (l line) request(t *testing.T, sges []provider.SGE) provider.SendWR {
	t.Helper()
	wr := provider.SendWR{
		Opcode: provider.Opcode(l.number(t, "op")), Flags: provider.SendFlags(l.number(t, "flags")), SGEs: sges, Inline: l.hex(t, "inline"),
		Imm: uint32(l.number(t, "imm")), InvalidateKey: uint32(l.number(t, "invalidate")), RemoteAddr: l.number(t, "raddr"),
		RKey: uint32(l.number(t, "rkey")), CompareAdd: l.number(t, "compare"), Swap: l.number(t, "swap"),
		RemoteQPN: uint32(l.number(t, "rqpn")), QKey: uint32(l.number(t, "qkey")),
	}
	if l["ah"] != "" {
		wr.AH = handle{&ah{uint32(l.number(t, "ah"))}}
	}
	if wr.Opcode == provider.OpBindMW {
		wr.Bind = &provider.Bind{
			Window: uint32(l.number(t, "window")), RKey: uint32(l.number(t, "newkey")), LKey: uint32(l.number(t, "bindkey")),
			Addr: l.number(t, "bindaddr"), Length: l.number(t, "bindlen"), Access: provider.Access(l.number(t, "access")),
		}
	}
	return wr
}

// compareRing reports the first words that differ. The file has no zeros at a ring's end.
func compareRing(t *testing.T, name string, ring []quantum, want []byte) {
	t.Helper()
	if len(want) > len(ring)*quantumSize {
		t.Fatalf("%s: got %d bytes, libirdma has %d", name, len(ring)*quantumSize, len(want))
	}
	want = append(want, make([]byte, len(ring)*quantumSize-len(want))...)
	got := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(ring))), len(want))
	different := 0
	for i := 0; i < len(want) && different < 10; i += 8 {
		if string(got[i:i+8]) != string(want[i:i+8]) {
			different++
			t.Errorf("%s, quantum %d, word %d: got %x, libirdma writes %x", name, i/quantumSize, i/8%4, got[i:i+8], want[i:i+8])
		}
	}
}
