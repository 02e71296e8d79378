package bnxt

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

// recorded is the output of test/guest/bnxt/testdata/wqes.c with libbnxt_re 44.0 for Thor, and
// 56.1 for Thor2 with static and with variable work requests: work requests, and the rings that
// the library wrote. The test in a guest replaces it with new output.
var recorded = flag.String("wqes", "testdata/libbnxt_re.wqes", "`FILE` with work requests of libbnxt_re")

// A line is a line of the file: values by name.
type line map[string]string

func (l line) number(t *testing.T, name string) uint64 {
	t.Helper()
	if l[name] == "" {
		return 0
	}
	n, err := strconv.ParseUint(l[name], 0, 64)
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

// TestLibbnxt posts the same work requests as a program with libbnxt_re and compares the rings
// and the tables of packet numbers, byte by byte, after more than a round.
func TestLibbnxt(t *testing.T) {
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
		case l["chip"] != "":
			f = newFake(t, uint32(l.number(t, "chip")), l.number(t, "properties"))
		case l["queue"] != "":
			q = f.openRecorded(t, l)
		case l["send"] != "":
			rings++
			if q.send.used < uint32(len(q.send.ring)) && !q.send.ud {
				t.Errorf("got %d slots, want more than a round of %d", q.send.used, len(q.send.ring))
			}
			compare(t, fmt.Sprintf("send ring %d", rings), q.send.ring, l.hex(t, "send"))
			compare(t, fmt.Sprintf("table %d", rings), q.send.packets.table, l.hex(t, "table"))
			compare(t, fmt.Sprintf("receive ring %d", rings), q.recv.ring, l.hex(t, "receives"))
		case l["receive"] != "":
			if _, err := q.PostRecv([]provider.RecvWR{{SGEs: sges}}); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			q.recv.done.Store(q.recv.posted.Load())
		default:
			requests++
			if _, err := q.PostSend([]provider.SendWR{l.request(t, sges)}); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			q.send.doneSlots.Store(q.send.used)
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
	q := f.newQP(t, provider.QPAttr{Transport: transport, SendCQ: c, RecvCQ: c, Cap: provider.QPCap{
		MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: sges, MaxRecvSGE: sges, MaxInline: uint32(l.number(t, "inline")),
	}})
	q.Sequence(new(uint32(l.number(t, "psn"))), new(uint32(l.number(t, "mtu"))))
	return q
}

// request returns the work request of a line.
func (l line) request(t *testing.T, sges []provider.SGE) provider.SendWR {
	t.Helper()
	wr := provider.SendWR{
		Opcode: provider.Opcode(l.number(t, "op")), Flags: provider.SendFlags(l.number(t, "flags")), SGEs: sges, Inline: l.hex(t, "inline"),
		Imm: uint32(l.number(t, "imm")), RemoteAddr: l.number(t, "raddr"), RKey: uint32(l.number(t, "rkey")),
		CompareAdd: l.number(t, "compare"), Swap: l.number(t, "swap"), RemoteQPN: uint32(l.number(t, "rqpn")), QKey: uint32(l.number(t, "qkey")),
	}
	if l["ah"] != "" {
		wr.AH = handle{&ah{uint32(l.number(t, "ah"))}}
	}
	return wr
}

// compare reports the first words that differ. The file has no zeros at the end.
func compare[T any](t *testing.T, name string, ring []T, want []byte) {
	t.Helper()
	var element T
	size := len(ring) * int(unsafe.Sizeof(element))
	if len(want) > size {
		t.Fatalf("%s: got %d bytes, libbnxt_re has %d", name, size, len(want))
	}
	want = append(want, make([]byte, size-len(want))...)
	got := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(ring))), size)
	different := 0
	for i := 0; i < size && different < 10; i += 8 {
		if string(got[i:i+8]) != string(want[i:i+8]) {
			different++
			t.Errorf("%s, slot %d, word %d: got %x, libbnxt_re writes %x", name, i/slotSize, i/8%2, got[i:i+8], want[i:i+8])
		}
	}
}
