package loop

import (
	"encoding/binary"
	"fmt"

	"github.com/ibkit/ibkit/verbs"
)

// setOperands writes the operands of the next atomic into work request i. Every
// atomic adds one to a word that starts at 0, so that the value it returns is the
// number of atomics before it.
func (f *QPFlow) setOperands(i int) {
	switch wr := &f.wrs[i]; wr.Opcode {
	case verbs.OpFetchAdd:
		wr.CompareAdd = 1
	case verbs.OpCompareSwap:
		wr.CompareAdd, wr.Swap = f.posted, f.posted+1
	}
}

// verifyResult checks the data that read or atomic number count returned. Counts
// start at 1.
func (f *QPFlow) verifyResult(count uint64) error {
	slot := int((count - 1) % uint64(f.Ring.Slots))
	at := slot * f.Ring.Stride
	if err := f.Out.Begin(at, f.Size); err != nil {
		return err
	}
	switch f.Message.Opcode {
	case verbs.OpFetchAdd, verbs.OpCompareSwap:
		if got := binary.NativeEndian.Uint64(f.Out.Bytes[at:]); got != count-1 {
			return fmt.Errorf("%w: atomic %d returned %d, want %d", ErrCorrupt, count, got, count-1)
		}
	case verbs.OpRead:
		b := f.Out.Bytes[at : at+f.Size]
		err := Check(b, f.PeerSeed, uint64(slot))
		if err != nil && poisoned(b, f.PeerSeed, uint64(slot)) {
			return fmt.Errorf("%w: read %d (%d bytes)", ErrUntouched, count, f.Size)
		}
		return err
	}
	return nil
}

// FillTarget writes the payloads that the peer reads.
func (f *QPFlow) FillTarget() error {
	for slot := range f.InRing.Slots {
		if err := f.In.fill(slot*f.InRing.Stride, f.Size, f.Seed, uint64(slot)); err != nil {
			return err
		}
	}
	return nil
}

// VerifyWrites checks the memory that the peer wrote with this number of messages.
func (f *QPFlow) VerifyWrites(messages uint64) error {
	slots := uint64(f.InRing.Slots)
	for back := range min(slots, messages) {
		count := messages - back // the last message in its slot
		at := int((count-1)%slots) * f.InRing.Stride
		if err := f.In.check(at, f.Size, f.PeerSeed, count); err != nil {
			return err
		}
	}
	return nil
}

// VerifyAtomics checks the word that this number of the peer's atomics incremented.
func (f *QPFlow) VerifyAtomics(atomics uint64) error {
	if err := f.In.Begin(0, f.Size); err != nil {
		return err
	}
	if got := binary.NativeEndian.Uint64(f.In.Bytes); got != atomics {
		return fmt.Errorf("%w: the word of %d atomics is %d", ErrCorrupt, atomics, got)
	}
	return nil
}
