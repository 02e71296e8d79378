package loop

import (
	"sync/atomic"
	"unsafe"

	"github.com/ibkit/ibkit/verbs"
)

// A Ring is the layout of messages in a buffer: slots at a distance of Stride bytes,
// used in turn. Both sides use the same layout.
type Ring struct{ Stride, Slots int }

// Size returns the length of the buffer in bytes.
func (r Ring) Size() int { return r.Stride * r.Slots }

// next returns the slot after the given one.
func (r Ring) next(slot int) int {
	if slot++; slot == r.Slots {
		return 0
	}
	return slot
}

// A QPFlow is a queue pair's traffic in a test. Fields up to Verify are set before
// Prepare.
type QPFlow struct {
	Queue Queue

	// Message is the template of all messages: opcode, keys, address handle, and the
	// remote address of slot 0.
	Message verbs.SendWR

	Size     int  // bytes of a message
	Ring     Ring // of Out, and of the peer's memory
	Out      Area // source of sends, destination of reads
	In       Area // destination of receives, target of the peer
	RecvSize int  // bytes of a receive buffer, if larger than Size
	GRH      int  // bytes before a received payload: 40 for UD
	InRing   Ring // of In
	Inline   bool

	// Unordered is set for a transport with messages that complete and arrive in any order
	// (SRD). Each message then has a completion.
	Unordered bool

	// RecvPosted is the number of posted receives, including the receives from before
	// Prepare.
	RecvPosted int

	// Shared receives messages instead of Queue: a receive queue of several queue
	// pairs. A completion then belongs to any of their flows.
	Shared ReceiveQueue

	// RecvList is the number of receives posted at a time; 0: 1. Fewer are posted
	// only before the loop.
	RecvList int

	// Verify fills each message with a payload of its own, and checks it on arrival.
	// Seed differs between the flows of a test. The peer has it as its PeerSeed.
	Verify         bool
	Seed, PeerSeed uint64

	index     uint64
	wrs       []verbs.SendWR
	sges      []verbs.SGE
	recv      []verbs.RecvWR
	recvSGE   []verbs.SGE
	remote    uint64
	sendSlot  int  // of the next message to place
	request   bool // the prepared message generates a completion
	postSlot  int  // of the next receive to post
	recvSlot  int  // of the next message to arrive, of a PingPong
	posted    uint64
	completed uint64 // all messages up to this one
	signaled  uint64
	received  uint64
	early     []bool // with Unordered, by number: completed before an earlier message
}

// window is the length of early: more than the messages in flight.
const window = 1 << 15

// The ID of a work request holds the index of its flow and the number of messages
// posted up to it; that of a receive holds its slot.
const (
	idFlowShift = 48
	idCountMask = 1<<idFlowShift - 1
)

// Prepare builds the work requests for lists of up to list messages. Index is the
// position of the flow in its loop.
func (f *QPFlow) Prepare(index, list int) {
	f.index = uint64(index) << idFlowShift
	f.wrs = make([]verbs.SendWR, list)
	f.sges = make([]verbs.SGE, list)
	for i := range f.wrs {
		f.wrs[i] = f.Message
		f.sges[i] = verbs.SGE{Addr: f.Out.Addr, Length: uint32(f.Size), LKey: f.Out.LKey}
		if f.Inline {
			f.wrs[i].Flags |= verbs.SendInline
			f.wrs[i].Inline = f.Out.Bytes[:f.Size]
		} else {
			f.wrs[i].SGEs = f.sges[i : i+1 : i+1]
		}
	}
	f.remote = f.Message.RemoteAddr
	f.recv, f.recvSGE = make([]verbs.RecvWR, max(1, f.RecvList)), make([]verbs.SGE, max(1, f.RecvList))
	for i := range f.recv {
		f.recvSGE[i] = verbs.SGE{Addr: f.In.Addr, Length: uint32(max(f.Size, f.RecvSize) + f.GRH), LKey: f.In.LKey}
		f.recv[i] = verbs.RecvWR{SGEs: f.recvSGE[i : i+1 : i+1]}
	}
	if f.Unordered {
		f.early = make([]bool, window)
	}
	if f.InRing.Slots == 0 { // no receives
		f.InRing.Slots = 1
	}
	f.sendSlot, f.postSlot, f.recvSlot = 0, 0, 0
	f.posted, f.completed, f.signaled, f.received = 0, 0, 0, 0
}

