package efa

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// recorded is the output of test/guest/efa/testdata/wqes.c with libefa 44.0, and with 56.1,
// which has writes: work requests, and the rings that the library wrote. The test in a guest
// replaces it with new output.
var recorded = flag.String("wqes", "testdata/libefa.wqes", "`FILE` with work requests of libefa")

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

// TestLibefa posts the same work requests as a program with libefa and compares the rings,
// byte by byte, after more than a round. Request IDs differ: libefa takes the last that was
// returned, the provider the first.
func TestLibefa(t *testing.T) {
	text, err := os.ReadFile(*recorded)
	if err != nil {
		t.Fatal(err)
	}
	var q *qp
	rings, requests := 0, 0
	for text := range strings.Lines(string(text)) {
		l, sges := readLine(t, text)
		switch {
		case l["queue"] != "":
			q = openRecorded(t, l)
		case l["send"] != "":
			rings++
			if q.send.head <= q.send.size {
				t.Errorf("got %d work requests, want more than a round of %d", q.send.head, q.send.size)
			}
			compareRing(t, fmt.Sprintf("send ring %d", rings), q.send.ring, l.hex(t, "send"), int(q.send.stride), 0)
			receive := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(q.recv.ring))), len(q.recv.ring)*receiveSize)
			compareRing(t, fmt.Sprintf("receive ring %d", rings), receive, l.hex(t, "receive"), receiveSize, 8)
		case l["receive"] != "":
			if _, err := q.PostRecv([]provider.RecvWR{{SGEs: sges}}); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			q.recv.free.put(q.recv.free.ids[(q.recv.free.taken-1)&uint32(len(q.recv.free.ids)-1)])
		default:
			requests++
			post(t, q, l.request(t, sges))
			q.send.free.put(q.send.free.ids[(q.send.free.taken-1)&uint32(len(q.send.free.ids)-1)])
		}
	}
	if rings < 2 || requests < 200 {
		t.Errorf("got %d rings and %d work requests, want at least 2 and 200", rings, requests)
	}
}

// openRecorded creates the queue pair of a line.
func openRecorded(t *testing.T, l line) *qp {
	t.Helper()
	f := newFake(t, func(r *uapi.EFAAllocUcontextResp) { r.InlineBufSizeEx = 80 })
	attr := provider.QPAttr{Transport: provider.SRD, Cap: provider.QPCap{
		MaxSendWR: uint32(l.number(t, "sends")), MaxRecvWR: uint32(l.number(t, "receives")), MaxSendSGE: uint32(l.number(t, "sges")),
		MaxRecvSGE: uint32(l.number(t, "sges")), MaxInline: uint32(l.number(t, "inline")),
	}}
	if l["queue"] == "ud" {
		attr.Transport = provider.UD
	}
	attr.SendCQ = f.newCQ(t, 100)
	attr.RecvCQ = attr.SendCQ
	return f.newQP(t, attr)
}

// request returns the work request of a line.
func (l line) request(t *testing.T, sges []provider.SGE) provider.SendWR {
	t.Helper()
	return provider.SendWR{
		Opcode: provider.Opcode(l.number(t, "op")), Flags: provider.SendFlags(l.number(t, "flags")), SGEs: sges, Inline: l.hex(t, "inline"),
		Imm: uint32(l.number(t, "imm")), RemoteAddr: l.number(t, "raddr"), RKey: uint32(l.number(t, "rkey")),
		RemoteQPN: uint32(l.number(t, "rqpn")), QKey: uint32(l.number(t, "qkey")), AH: handle{&ah{uint16(l.number(t, "ah"))}},
	}
}

// compareRing reports the first entries that differ, apart from their request IDs. The file
// has no zeros at a ring's end.
func compareRing(t *testing.T, name string, ring, want []byte, stride, id int) {
	t.Helper()
	if len(want) > len(ring) {
		t.Fatalf("%s: got %d bytes, libefa has %d", name, len(ring), len(want))
	}
	want = append(want, make([]byte, len(ring)-len(want))...)
	different := 0
	for at := 0; at < len(want) && different < 5; at += stride {
		mine, theirs := slices.Clone(ring[at:at+stride]), want[at:at+stride]
		mine[id], mine[id+1], theirs[id], theirs[id+1] = 0, 0, 0, 0
		if !slices.Equal(mine, theirs) {
			different++
			t.Errorf("%s, entry %d:\ngot           %x\nlibefa writes %x", name, at/stride, mine, theirs)
		}
	}
}
