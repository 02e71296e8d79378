package rxe

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// words returns a hex dump without zero lines.
func words(p unsafe.Pointer, length int) string {
	var text strings.Builder
	for at := 0; at < length; at += 16 {
		line := unsafe.Slice((*byte)(unsafe.Add(p, at)), 16)
		if !bytes.Equal(line, make([]byte, 16)) {
			text.WriteString(hex.EncodeToString([]byte{byte(at >> 8), byte(at)}) + ": " + hex.EncodeToString(line) + "\n")
		}
	}
	return text.String()
}

// addressed returns an address handle of a kernel without their numbers.
func addressed(t *testing.T, source, to string) *provider.Destination {
	d := &device{gid: netip.MustParseAddr(source), mac: [6]byte{2, 3, 4, 5, 6, 7}}
	path := provider.Path{DGID: netip.MustParseAddr(to), SGIDIndex: 3, FlowLabel: 0xabcde, HopLimit: 64, TrafficClass: 0x20, Port: 1}
	made, err := New(d).NewAH(path, 0, answer(uapi.RXECreateAHResp{}, provider.Created{}))
	if err != nil {
		t.Fatal(err)
	}
	return provider.NewDestination(made)
}

// Each operation has the <rdma/rdma_user_rxe.h> layout, in slots with old contents,
// posted alone and in a list.
func TestSendLayout(t *testing.T) {
	sge := []provider.SGE{{Addr: 0x1122334455667788, Length: 8, LKey: 0xaabbccdd}}
	remote := provider.SendWR{RemoteAddr: 0x0102030405060708, RKey: 0x90a0b0c0}
	for _, test := range []struct {
		name      string
		transport provider.Transport
		wr        provider.SendWR
		want      string
	}{
		{"send", provider.RC, provider.SendWR{ID: 0xf1f2f3f4f5f6f7f8, Opcode: provider.OpSend, Flags: provider.SendSignaled | provider.SendSolicited, SGEs: sge}, `
0000: f8f7f6f5f4f3f2f10000000002000000
0010: 06000000000000000000000000000000
00b0: 00000000000000000800000008000000
00c0: 00000000010000000000000000000000
00d0: 887766554433221108000000ddccbbaa`},
		{"send with immediate", provider.UC, provider.SendWR{Opcode: provider.OpSendWithImm, Imm: 0x01020304}, `
0000: 00000000000000000000000003000000
0010: 00000000010203040000000000000000`},
		{"send with invalidate", provider.RC, provider.SendWR{Opcode: provider.OpSendInvalidate, InvalidateKey: 0x01020304}, `
0000: 00000000000000000000000009000000
0010: 00000000040302010000000000000000`},
		{"write", provider.RC, provider.SendWR{Opcode: provider.OpWrite, RemoteAddr: remote.RemoteAddr, RKey: remote.RKey, SGEs: sge}, `
0010: 00000000000000000807060504030201
0020: c0b0a090000000000000000000000000
0090: 00000000000000000807060504030201
00b0: 00000000000000000800000008000000
00c0: 00000000010000000000000000000000
00d0: 887766554433221108000000ddccbbaa`},
		{"write with immediate", provider.RC, provider.SendWR{Opcode: provider.OpWriteWithImm, Imm: 0x01020304, RKey: 1}, `
0000: 00000000000000000000000001000000
0010: 00000000010203040000000000000000
0020: 01000000000000000000000000000000`},
		{"read", provider.RC, provider.SendWR{Opcode: provider.OpRead, RemoteAddr: 16, Flags: provider.SendFence}, `
0000: 00000000000000000000000004000000
0010: 01000000000000001000000000000000
0090: 00000000000000001000000000000000`},
		{"compare and swap", provider.RC, provider.SendWR{Opcode: provider.OpCompareSwap, RemoteAddr: 16, RKey: 5, CompareAdd: 6, Swap: 7, SGEs: sge}, `
0000: 00000000000000000000000005000000
0010: 00000000000000001000000000000000
0020: 06000000000000000700000000000000
0030: 05000000000000000000000000000000
0090: 00000000000000001000000000000000
00b0: 00000000000000000800000008000000
00c0: 00000000010000000000000000000000
00d0: 887766554433221108000000ddccbbaa`},
		{"local invalidate", provider.RC, provider.SendWR{Opcode: provider.OpLocalInvalidate, InvalidateKey: 0x01020304}, `
0000: 00000000000000000000000007000000
0010: 00000000040302010000000000000000`},
		{"bind", provider.RC, provider.SendWR{Opcode: provider.OpBindMW, Bind: &provider.Bind{Window: 1, RKey: 2, LKey: 3, Addr: 4, Length: 5, Access: 6}}, `
0000: 00000000000000000000000008000000
0010: 00000000000000000400000000000000
0020: 05000000000000000300000001000000
0030: 02000000060000000000000000000000`},
		{"datagram", provider.UD, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(&ah{number: 9}), RemoteQPN: 0x123456, QKey: 0x80010000, SGEs: sge}, `
0000: 00000000000000000000000002000000
0010: 00000000000000005634120000000180
0020: 00000000090000000000000000000000
00b0: 00000000000000000800000008000000
00c0: 00000000010000000000000000000000
00d0: 887766554433221108000000ddccbbaa`},
		{"datagram to an address", provider.UD, provider.SendWR{Opcode: provider.OpSend, AH: addressed(t, "::ffff:10.0.0.1", "::ffff:10.0.0.2"), SGEs: sge}, `
0000: 00000000000000000000000002000000
0030: 00000000000000000101020304050607
0040: 00000000000000000000ffff0a000002
0050: debc0a0003402000000000000a000001
0070: 00000000000000000a00000200000000
00b0: 00000000000000000800000008000000
00c0: 00000000010000000000000000000000
00d0: 887766554433221108000000ddccbbaa`},
		{"datagram to an IPv6 address", provider.UD, provider.SendWR{Opcode: provider.OpSend, AH: addressed(t, "fe80::1", "fe80::2"), SGEs: sge}, `
0000: 00000000000000000000000002000000
0030: 00000000000000000102020304050607
0040: fe800000000000000000000000000002
0050: debc0a00034020000a00000000000000
0060: fe800000000000000000000000000001
0070: 000000000a00000000000000fe800000
0080: 00000000000000000000000200000000
00b0: 00000000000000000800000008000000
00c0: 00000000010000000000000000000000
00d0: 887766554433221108000000ddccbbaa`},
		{"inline", provider.RC, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: []byte("0123456789")}, `
0000: 00000000000000000000000002000000
0010: 08000000000000000000000000000000
00b0: 00000000000000000a0000000a000000
00d0: 30313233343536373839ffffffffffff`},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDevice()
			q := d.newQP(t, test.transport, true)
			b := unsafe.Slice((*byte)(q.sq.ring.slot(0)), 3*512)
			for i := range b {
				b[i] = 0xff
			}
			// A single work request, and two in a list.
			for posts, wrs := range [][]provider.SendWR{{test.wr}, {test.wr, test.wr}} {
				if n, err := q.PostSend(wrs); n != len(wrs) || err != nil {
					t.Fatalf("got %d posted, error %v, want %d", n, err, len(wrs))
				}
				if want := uint32(2*posts + 1); d.bells != posts+1 || !d.brief || head(d.rings[sqOffset]).ProducerIndex != want {
					t.Errorf("got %d doorbells, brief %v, producer %d, want %d, true, %d",
						d.bells, d.brief, head(d.rings[sqOffset]).ProducerIndex, posts+1, want)
				}
			}
			length := uapi.RXESendWQESize + max(len(test.wr.SGEs)*uapi.RXESGESize, (len(test.wr.Inline)+15)&^15)
			for i := range uint32(3) {
				if got := strings.TrimSpace(words(q.sq.ring.slot(i), length)); got != strings.TrimSpace(test.want) {
					t.Errorf("slot %d: got\n%s\nwant%s", i, got, test.want)
				}
			}
		})
	}
}