// Receive posts n receives.
func (f *QPFlow) Receive(n int) error {
	for n > 0 {
		list := min(n, len(f.recv))
		for i := range list {
			f.recv[i].ID = f.index | uint64(f.postSlot)
			f.recvSGE[i].Addr = f.In.Addr + uint64(f.postSlot*f.InRing.Stride)
			f.postSlot = f.InRing.next(f.postSlot)
		}
		var err error
		if f.Shared != nil {
			_, err = f.Shared.PostRecv(f.recv[:list])
		} else {
			_, err = f.Queue.PostRecv(f.recv[:list])
		}
		if err != nil {
			return err
		}
		f.RecvPosted += list
		n -= list
	}
	return nil
}

// fill writes the payload of the next message, with its count, to its slot. It poisons the
// destination of a read.
func (f *QPFlow) fill(count uint64) error {
	at := f.sendSlot * f.Ring.Stride
	switch f.Message.Opcode {
	case verbs.OpSend, verbs.OpSendWithImm, verbs.OpWrite, verbs.OpWriteWithImm:
		return f.Out.fill(at, f.Size, f.Seed, count)
	case verbs.OpRead:
		poison(f.Out.Bytes[at:at+f.Size], f.PeerSeed, uint64(f.sendSlot))
		return f.Out.End(at, f.Size)
	}
	return nil
}

// place writes the addresses of the next message into work request i of the list.
func (f *QPFlow) place(i int) {
	offset := f.sendSlot * f.Ring.Stride
	f.sendSlot = f.Ring.next(f.sendSlot)
	wr := &f.wrs[i]
	if f.Inline {
		wr.Inline = f.Out.Bytes[offset : offset+f.Size]
	} else {
		f.sges[i].Addr = f.Out.Addr + uint64(offset)
	}
	wr.RemoteAddr = f.remote + uint64(offset)
}

// signal sets whether work request i, message number count, generates a completion.
func (f *QPFlow) signal(i int, count uint64, on bool) {
	f.label(i, count, on)
	if on {
		f.signaled = count
	}
}

// label writes the number of a message, and whether it generates a completion, into its
// work request.
func (f *QPFlow) label(i int, count uint64, signaled bool) {
	wr := &f.wrs[i]
	wr.ID = f.index | count
	if signaled {
		wr.Flags |= verbs.SendSignaled
	} else {
		wr.Flags &^= verbs.SendSignaled
	}
}

// complete records the completion of a message. It returns the number of messages that
// have left their slots: all messages before them are complete too.
func (f *QPFlow) complete(id uint64) uint64 {
	upTo := id & idCountMask
	if f.Unordered {
		f.early[upTo%window] = true
		for upTo = f.completed; f.early[(upTo+1)%window]; upTo++ {
			f.early[(upTo+1)%window] = false
		}
	}
	n := upTo - f.completed
	f.completed = upTo
	return n
}

// payload returns the count that the payload of message n is made of: 0 if its receiver
// does not know n, because messages may be lost or arrive in another order.
func (f *QPFlow) payload(n uint64, lossy bool) uint64 {
	if lossy || f.Unordered && f.Message.Opcode == verbs.OpSend {
		return 0
	}
	return n
}

// prepare builds the work request of the next message, which PingPong posts.
func (f *QPFlow) prepare(signaled bool) {
	f.request = signaled
	f.place(0)
	f.label(0, f.posted+1, signaled)
}

// Posted returns the number of messages posted. It is final when Sent of a Stream is
// called.
func (f *QPFlow) Posted() uint64 { return f.posted }

// Received returns the number of messages received. It must not be called while the
// loop runs.
func (f *QPFlow) Received() uint64 { return f.received }

// A sharedByte is a byte that the device writes.
type sharedByte struct {
	word  *uint32
	shift uint
}

// byteAt returns the byte at an index of mapped memory.
func byteAt(b []byte, i int) sharedByte {
	p := uintptr(unsafe.Pointer(&b[i]))
	// DMA memory starts at a page, so that it contains the whole word.
	word := (*uint32)(unsafe.Add(unsafe.Pointer(&b[i]), -int(p&3)))
	shift := uint(p&3) * 8
	if !littleEndian {
		shift = 24 - shift
	}
	return sharedByte{word, shift}
}

// load returns the current value with acquire order.
func (b *sharedByte) load() byte { return byte(atomic.LoadUint32(b.word) >> b.shift) }

var littleEndian = func() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 1
}()
