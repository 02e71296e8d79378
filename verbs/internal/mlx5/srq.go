package mlx5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/queue"
	"github.com/ibkit/ibkit/verbs/provider"
)

// A srq is a shared receive queue: an entry list that begins at the head. The adapter
// follows the same links. Completed entries return to the list's end. Posting and
// polling may be concurrent.
type srq struct {
	device  *device
	memory  memory
	cq      *cq    // for a queue in an XRC domain, else nil
	index   uint32 // with cq: in completions
	user    user   // with cq
	stride  int    // bytes
	maxSGE  int
	lock    sync.Mutex
	ids     []uint64
	head    uint16 // next entry to post
	tail    uint16 // last free entry, which is never posted
	counter uint16 // work requests ever posted
}

// The link to the next entry (mlx5dv.h, struct mlx5_wqe_srq_next_seg).
const srqNext = 2

// NewSRQ creates a shared receive queue. An entry more than requested stays free.
func (d *device) NewSRQ(attr provider.SRQAttr, create provider.Create) (provider.SRQ, error) {
	if attr.MaxWR > d.limits.MaxSRQRecvWR || attr.MaxWR >= 1<<15 {
		return nil, fmt.Errorf("shared receive queue of %d work requests, the adapter has up to %d: %w",
			attr.MaxWR, min(d.limits.MaxSRQRecvWR, 1<<15-1), unix.EINVAL)
	}
	// The kernel computes the same sizes from the numbers in the command (srq.c,
	// mlx5_ib_create_srq).
	stride := queue.RoundUp(max(2*segmentSize, segmentSize+segmentSize*attr.MaxSGE))
	if err := d.checkReceive(attr.MaxSGE, stride); err != nil {
		return nil, err
	}
	count := queue.RoundUp(attr.MaxWR + 1)
	m, err := d.newMemory(int(max(count*stride, blockSize)))
	if err != nil {
		return nil, err
	}
	q := &srq{device: d, memory: m, stride: int(stride), maxSGE: int(stride)/segmentSize - 1, ids: make([]uint64, count), tail: uint16(count - 1)}
	for i := range count {
		q.link(uint16(i), uint16((i+1)&(count-1)))
	}
	if attr.CQ != nil {
		q.cq, q.user.srq = attr.CQ.(*cq), q
		index, err := d.users.Add(&q.user, maxIndex)
		if err != nil {
			return nil, closing(m, err)
		}
		q.index = uint32(index)
	}
	in := uapi.MLX5CreateSRQ{BufAddr: m.Addr(), DBAddr: m.recordAddr(), UIdx: q.index}
	var resp uapi.MLX5CreateSRQResp
	created, err := create(uapi.Bytes(&in), uapi.Bytes(&resp))
	if err != nil {
		return nil, errors.Join(err, q.release())
	}
	if created.MaxWR != count-1 {
		return q, fmt.Errorf("shared receive queue: got %d work requests, want %d: %w", created.MaxWR, count-1, provider.ErrCorrupt)
	}
	return q, nil
}

// link stores an entry's successor.
func (q *srq) link(entry, next uint16) {
	binary.BigEndian.PutUint16(q.memory.buffer[int(entry)*q.stride+srqNext:], next)
}

// next returns an entry's successor.
func (q *srq) next(entry uint16) uint16 {
	return binary.BigEndian.Uint16(q.memory.buffer[int(entry)*q.stride+srqNext:])
}

// PostRecv fills entries at the list's head.
func (q *srq) PostRecv(wrs []provider.RecvWR) (n int, err error) {
	q.lock.Lock()
	defer q.lock.Unlock()
	for n < len(wrs) {
		if q.head == q.tail {
			err = provider.ErrFull
			break
		}
		next := q.next(q.head)
		if int(next) >= len(q.ids) {
			err = provider.ErrCorrupt
			break
		}
		at := int(q.head) * q.stride
		if err = putList(q.memory.buffer[at+segmentSize:at+q.stride], wrs[n].SGEs, q.maxSGE); err != nil {
			break
		}
		q.ids[q.head] = wrs[n].ID
		q.head = next
		n++
	}
	if n > 0 {
		q.publish(n)
	}
	return n, err
}

// retire returns a completed entry to the list's end, and its ID.
func (q *srq) retire(entry uint16) uint64 {
	q.lock.Lock()
	defer q.lock.Unlock()
	return q.ids[q.free(entry)]
}

// free returns an entry to the list's end, and its index.
func (q *srq) free(entry uint16) uint16 {
	entry &= uint16(len(q.ids) - 1)
	q.link(q.tail, entry)
	q.tail = entry
	return entry
}

// repost posts an entry's work request again in another entry. The kernel may still read
// the entry, to make its memory present, so that it goes to the list's end.
func (q *srq) repost(entry uint16) {
	q.lock.Lock()
	defer q.lock.Unlock()
	entry = q.free(entry)
	next := q.next(q.head)
	if int(next) >= len(q.ids) {
		return // the list is corrupt, as PostRecv reports
	}
	segments := func(i uint16) []byte {
		return q.memory.buffer[int(i)*q.stride+segmentSize : (int(i)+1)*q.stride]
	}
	copy(segments(q.head), segments(entry))
	q.ids[q.head] = q.ids[entry]
	q.head = next
	q.publish(1)
}

// publish gives the last n posted entries to the adapter.
func (q *srq) publish(n int) {
	q.counter += uint16(n)
	q.memory.publish(0, uint32(q.counter))
}

// ModifyIn returns nil: the driver reads no data of its own.
func (q *srq) ModifyIn() []byte { return nil }

// Close releases the list's memory. It removes the completions for a queue in an XRC
// domain, because another user may get the index.
func (q *srq) Close() error {
	if q.cq != nil {
		q.cq.purge(q.index, &q.user)
	}
	return q.release()
}

// release releases the list's memory and the index.
func (q *srq) release() error {
	if q.cq != nil {
		q.device.users.Remove(uint64(q.index))
	}
	return q.memory.Close()
}