// A rejected work request leaves the ring unchanged, and earlier requests stay posted.
func TestSendRefused(t *testing.T) {
	sges := func(n int) []provider.SGE { return make([]provider.SGE, n) }
	for name, test := range map[string]struct {
		transport provider.Transport
		wr        provider.SendWR
		want      error
	}{
		"opcode 31":              {provider.RC, provider.SendWR{Opcode: 31}, provider.ErrOpcode},
		"opcode of many bits":    {provider.RC, provider.SendWR{Opcode: 32 + provider.OpSend}, provider.ErrOpcode},
		"read by UC":             {provider.UC, provider.SendWR{Opcode: provider.OpRead}, provider.ErrOpcode},
		"atomic by UC":           {provider.UC, provider.SendWR{Opcode: provider.OpFetchAdd}, provider.ErrOpcode},
		"write by UD":            {provider.UD, provider.SendWR{Opcode: provider.OpWrite}, provider.ErrOpcode},
		"bind without window":    {provider.RC, provider.SendWR{Opcode: provider.OpBindMW}, provider.ErrOpcode},
		"SGEs":                   {provider.RC, provider.SendWR{Opcode: provider.OpSend, SGEs: sges(sgeCount + 1)}, provider.ErrSGEs},
		"inline":                 {provider.RC, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, Inline: make([]byte, inlineMax+1)}, provider.ErrInline},
		"inline read":            {provider.RC, provider.SendWR{Opcode: provider.OpRead, Flags: provider.SendInline}, provider.ErrInline},
		"inline and SGEs":        {provider.RC, provider.SendWR{Opcode: provider.OpSend, Flags: provider.SendInline, SGEs: sges(1)}, provider.ErrInline},
		"2 GiB and a byte":       {provider.RC, provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{{Length: 1 << 31}, {Length: 1}}}, provider.ErrLength},
		"16 GiB":                 {provider.RC, provider.SendWR{Opcode: provider.OpSend, SGEs: []provider.SGE{{Length: 1<<32 - 1}, {Length: 1<<32 - 1}, {Length: 1<<32 - 1}, {Length: 1<<32 - 1}}}, provider.ErrLength},
		"atomic without SGE":     {provider.RC, provider.SendWR{Opcode: provider.OpFetchAdd}, provider.ErrLength},
		"invalidate with data":   {provider.RC, provider.SendWR{Opcode: provider.OpLocalInvalidate, SGEs: []provider.SGE{{Length: 1}}}, provider.ErrLength},
		"no AH":                  {provider.UD, provider.SendWR{Opcode: provider.OpSend}, provider.ErrAH},
		"closed AH":              {provider.UD, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(nil)}, provider.ErrAH},
		"AH of another provider": {provider.UD, provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(7)}, provider.ErrAH},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDevice()
			q := d.newQP(t, test.transport, false)
			good := provider.SendWR{Opcode: provider.OpSend, AH: provider.NewDestination(&ah{number: 1})}
			if n, err := q.PostSend([]provider.SendWR{good, test.wr, good}); n != 1 || !errors.Is(err, test.want) {
				t.Errorf("got %d posted, error %v, want 1 and %v", n, err, test.want)
			}
			if n, err := q.PostSend([]provider.SendWR{test.wr}); n != 0 || !errors.Is(err, test.want) {
				t.Errorf("first of the batch: got %d posted, error %v, want 0 and %v", n, err, test.want)
			}
			if p := head(d.rings[sqOffset]).ProducerIndex; p != 1 || d.bells != 1 {
				t.Errorf("got producer %d, %d doorbells, want 1, 1", p, d.bells)
			}
		})
	}
}

