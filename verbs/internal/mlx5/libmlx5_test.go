package mlx5

import (
	"encoding/binary"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/ringtest"
	"github.com/ibkit/ibkit/verbs/provider"
)

// recorded is the test/guest/mlx5/testdata/wqes.c output: work requests and the bytes
// that libmlx5 44.0 wrote for them. The test in a guest replaces it with new output.
var recorded = flag.String("wqes", "testdata/libmlx5.wqes", "`FILE` with work requests of libmlx5")

var transportNames = map[string]provider.Transport{"rc": provider.RC, "uc": provider.UC, "ud": provider.UD, "xrc": provider.XRCInit}

// TestLibmlx5 posts the same work requests as a program with libmlx5 and compares the
// fields in the rings and the doorbell records.
func TestLibmlx5(t *testing.T) {
	requests := ringtest.Lines(t, *recorded)
	if len(requests) < 200 {
		t.Fatalf("got %d work requests, want at least 200", len(requests))
	}
	for _, r := range requests {
		t.Run(r.Values["name"], func(t *testing.T) {
			if r.Values["receive"] != "" {
				compareReceive(t, r)
			} else {
				compareSend(t, r)
			}
		})
	}
}

func compareSend(t *testing.T, r ringtest.Line) {
	f, d := newDevice(t)
	q := d.newCQ(t, f, 7)
	attr := provider.QPAttr{Transport: transportNames[r.Values["transport"]], SendCQ: q, Cap: provider.QPCap{MaxSendWR: 128, MaxSendSGE: 4, MaxInline: 200}}
	p, err := d.NewQP(attr, answer(f, &f.qp, provider.Created{Number: uint32(r.Number(t, "qpn"))}, 0))
	if err != nil {
		t.Fatal(err)
	}
	qp := p.(*qp)
	defer qp.Close()
	qp.send.posted = uint32(r.Number(t, "block"))
	at := int(qp.send.posted) % len(qp.send.slots) * blockSize
	if r.Number(t, "windowed") == 1 {
		qp.send.fence = ctrlSmallFence
	}
	wr := r.Send(t)
	if attr.Transport == provider.UD {
		path := provider.Path{
			DLID: ib.LID(r.Number(t, "dlid")), SL: uint8(r.Number(t, "sl")), SrcPathBits: uint8(r.Number(t, "pathbits")),
			StaticRate: ib.Rate(r.Number(t, "rate")), Port: 1, SGIDIndex: uint8(r.Number(t, "gidindex")), FlowLabel: uint32(r.Number(t, "flow")),
			HopLimit: uint8(r.Number(t, "hop")), TrafficClass: uint8(r.Number(t, "tclass")),
		}
		if r.Number(t, "global") == 1 {
			path.DGID = netip.AddrFrom16([16]byte(r.Hex(t, "dgid")))
		}
		a, err := d.NewAH(path, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		wr.AH = provider.NewDestination(a)
	}
	if _, err := qp.PostSend([]provider.SendWR{wr}); err != nil {
		t.Fatal(err)
	}
	want := r.Hex(t, "bytes")
	got := append(qp.send.ring[at:], qp.send.ring[:at]...)[:len(want)]
	compare(t, sendFields(attr.Transport, got), sendFields(attr.Transport, want))
	if record := uint64(binary.BigEndian.Uint32(uapi.Bytes(&qp.memory.record[qpSent]))); record != r.Number(t, "record") {
		t.Errorf("doorbell record: got %d, libmlx5 writes %d", record, r.Number(t, "record"))
	}
}

func compareReceive(t *testing.T, r ringtest.Line) {
	stride, want := int(r.Number(t, "stride")), r.Hex(t, "bytes")
	f, d := newDevice(t)
	wr := []provider.RecvWR{{SGEs: r.SGEs}}
	var got []byte
	if strings.HasPrefix(r.Values["name"], "srq") {
		s, err := d.NewSRQ(provider.SRQAttr{MaxWR: 15, MaxSGE: uint32(stride)/segmentSize - 1}, answer(f, &f.srq, provider.Created{MaxWR: 15}, 0))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		index := int(want[srqNext+1]) - 1
		q := s.(*srq)
		for range index {
			if _, err := s.PostRecv([]provider.RecvWR{{}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.PostRecv(wr); err != nil {
			t.Fatal(err)
		}
		got = q.memory.buffer[index*q.stride:][:q.stride]
		if q.stride == stride {
			compare(t, []field{{"next entry", got[:segmentSize]}}, []field{{"next entry", want[:segmentSize]}})
		}
		compareRecord(t, &r, uapi.Bytes(&q.memory.record[0]))
		got, want = got[segmentSize:], want[segmentSize:]
	} else {
		q := d.newCQ(t, f, 7)
		qp := d.newQP(t, f, provider.QPAttr{
			Transport: provider.RC, SendCQ: q, RecvCQ: q, Cap: provider.QPCap{MaxSendWR: 1, MaxRecvWR: 16, MaxRecvSGE: uint32(stride) / segmentSize},
		})
		defer qp.Close()
		if qp.recv.stride != stride {
			t.Errorf("stride: got %d, libmlx5 has %d", qp.recv.stride, stride)
		}
		qp.recv.head = uint32(r.Number(t, "record")) - 1
		at := int(qp.recv.head) * qp.recv.stride
		if _, err := qp.PostRecv(wr); err != nil {
			t.Fatal(err)
		}
		got = qp.recv.ring[at:][:qp.recv.stride]
		compareRecord(t, &r, uapi.Bytes(&qp.memory.record[qpReceived]))
	}
	compare(t, recvFields(got), recvFields(want))
}

func compareRecord(t *testing.T, r *ringtest.Line, record []byte) {
	t.Helper()
	if got, want := uint64(binary.BigEndian.Uint32(record)), r.Number(t, "record"); got != want {
		t.Errorf("doorbell record: got %d, libmlx5 writes %d", got, want)
	}
}

// A field is a work request part.
type field struct {
	name  string
	value []byte
}

// compare reports the fields that differ.
func compare(t *testing.T, got, want []field) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("%s: got no such field, libmlx5 writes %x", want[i].name, want[i].value)
		case i >= len(want):
			t.Errorf("%s: got %x, libmlx5 writes no such field", got[i].name, got[i].value)
		case got[i].name != want[i].name || string(got[i].value) != string(want[i].value):
			t.Errorf("%s: got %x, libmlx5 writes %x in %s", got[i].name, got[i].value, want[i].value, want[i].name)
		}
	}
}

// layout splits bytes into fields with the given sizes.
func layout(b []byte, fields ...any) (all []field, rest []byte) {
	for i := 0; i < len(fields); i += 2 {
		n := fields[i+1].(int)
		all = append(all, field{fields[i].(string), b[:n]})
		b = b[n:]
	}
	return all, b
}

// sendFields returns a send work request's fields (mlx5dv.h: struct mlx5_wqe_ctrl_seg and
// the structures that follow it).
func sendFields(transport provider.Transport, b []byte) []field {
	opcode := b[3]
	size := int(b[7]&0x3f) * segmentSize
	all, b := layout(b[:min(size, len(b))], "ctrl.opmod", 1, "ctrl.wqe_index", 2, "ctrl.opcode", 1, "ctrl.qpn", 3, "ctrl.ds", 1,
		"ctrl.signature", 1, "ctrl.dci_stream_channel_id", 2, "ctrl.fm_ce_se", 1, "ctrl.imm", 4)
	var part []field
	if transport == provider.UD {
		part, b = layout(b, "av.qkey", 4, "av.reserved", 4, "av.dqp_dct", 4, "av.stat_rate_sl", 1, "av.fl_mlid", 1, "av.rlid", 2, "av.reserved0", 4,
			"av.rmac", 6, "av.tclass", 1, "av.hop_limit", 1, "av.grh_gid_fl", 4, "av.rgid", 16)
		all = append(all, part...)
	}
	if transport == provider.XRCInit { // the segment's remaining part is undefined
		part, b = layout(b, "xrc.xrc_srqn", 4, "xrc.rsvd", 12)
		all = append(all, part[0])
	}
	switch opcode {
	case wqeUMR:
		return append(all, windowFields(b)...)
	case wqeWrite, wqeWriteImm, wqeRead, wqeCompareSwap, wqeFetchAdd:
		part, b = layout(b, "raddr.raddr", 8, "raddr.rkey", 4, "raddr.reserved", 4)
		all = append(all, part...)
	}
	if opcode == wqeCompareSwap || opcode == wqeFetchAdd {
		part, b = layout(b, "atomic.swap_add", 8, "atomic.compare", 8)
		all = append(all, part...)
	}
	for i := 0; len(b) > 0; i++ {
		if n := binary.BigEndian.Uint32(b); n&inlineFlag != 0 {
			// The last segment's remaining part is undefined.
			part, _ = layout(b, "inline.byte_count", 4, "inline.data", int(n&^inlineFlag))
			return append(all, part...)
		}
		part, b = layout(b, fmt.Sprintf("data[%d].byte_count", i), 4, fmt.Sprintf("data[%d].lkey", i), 4, fmt.Sprintf("data[%d].addr", i), 8)
		all = append(all, part...)
	}
	return all
}

// windowFields returns a memory window work request's fields, as far as libmlx5
// writes them.
func windowFields(b []byte) []field {
	all, b := layout(b, "umr.flags", 1, "umr.rsvd0", 3, "umr.klm_octowords", 2, "umr.translation_offset", 2, "umr.mkey_mask", 8, "umr.rsvd1", 32,
		"mkey.free", 1, "reserved", 1, "mkey.access_flags", 1, "mkey.sf", 1, "mkey.qpn_mkey", 4, "reserved", 8, "mkey.start_addr", 8, "mkey.len", 8, "reserved", 32)
	unbinds := len(b) == 0
	all = slices.DeleteFunc(all, func(f field) bool {
		switch f.name {
		case "reserved", "mkey.sf":
			return true
		case "mkey.access_flags", "mkey.start_addr", "mkey.len":
			return unbinds
		}
		return false
	})
	if unbinds {
		return all
	}
	memory, _ := layout(b, "klm.byte_count", 4, "klm.mkey", 4, "klm.address", 8, "klm.reserved", 48)
	return append(all, memory...)
}

// recvFields returns a receive work request's data segments up to its list's
// end. In shared receive queues, libmlx5 writes empty SGE segments, which package mlx5
// omits as libmlx5 does everywhere else: the length 0 means 2 GiB.
func recvFields(b []byte) (all []field) {
	for i := 0; len(b) > 0; {
		var part []field
		length, key := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
		part, b = layout(b, fmt.Sprintf("data[%d].byte_count", i), 4, fmt.Sprintf("data[%d].lkey", i), 4, fmt.Sprintf("data[%d].addr", i), 8)
		if length == 0 && key != endKey {
			continue
		}
		if key == endKey {
			break
		}
		all = append(all, part...)
		i++
	}
	return all
}
