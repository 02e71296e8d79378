package loop

import (
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/verbs"
)

// A Walk is how messages go through a piece of memory: the next one begins Step
// bytes on, and after Slots of them the first again. It is the same on both sides.
type Walk struct{ Step, Slots int }

// Size returns how much memory the walk takes.
func (w Walk) Size() int { return w.Step * w.Slots }

// next returns the slot after one.
func (w Walk) next(slot int) int {
	if slot++; slot == w.Slots {
		return 0
	}
	return slot
}

// An Area is registered memory of this side.
type Area struct {
	Bytes []byte
	Addr  uint64
	LKey  uint32
}

// A Lane is one queue pair of a test, with all that it sends and receives. Its
// fields up to Verify are set before Prepare.
type Lane struct {
	Queue Queue

	// Message is what each message has: opcode, keys, an address handle, and the
	// address of the other side's memory for the first.
	Message verbs.SendWR

	Size   int  // of a message, in bytes
	Walk   Walk // through Out and the other side's memory
	Out    Area // what is sent from, or read into
	In     Area // what is received into
	Room   int  // bytes that a receive takes, if more than Size
	GRH    int  // bytes in front of what is received: 40 of datagrams
	InWalk Walk // through In
	Inline bool

	// Waiting is how many receives are posted: those of before Prepare, and of Receive.
	Waiting int

	// Verify fills each message with what it alone has, and looks at it where it
	// arrives. Seed tells the lanes of a test from one another: a lane's Seed is its
	// peer's PeerSeed.
	Verify         bool
	Seed, PeerSeed uint64

	index     uint64
	wrs       []verbs.SendWR
	sges      []verbs.SGE
	recv      [1]verbs.RecvWR
	recvSGE   [1]verbs.SGE
	remote    uint64
	slot      int // the next message is in
	recvSlot  int // the next receive goes to
	tookSlot  int // the next message that arrives is in
	posted    uint64
	completed uint64
	signaled  uint64
	received  uint64
}

// IDs of work requests: the lane's index, whether it is a receive, and how many
// were posted up to it.
const (
	idLaneShift = 48
	idCountMask = 1<<idLaneShift - 1
)

// Prepare makes work requests, up to list of which are posted at a time. Index is
// the lane's among those of its loop.
func (l *Lane) Prepare(index, list int) {
	l.index = uint64(index) << idLaneShift
	l.wrs = make([]verbs.SendWR, list)
	l.sges = make([]verbs.SGE, list)
	for i := range l.wrs {
		l.wrs[i] = l.Message
		l.sges[i] = verbs.SGE{Addr: l.Out.Addr, Length: uint32(l.Size), LKey: l.Out.LKey}
		if l.Inline {
			l.wrs[i].Flags |= verbs.SendInline
			l.wrs[i].Inline = l.Out.Bytes[:l.Size]
		} else {
			l.wrs[i].SGEs = l.sges[i : i+1 : i+1]
		}
	}
	l.remote = l.Message.RemoteAddr
	l.recvSGE[0] = verbs.SGE{Addr: l.In.Addr, Length: uint32(max(l.Size, l.Room) + l.GRH), LKey: l.In.LKey}
	l.recv[0] = verbs.RecvWR{ID: l.index, SGEs: l.recvSGE[:]}
	if l.InWalk.Slots == 0 { // nothing is received
		l.InWalk.Slots = 1
	}
	l.slot, l.recvSlot, l.tookSlot = 0, 0, 0
	l.posted, l.completed, l.signaled, l.received = 0, 0, 0, 0
}

// Receive posts n receives.
func (l *Lane) Receive(n int) error {
	for range n {
		l.recvSGE[0].Addr = l.In.Addr + uint64(l.recvSlot*l.InWalk.Step)
		l.recvSlot = l.InWalk.next(l.recvSlot)
		if _, err := l.Queue.PostRecv(l.recv[:]); err != nil {
			return err
		}
		l.Waiting++
	}
	return nil
}

// place writes where the next message is into the work request i of the list. With
// Verify, what a read is to bring is not there before.
func (l *Lane) place(i int) {
	offset := l.slot * l.Walk.Step
	if l.Verify && l.Message.Opcode == verbs.OpRead {
		spoil(l.Out.Bytes[offset:offset+l.Size], l.PeerSeed, uint64(l.slot))
	}
	l.slot = l.Walk.next(l.slot)
	wr := &l.wrs[i]
	if l.Inline {
		wr.Inline = l.Out.Bytes[offset : offset+l.Size]
	} else {
		l.sges[i].Addr = l.Out.Addr + uint64(offset)
	}
	wr.RemoteAddr = l.remote + uint64(offset)
}

// signal sets whether the work request i, the lane's count-th, completes.
func (l *Lane) signal(i int, count uint64, on bool) {
	wr := &l.wrs[i]
	wr.ID = l.index | count
	if on {
		wr.Flags |= verbs.SendSignaled
		l.signaled = count
	} else {
		wr.Flags &^= verbs.SendSignaled
	}
}

// send posts the next message alone.
func (l *Lane) send(signaled bool) error {
	l.place(0)
	l.posted++
	l.signal(0, l.posted, signaled)
	_, err := l.Queue.PostSend(l.wrs[:1])
	return err
}

// Posted returns how many messages were posted. They are all when Sent of a Stream
// is called.
func (l *Lane) Posted() uint64 { return l.posted }

// Received returns how many messages arrived. It is the loop's until that has ended.
func (l *Lane) Received() uint64 { return l.received }

// lastByte is a byte that the device writes.
type lastByte struct {
	word  *uint32
	shift uint
}

// byteAt returns the byte at an index of mapped memory.
func byteAt(b []byte, i int) lastByte {
	p := uintptr(unsafe.Pointer(&b[i]))
	// Memory of arenas begins at a page, so the word is within.
	word := (*uint32)(unsafe.Add(unsafe.Pointer(&b[i]), -int(p&3)))
	shift := uint(p&3) * 8
	if !littleEndian {
		shift = 24 - shift
	}
	return lastByte{word, shift}
}

// load returns what the byte is now.
func (b *lastByte) load() byte { return byte(atomic.LoadUint32(b.word) >> b.shift) }

var littleEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()