// A full queue accepts as many work requests as fit, and further requests after the
// kernel has taken some.
func TestSendFull(t *testing.T) {
	d := newDevice()
	q := d.newQP(t, provider.RC, false)
	h := head(d.rings[sqOffset])
	wrs := make([]provider.SendWR, 2*slots)
	for i := range wrs {
		wrs[i] = provider.SendWR{ID: uint64(i), Opcode: provider.OpSend}
	}
	if n, err := q.PostSend(wrs); n != slots-1 || !errors.Is(err, provider.ErrFull) || d.bells != 1 || d.brief {
		t.Errorf("got %d posted, error %v, %d doorbells, brief %v, want %d, %v, 1, false", n, err, d.bells, d.brief, slots-1, provider.ErrFull)
	}
	if n, err := q.PostSend(wrs); n != 0 || !errors.Is(err, provider.ErrFull) || d.bells != 1 {
		t.Errorf("got %d posted, error %v, %d doorbells, want 0, %v, 1", n, err, d.bells, provider.ErrFull)
	}
	h.ConsumerIndex = 5
	if n, err := q.PostSend(wrs[20:]); n != 5 || !errors.Is(err, provider.ErrFull) || h.ProducerIndex != 4 {
		t.Errorf("got %d posted, error %v, producer %d, want 5, %v, 4", n, err, h.ProducerIndex, provider.ErrFull)
	}
	if id := (*uapi.RXESendWQE)(q.sq.ring.slot(3)).WRID; id != 24 {
		t.Errorf("slot 3: got ID %d, want 24", id)
	}
	h.ConsumerIndex = slots
	if n, err := q.PostSend(wrs); n != 0 || !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("corrupt ring: got %d posted, error %v, want 0 and %v", n, err, provider.ErrCorrupt)
	}
	d.err, h.ConsumerIndex = errors.New("doorbell failed"), 4
	if n, err := q.PostSend(wrs[:1]); n != 1 || !errors.Is(err, d.err) {
		t.Errorf("doorbell fails: got %d posted, error %v, want 1 and %v", n, err, d.err)
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

func TestReceive(t *testing.T) {
	d := newDevice()
	for name, q := range map[string]interface {
		PostRecv([]provider.RecvWR) (int, error)
	}{"QP": d.newQP(t, provider.RC, false), "SRQ": d.newSRQ(t)} {
		t.Run(name, func(t *testing.T) {
			ring := d.rings[rqOffset]
			if name == "SRQ" {
				ring = d.rings[srqOffset]
			}
			sges := []provider.SGE{{Addr: 1, Length: 2, LKey: 3}, {Addr: 4, Length: 5, LKey: 6}}
			wrs := []provider.RecvWR{{ID: 7, SGEs: sges}, {ID: 8, SGEs: make([]provider.SGE, sgeCount+1)}}
			if n, err := q.PostRecv(wrs); n != 1 || !errors.Is(err, provider.ErrSGEs) {
				t.Errorf("too many SGEs: got %d posted, error %v, want 1 and %v", n, err, provider.ErrSGEs)
			}
			got := strings.TrimSpace(words(unsafe.Pointer(&ring[uapi.RXEQueueBufSize]), 80))
			if want := strings.TrimSpace(`
0000: 07000000000000000000000000000000
0010: 07000000070000000000000002000000
0020: 00000000000000000100000000000000
0030: 02000000030000000400000000000000
0040: 05000000060000000000000000000000`); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			long := []provider.RecvWR{{SGEs: []provider.SGE{{Length: 1 << 31}, {Length: 1}}}}
			if n, err := q.PostRecv(long); n != 0 || !errors.Is(err, provider.ErrLength) {
				t.Errorf("too long: got %d posted, error %v, want 0 and %v", n, err, provider.ErrLength)
			}
			if n, err := q.PostRecv(make([]provider.RecvWR, slots)); n != slots-2 || !errors.Is(err, provider.ErrFull) {
				t.Errorf("full queue: got %d posted, error %v, want %d and %v", n, err, slots-2, provider.ErrFull)
			}
			if p := head(ring).ProducerIndex; p != slots-1 {
				t.Errorf("got producer %d, want %d", p, slots-1)
			}
		})
	}
	if d.bells != 0 {
		t.Errorf("got %d doorbells, want 0", d.bells)
	}
}
