package mlx5

import (
	"strconv"
	"testing"

	"github.com/ibkit/ibkit/verbs/provider"
)

// benchmarkDepth is the queue size, as in test/guest/mlx5/cost.
const benchmarkDepth = 1024

// benchmarkPair returns a queue pair with a 64-byte payload.
func benchmarkPair(b *testing.B) (*cq, *qp, []provider.SGE) {
	b.Helper()
	f, d := newDevice(b)
	cq := d.newCQ(b, f, 2*benchmarkDepth)
	q := d.newQP(b, f, provider.QPAttr{
		Transport: provider.RC, SendCQ: cq, RecvCQ: cq,
		Cap: provider.QPCap{MaxSendWR: benchmarkDepth, MaxRecvWR: benchmarkDepth, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	b.Cleanup(func() {
		if err := q.Close(); err != nil {
			b.Error(err)
		}
	})
	return cq, q, []provider.SGE{{Addr: 1 << 40, Length: 64, LKey: 0x1234}}
}

// eachBatch runs a benchmark for each batch size. An operation is a message.
func eachBatch(b *testing.B, run func(b *testing.B, batch int)) {
	b.Helper()
	for _, batch := range []int{1, 16, 64} {
		b.Run(strconv.Itoa(batch), func(b *testing.B) {
			b.ReportAllocs()
			run(b, batch)
		})
	}
}

func BenchmarkPostSend(b *testing.B) {
	eachBatch(b, func(b *testing.B, batch int) {
		_, p, sges := benchmarkPair(b)
		var q provider.QP = p
		wrs := make([]provider.SendWR, batch)
		for i := range wrs {
			wrs[i] = provider.SendWR{
				ID: uint64(i), Opcode: provider.OpWrite, Flags: provider.SendSignaled, SGEs: sges, RemoteAddr: 1 << 41, RKey: 0x5678,
			}
		}
		for n := 0; n < b.N; n += batch {
			if p.send.posted%benchmarkDepth == 0 {
				p.send.tail.Store(p.send.head)
			}
			if _, err := q.PostSend(wrs); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPostRecv(b *testing.B) {
	eachBatch(b, func(b *testing.B, batch int) {
		_, p, sges := benchmarkPair(b)
		var q provider.QP = p
		wrs := make([]provider.RecvWR, batch)
		for i := range wrs {
			wrs[i] = provider.RecvWR{ID: uint64(i), SGEs: sges}
		}
		for n := 0; n < b.N; n += batch {
			if p.recv.head%benchmarkDepth == 0 {
				p.recv.tail.Store(p.recv.head)
			}
			if _, err := q.PostRecv(wrs); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPoll(b *testing.B) {
	eachBatch(b, func(b *testing.B, batch int) {
		p, owner, _ := benchmarkPair(b)
		var q provider.CQ = p
		// The entries in two ring rounds differ in the owner only.
		for i := range p.mask + 1 {
			p.put(i, owner, cqeRequest, uint16(i), func(e []byte) { e[cqeQPN] = wqeWrite })
		}
		into := make([]provider.Completion, batch)
		for n := 0; n < b.N; n += batch {
			p.index &= p.mask
			if got, err := q.Poll(into); got != batch || err != nil {
				b.Fatal(got, err)
			}
		}
	})
}
