package mlx5

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// Entries that were not polled move to the new ring, also across its end and the old ring's
// end.
func TestResize(t *testing.T) {
	_, q, qp := newPair(t, provider.RC)
	next := uint32(0)
	put := func(id uint64) {
		t.Helper()
		if n, err := qp.PostSend([]provider.SendWR{{ID: id, Opcode: provider.OpSend, Flags: provider.SendSignaled}}); n != 1 || err != nil {
			t.Fatalf("got %d posted, error %v, want 1", n, err)
		}
		q.put(next, qp, cqeRequest, uint16((qp.send.posted-1)&0xffff), func(e []byte) { e[cqeQPN] = wqeSend })
		next++
	}
	room := 8
	poll := func(want ...uint64) {
		t.Helper()
		into := make([]provider.Completion, 8)
		n, err := q.Poll(into[:room])
		for room == 1 && err == nil && n < len(want) {
			var more int
			if more, err = q.Poll(into[n : n+1]); more == 0 {
				break
			}
			n += more
		}
		if err != nil || n != len(want) {
			t.Fatalf("got %d completions, error %v, want %d", n, err, len(want))
		}
		for i, id := range want {
			if into[i].ID != id {
				t.Errorf("completion %d: got ID %d, want %d", i, into[i].ID, id)
			}
		}
	}
	for i, entries := range []uint32{20, 5, 3, 60, 7, 20, 5, 3, 60, 7} {
		if i == 5 {
			room = 1
		}
		for id := range uint64(2) {
			put(id)
			poll(id)
		}
		put(7)
		put(8)
		size := queue.RoundUp(entries + 1)
		err := q.Resize(entries, func(in []byte) (uint32, error) {
			if got := uapi.Decode[uapi.MLX5ResizeCQ](in); got.CQESize != cqeSize || got.BufAddr == 0 {
				t.Errorf("got command %+v", got)
			}
			q.put(next, qp, cqeResize, 0, nil)
			next++
			return size - 1, nil
		})
		if err != nil {
			t.Fatalf("%d entries: %v", entries, err)
		}
		poll(7, 8)
		put(9)
		poll(9)
	}
	room = 8
	for id := range uint64(4) {
		put(id)
	}
	if err := q.Resize(3, nil); !errors.Is(err, unix.EINVAL) {
		t.Errorf("3 entries with 4 completions: got error %v, want %v", err, unix.EINVAL)
	}
	poll(0, 1, 2, 3)
	refused := errors.New("refused")
	if err := q.Resize(9, func([]byte) (uint32, error) { return 0, refused }); !errors.Is(err, refused) {
		t.Errorf("got error %v, want %v", err, refused)
	}
	put(3)
	poll(3)
	if len(q.rings) != 1 {
		t.Errorf("got %d rings, want the one in use", len(q.rings))
	}
	if err := q.Resize(9, func([]byte) (uint32, error) { return 31, nil }); !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("other capacity: got error %v, want %v", err, provider.ErrCorrupt)
	}
	if err := q.Resize(9, func([]byte) (uint32, error) { return 15, nil }); !errors.Is(err, provider.ErrCorrupt) {
		t.Errorf("no mark: got error %v, want %v", err, provider.ErrCorrupt)
	}
	rings := q.rings
	if err := q.Close(); err != nil || len(rings) != 3 {
		t.Errorf("got error %v and %d rings, want 3", err, len(rings))
	}
	for i, ring := range rings {
		if ring.Bytes() != nil {
			t.Errorf("ring %d is mapped after Close", i)
		}
	}
}
