package loop

import (
	"encoding/binary"
	"fmt"

	"github.com/ibkit/ibkit/verbs"
)

// operate writes the operands of the next message into the work request i. All
// count upwards from 0 by one: what an atomic finds is how many came before it.
func (l *Lane) operate(i int) {
	switch wr := &l.wrs[i]; wr.Opcode {
	case verbs.OpFetchAdd:
		wr.CompareAdd = 1
	case verbs.OpCompareSwap:
		wr.CompareAdd, wr.Swap = l.posted, l.posted+1
	}
}

// checkResult looks at what the count-th read or atomic has brought. Counts begin
// with 1.
func (l *Lane) checkResult(count uint64) error {
	slot := int((count - 1) % uint64(l.Walk.Slots))
	at := slot * l.Walk.Step
	switch l.Message.Opcode {
	case verbs.OpFetchAdd, verbs.OpCompareSwap:
		if got := binary.NativeEndian.Uint64(l.Out.Bytes[at:]); got != count-1 {
			return fmt.Errorf("%w: atomic %d found %d, not %d", ErrCorrupt, count, got, count-1)
		}
	case verbs.OpRead:
		b := l.Out.Bytes[at : at+l.Size]
		err := Check(b, l.PeerSeed, uint64(slot))
		if err != nil && spoiled(b, l.PeerSeed, uint64(slot)) {
			return fmt.Errorf("%w: read %d (%d bytes)", ErrUntouched, count, l.Size)
		}
		return err
	}
	return nil
}

// Offer fills the memory that the other side reads from.
func (l *Lane) Offer() {
	for slot := range l.InWalk.Slots {
		at := slot * l.InWalk.Step
		Fill(l.In.Bytes[at:at+l.Size], l.Seed, uint64(slot))
	}
}

// CheckWritten looks at what the other side has written in so many messages.
func (l *Lane) CheckWritten(messages uint64) error {
	slots := uint64(l.InWalk.Slots)
	for back := range min(slots, messages) {
		count := messages - back // the last one in its slot
		at := int((count-1)%slots) * l.InWalk.Step
		if err := Check(l.In.Bytes[at:at+l.Size], l.PeerSeed, count); err != nil {
			return err
		}
	}
	return nil
}

// CheckCounted looks at the word that so many atomics of the other side counted
// up.
func (l *Lane) CheckCounted(atomics uint64) error {
	if got := binary.NativeEndian.Uint64(l.In.Bytes); got != atomics {
		return fmt.Errorf("%w: %d atomics counted to %d", ErrCorrupt, atomics, got)
	}
	return nil
}
