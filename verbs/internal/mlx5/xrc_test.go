package mlx5

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// The SRQ number follows each operation's control segment, and reserved bytes
// of an earlier request are cleared.
func TestXRC_SendLayout(t *testing.T) {
	f, d := newDevice(t)
	q := d.newQP(t, f, provider.QPAttr{Transport: provider.XRCInit, Cap: provider.QPCap{MaxSendWR: 4, MaxSendSGE: 1}, SendCQ: d.newCQ(t, f, 7)})
	for i := range q.send.ring {
		q.send.ring[i] = 0xff
	}
	sge := []provider.SGE{{Addr: 0x1122334455667788, Length: 8, LKey: 0xaabbccdd}}
	for _, test := range []struct {
		wr   provider.SendWR
		want string
	}{
		{provider.SendWR{Opcode: provider.OpSend, RemoteSRQN: 0x40, SGEs: sge}, `
0000000a000123030000000000000000
00000040000000000000000000000000
00000008aabbccdd1122334455667788`},
		{provider.SendWR{Opcode: provider.OpFetchAdd, RemoteSRQN: 0x41, RemoteAddr: 16, RKey: 5, CompareAdd: 6, SGEs: sge}, `
00000112000123050000000000000000
00000041000000000000000000000000
00000000000000100000000500000000
00000000000000060000000000000000
00000008aabbccdd1122334455667788`},
	} {
		at := int(q.send.posted) * blockSize
		if n, err := q.PostSend([]provider.SendWR{test.wr}); n != 1 || err != nil {
			t.Fatalf("%v: got %d posted, error %v, want 1", test.wr.Opcode, n, err)
		}
		want := strings.ReplaceAll(test.want, "\n", "")
		if got := hex.EncodeToString(q.send.ring[at:])[:len(want)]; got != want {
			t.Errorf("%v: got\n%swant%s", test.wr.Opcode, words(q.send.ring[at:at+len(want)/2]), test.want)
		}
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// A message for an SRQ in an XRC domain has the SRQ's user index and the target
// number.
func TestXRC_Receive(t *testing.T) {
	f, d := newDevice(t)
	cq := d.newCQ(t, f, 7)
	var srqs []*srq
	for i := range 2 {
		s, err := d.NewSRQ(provider.SRQAttr{MaxWR: 3, MaxSGE: 1, CQ: cq}, answer(f, &f.srq, provider.Created{MaxWR: 3}, 9))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.srq.UIdx; got != uint32(i) {
			t.Errorf("SRQ %d: got user index %d, want %d", i, got, i)
		}
		if _, err := s.PostRecv([]provider.RecvWR{{ID: uint64(100 * i)}, {ID: uint64(100*i + 1)}}); err != nil {
			t.Fatal(err)
		}
		srqs = append(srqs, s.(*srq))
	}
	target, err := d.NewQP(provider.QPAttr{Transport: provider.XRCTarget}, answer(f, &f.qp, provider.Created{Number: 0x200}, 0))
	if err != nil {
		t.Fatal(err)
	}
	if f.qp.Flags != uapi.MLX5QPUARPageIndex || f.qp.BufAddr != 0 || f.qp.SQWQECount != 0 {
		t.Errorf("target: got command %+v, want one without memory", f.qp)
	}
	put := func(index uint32, s *srq, opcode byte, entry uint16) {
		e := cq.entry(index)
		*e = [cqeSize]byte{}
		binary.BigEndian.PutUint32(e[cqeUser:], s.index)
		binary.BigEndian.PutUint32(e[cqeQPN:], 0x200)
		binary.BigEndian.PutUint16(e[cqeCounter:], entry)
		e[cqeSyndrome] = 0x04
		e[cqeOwner] = opcode<<4 | byte(index>>cq.round&1)
	}
	put(0, srqs[1], cqeRecv, 0)
	put(1, srqs[0], cqeRecvError, 0)
	put(2, srqs[1], cqeRecv, 1)
	put(3, srqs[0], cqeRecv, 1)
	if err := srqs[1].Close(); err != nil { // removes the third and the first entry
		t.Fatal(err)
	}
	into := make([]provider.Completion, 4)
	n, err := cq.Poll(into)
	if n != 2 || err != nil || into[0].ID != 0 || into[0].Status != provider.StatusLocalProt || into[1].ID != 1 || into[1].QPN != 0x200 {
		t.Errorf("got %+v, error %v, want IDs 0 and 1 of QP 0x200", into[:n], err)
	}
	put(4, srqs[0], cqeRequest, 0)
	if n, err := cq.Poll(into); n != 0 || err == nil {
		t.Errorf("completion of a send of an SRQ: got %d completions and no error, want an error", n)
	}
	if _, err := target.PostSend(nil); err == nil {
		t.Error("post to a target: got no error, want one")
	}
	if err := srqs[0].Close(); err != nil {
		t.Error(err)
	}
}
