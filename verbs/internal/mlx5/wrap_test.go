package mlx5

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/ibkit/ibkit/verbs/provider"
)

// Indices work past all their range ends: 16 bits in work requests and doorbell
// records, 24 bits in completion queue records, and the 32 bits that count here.
func TestWraparound(t *testing.T) {
	for _, start := range []uint32{1<<16 - 20, 1<<24 - 20, 1<<32 - 20} {
		for _, room := range []int{1, 8} {
			t.Run(fmt.Sprintf("%#x room for %d", start, room), func(t *testing.T) {
				_, cq, q := newPair(t, provider.RC)
				cq.index = start
				q.send.posted, q.send.head, q.recv.head = start, start, start
				q.send.tail.Store(start)
				q.recv.tail.Store(start)
				into := make([]provider.Completion, room)
				for i := range uint32(100) {
					sent, received := start+i, start+i
					// Messages with 1 SGE and with 2 are posted and polled by different code.
					sges := []provider.SGE{{Length: 1}, {Length: 2}}[:1+i/2%2]
					if n, err := q.PostSend([]provider.SendWR{{ID: uint64(i), Opcode: provider.OpSend, SGEs: sges}}); n != 1 || err != nil {
						t.Fatalf("message %d: got %d posted, error %v, want 1", i, n, err)
					}
					if n, err := q.PostRecv([]provider.RecvWR{{ID: uint64(i), SGEs: sges}}); n != 1 || err != nil {
						t.Fatalf("message %d: got %d receives posted, error %v, want 1", i, n, err)
					}
					block := q.send.ring[int(sent)%len(q.send.slots)*blockSize:]
					if got, want := binary.BigEndian.Uint32(block)>>8, sent&0xffff; got != want {
						t.Fatalf("message %d: got index %#x, want %#x", i, got, want)
					}
					for word, want := range map[int]uint32{qpSent: (sent + 1) & 0xffff, qpReceived: (received + 1) & 0xffff} {
						if got := wire32(q.memory.record[word]); got != want {
							t.Fatalf("message %d: got %#x in word %d of the record, want %#x", i, got, word, want)
						}
					}
					if i%3 != 2 {
						continue // three messages at a time
					}
					index := start + 2*(i-2)
					for k := i - 2; k <= i; k++ {
						cq.put(start+2*k, q, cqeRecv, uint16(start+k), nil)
						cq.put(start+2*k+1, q, cqeRequest, uint16(start+k), func(e []byte) { e[cqeQPN] = wqeSend })
					}
					for done := uint32(0); done < 6; {
						n, err := cq.Poll(into)
						if n == 0 || err != nil {
							t.Fatalf("message %d: got %d completions, error %v, want %d more", i, n, err, 6-done)
						}
						for _, c := range into[:n] {
							if want := uint64(i-2) + uint64(done/2); c.ID != want || c.Opcode.Received() != (done%2 == 0) {
								t.Fatalf("got completion of %d with ID %d, want ID %d", c.Opcode, c.ID, want)
							}
							done++
						}
						if got, want := wire32(cq.memory.record[cqConsumer]), (index+done)&(1<<24-1); got != want {
							t.Fatalf("message %d: got consumer index %#x, want %#x", i, got, want)
						}
					}
				}
			})
		}
	}
}

// A shared receive queue's counter has 16 bits.
func TestWraparound_SRQ(t *testing.T) {
	f, d := newDevice(t)
	cq := d.newCQ(t, f, 15)
	p, err := d.NewSRQ(provider.SRQAttr{MaxWR: 3, MaxSGE: 1}, answer(f, &f.srq, provider.Created{MaxWR: 3}, 9))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q := d.newQP(t, f, provider.QPAttr{Transport: provider.RC, Cap: provider.QPCap{MaxSendWR: 1}, SendCQ: cq, RecvCQ: cq, SRQ: p})
	defer q.Close()
	list := p.(*srq)
	head := uint16(0) // the adapter's, which follows the links
	var c [2]provider.Completion
	for i := range uint32(70000) {
		if n, err := p.PostRecv([]provider.RecvWR{{ID: uint64(i)}}); n != 1 || err != nil {
			t.Fatalf("receive %d: got %d posted, error %v, want 1", i, n, err)
		}
		if got, want := wire32(list.memory.record[0]), (i+1)&0xffff; got != want {
			t.Fatalf("receive %d: got record %#x, want %#x", i, got, want)
		}
		next := list.next(head)
		cq.put(i, q, cqeRecv, head, nil)
		head = next
		if n, err := cq.Poll(c[:]); n != 1 || err != nil || c[0].ID != uint64(i) {
			t.Fatalf("receive %d: got %d completions, error %v, ID %d", i, n, err, c[0].ID)
		}
	}
}
