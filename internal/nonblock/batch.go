package nonblock

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mmsghdr is struct mmsghdr from <sys/socket.h>.
type mmsghdr struct {
	unix.Msghdr
	len uint32 // received message length
}

// A Batch holds messages that a single system call sends or receives on a socket.
type Batch struct {
	buffers [][]byte
	iovecs  []unix.Iovec
	headers []mmsghdr
}

// NewBatch returns a batch with count buffers, each with size bytes.
func NewBatch(count, size int) *Batch {
	b := &Batch{
		buffers: make([][]byte, count),
		iovecs:  make([]unix.Iovec, count),
		headers: make([]mmsghdr, count),
	}
	room := make([]byte, count*size)
	for i := range count {
		b.buffers[i] = room[i*size : (i+1)*size : (i+1)*size]
		b.iovecs[i].Base = &b.buffers[i][0]
		b.iovecs[i].SetLen(size)
		b.headers[i].Iov = &b.iovecs[i]
		b.headers[i].SetIovlen(1)
	}
	return b
}

// Size returns the buffer count.
func (b *Batch) Size() int { return len(b.buffers) }

// Buffer returns a whole buffer, to be filled before [Conn.SendBatch].
func (b *Batch) Buffer(i int) []byte { return b.buffers[i] }

// Message returns the message that [Conn.ReceiveBatch] read into a buffer.
func (b *Batch) Message(i int) []byte { return b.buffers[i][:b.headers[i].len] }

// SendBatch writes the first n buffers of b as n messages and returns the count of
// messages that the socket accepted. The error is for the first message that it did not
// accept; EAGAIN if the socket has no room.
func (c *Conn) SendBatch(b *Batch, n int) (int, error) {
	c.batch = b.headers[:n]
	if err := c.raw.Control(c.writeBatch); err != nil {
		return 0, err
	}
	if c.err != nil {
		return 0, c.err
	}
	if c.n < n {
		// The kernel does not report the error for the next message. A full queue is by
		// far the most frequent error, and any other error is reported when that message
		// is sent again.
		return c.n, unix.EAGAIN
	}
	return n, nil
}

// ReceiveBatch reads up to n messages into b and returns their number. It waits for the
// first message as [Conn.Receive] does.
func (c *Conn) ReceiveBatch(b *Batch, n int, deadline time.Time) (int, error) {
	c.batch = b.headers[:n]
	return c.next(c.readBatch, deadline)
}

// mmsg runs the system call sendmmsg or recvmmsg without waiting. The call does not block,
// so the scheduler is not informed: otherwise its monitor thread wakes up each 20 µs to
// give the processor that runs a call with many messages to another thread.
func mmsg(call, fd uintptr, batch []mmsghdr) (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(call, fd, uintptr(unsafe.Pointer(&batch[0])), uintptr(len(batch)), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
			continue
		}
		return 0, errno
	}
}
