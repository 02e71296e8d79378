package selftest

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/dmabuf"
	"github.com/ibkit/ibkit/verbs"
)

// reliable returns the adapter's reliable type.
func (t *tester) reliable() verbs.QPType {
	if t.aws() {
		return verbs.QPTypeSRD
	}
	return verbs.QPTypeRC
}

// memories returns the cases about memory.
func (t *tester) memories() []testCase {
	const group = "device"
	return []testCase{
		{group, "region of 16 MiB", []int{largest}, func() error {
			return t.with(config{kind: t.reliable(), room: 16 << 20}, func(s *session) error { return s.message(verbs.OpWrite, largest, 0) })
		}},
		{group, "huge pages", []int{largest}, t.huge},
		{group, "relaxed ordering", []int{65, 2048}, t.relaxed},
		{group, "region of a dma-buf", []int{4096}, t.dmaBuf},
		{group, "rights that exclude each other", []int{}, func() error {
			return t.with(config{kind: t.reliable()}, func(s *session) error {
				if _, err := s.register(4096, verbs.AccessRemoteWrite, false); !errors.Is(err, unix.EINVAL) {
					return fmt.Errorf("register memory for remote write without local write: got error %v, want %v", err, unix.EINVAL)
				}
				return nil
			})
		}},
	}
}

// huge moves data in huge pages.
func (t *tester) huge() error {
	m, err := t.port.Context.NewMemory(1, verbs.MemoryOptions{Huge: true})
	if err != nil {
		return unsupported("no free huge pages (vm.nr_hugepages): %w", err)
	}
	if err := m.Close(); err != nil {
		return err
	}
	return t.with(config{kind: t.reliable(), room: largest + 4*guard, huge: true}, func(s *session) error {
		return errors.Join(s.message(verbs.OpWrite, largest, 0), s.message(verbs.OpRead, largest, 0))
	})
}

// relaxed moves data to regions with relaxed ordering.
func (t *tester) relaxed() error {
	if !t.port.Context.OptionalMRAccess() {
		return unsupported("the kernel has no optional access flags (Linux before 5.7)")
	}
	return t.with(config{kind: t.reliable(), access: verbs.AccessRelaxedOrdering}, func(s *session) error {
		for _, op := range []verbs.Opcode{verbs.OpSend, verbs.OpWriteWithImm, verbs.OpRead} {
			for _, n := range []int{65, 2048} {
				if err := s.message(op, n, 0); err != nil {
					return fmt.Errorf("%v: %w", op, err)
				}
			}
		}
		return nil
	})
}

// exportMemory returns a dma-buf from a driver without hardware: udmabuf, or vgem, which
// Debian 12 has.
func exportMemory() (*dmabuf.Buffer, error) {
	b, err := dmabuf.New(dmabuf.UDMABuf, 4096)
	if errors.Is(err, fs.ErrNotExist) {
		if card := dmabuf.VGEM(); card != "" {
			return dmabuf.New(card, 4096)
		}
	}
	return b, err
}

// dmaBuf writes to a region of a dma-buf.
func (t *tester) dmaBuf() (err error) {
	if err := t.port.Context.CheckDMABuf(); err != nil {
		return err
	}
	b, err := exportMemory()
	if err != nil {
		return unsupported("no source of dma-bufs: %w", err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	return t.with(config{kind: t.reliable()}, func(s *session) error {
		const iova = 1 << 32
		mr, err := s.pd.RegisterDMABuf(int(b.File.Fd()), 0, uint64(len(b.Bytes)), iova, allRights)
		if mr, err = keep(s, mr, err); err != nil {
			return err
		}
		s.prepare()
		id, err := s.post(s.a, verbs.SendWR{
			Opcode: verbs.OpWrite, Flags: verbs.SendSignaled, SGEs: []verbs.SGE{s.a.mr.SGE(0, 4096)}, RemoteAddr: iova, RKey: mr.RKey(),
		})
		if err != nil {
			return err
		}
		if _, err := s.one(s.a, id, verbs.CompletedWrite); err != nil {
			return err
		}
		if err := b.Begin(0, 4096); err != nil {
			return err
		}
		return verify(b.Bytes, 0, s.a.mr.Bytes()[:4096])
	})
}
