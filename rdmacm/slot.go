package rdmacm

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A slot is memory for a command and its response. It is not in Go's heap, so that
// the kernel may write to it: a connection takes some 30 commands, and to allocate and pin
// their memory took a fifth of the time that the program spent outside the kernel.
type slot struct {
	response [1024]byte
	message  [1024]byte
}

// slotsAtOnce is the slot count mapped at a time.
const slotsAtOnce = 32

// slots are the process's free slots. Commands return theirs, so that there are as
// many slots as commands at a time.
var slots struct {
	lock sync.Mutex
	free []*slot
}

// takeSlot returns a free slot, with undefined contents.
func takeSlot() (*slot, error) {
	slots.lock.Lock()
	defer slots.lock.Unlock()
	if len(slots.free) == 0 {
		const size = unsafe.Sizeof(slot{})
		memory, err := unix.Mmap(-1, 0, slotsAtOnce*int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		if err != nil {
			return nil, fmt.Errorf("map memory for commands: %w", err)
		}
		for i := range slotsAtOnce {
			slots.free = append(slots.free, (*slot)(unsafe.Pointer(&memory[i*int(size)])))
		}
	}
	last := len(slots.free) - 1
	s := slots.free[last]
	slots.free = slots.free[:last]
	return s, nil
}

func (s *slot) free() {
	slots.lock.Lock()
	defer slots.lock.Unlock()
	slots.free = append(slots.free, s)
}

// address returns the response address for the kernel.
func (s *slot) address() uint64 { return uint64(uintptr(unsafe.Pointer(&s.response))) }

// command fills in a command with its header, clears the response with size out, and
// returns the command.
func (s *slot) command(cmd uint32, body []byte, out uintptr) []byte {
	clear(s.response[:out])
	h := uapi.CMHeader{Cmd: cmd, In: uint16(len(body)), Out: uint16(out)}
	n := copy(s.message[:], uapi.Bytes(&h))
	n += copy(s.message[n:], body)
	return s.message[:n]
}
