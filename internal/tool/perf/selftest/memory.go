package selftest

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs"
)

// memories returns the cases about memory.
func (t *tester) memories() []testCase {
	const group = "device"
	return []testCase{
		{group, "region of 16 MiB", []int{largest}, func() error {
			return t.with(config{kind: verbs.QPTypeRC, room: 16 << 20}, func(s *session) error { return s.message(verbs.OpWrite, largest, 0) })
		}},
		{group, "huge pages", []int{largest}, t.huge},
		{group, "relaxed ordering", []int{65, 2048}, t.relaxed},
		{group, "region of a dma-buf", []int{4096}, t.dmaBuf},
		{group, "rights that exclude each other", []int{}, func() error {
			return t.with(config{kind: verbs.QPTypeRC}, func(s *session) error {
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
	return t.with(config{kind: verbs.QPTypeRC, room: largest + 4*guard, huge: true}, func(s *session) error {
		return errors.Join(s.message(verbs.OpWrite, largest, 0), s.message(verbs.OpRead, largest, 0))
	})
}

// relaxed moves data to regions with relaxed ordering.
func (t *tester) relaxed() error {
	if !t.port.Context.OptionalMRAccess() {
		return unsupported("the kernel has no optional access flags (Linux before 5.7)")
	}
	return t.with(config{kind: verbs.QPTypeRC, access: verbs.AccessRelaxedOrdering}, func(s *session) error {
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

// udmabufCreate is the argument of UDMABUF_CREATE (struct udmabuf_create of
// <linux/udmabuf.h>).
type udmabufCreate struct {
	memfd, flags uint32
	offset, size uint64
}

// ioctlUdmabufCreate is UDMABUF_CREATE: _IOW('u', 0x42, struct udmabuf_create).
const ioctlUdmabufCreate = 1<<30 | unsafe.Sizeof(udmabufCreate{})<<16 | 'u'<<8 | 0x42

// newDMABuf returns a dma-buf of memory of this process, and the memory.
func newDMABuf(size int) (file *os.File, memory []byte, err error) {
	device, err := os.OpenFile("/dev/udmabuf", os.O_RDWR, 0)
	if err != nil {
		return nil, nil, unsupported("no source of dma-bufs: %w", err)
	}
	defer device.Close()
	fd, err := unix.MemfdCreate("ibkit", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, os.NewSyscallError("memfd_create", err)
	}
	memfd := os.NewFile(uintptr(fd), "memfd")
	defer memfd.Close()
	if err := memfd.Truncate(int64(size)); err != nil {
		return nil, nil, err
	}
	// udmabuf requires that the size does not shrink.
	if _, err := unix.FcntlInt(memfd.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK); err != nil {
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	if memory, err = unix.Mmap(int(memfd.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	arg := udmabufCreate{memfd: uint32(memfd.Fd()), size: uint64(size)}
	buf, _, errno := unix.Syscall(unix.SYS_IOCTL, device.Fd(), ioctlUdmabufCreate, uintptr(unsafe.Pointer(&arg)))
	if errno != 0 {
		return nil, nil, errors.Join(os.NewSyscallError("create dma-buf", errno), unix.Munmap(memory))
	}
	return os.NewFile(buf, "dma-buf"), memory, nil
}

// dmaBuf writes to a region of a dma-buf.
func (t *tester) dmaBuf() (err error) {
	size := max(4096, unix.Getpagesize())
	file, memory, err := newDMABuf(size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), unix.Munmap(memory)) }()
	return t.with(config{kind: verbs.QPTypeRC}, func(s *session) error {
		const iova = 1 << 32
		mr, err := s.pd.RegisterDMABuf(int(file.Fd()), 0, uint64(size), iova, allRights)
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
		return verify(memory, 0, s.a.mr.Bytes()[:4096])
	})
}
