package dmabuf

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// A Device allocates memory that only the device addresses.
type Device interface {
	Name() string
	Allocate(size int) (Memory, error) // whole pages, zero
}

// Memory is a part of a device's memory.
type Memory interface {
	Export() (*os.File, error) // as a dma-buf that begins with the memory
	Read(to []byte, at int) error
	Write(at int, from []byte) error
	Close() error
}

// Serve serves a [Client] until it disconnects. failed, unless nil, is the reason why the
// device is not usable, which the client receives.
func Serve(conn *net.UnixConn, d Device, failed error) error {
	if failed != nil {
		return errors.Join(send(conn, reply{Error: failed.Error()}), conn.Close())
	}
	s := server{conn: conn, device: d}
	err := send(conn, reply{Device: d.Name()})
	for err == nil {
		var r request
		if _, err = receive(conn, &r, 0); err == nil {
			err = s.answer(r)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	for _, a := range s.buffers {
		err = errors.Join(err, unix.Munmap(a.copy), a.Close())
	}
	return errors.Join(err, conn.Close())
}

// A server has the memory of a client.
type server struct {
	conn    *net.UnixConn
	device  Device
	buffers []allocation
}

// An allocation is memory, and the copy that the client shares.
type allocation struct {
	Memory
	copy []byte
}

// answer carries out a request. Its error is that of the connection.
func (s *server) answer(r request) error {
	var err error
	switch {
	case r.Op == opAllocate:
		return s.allocate(r.Length)
	case r.Buffer < 0 || r.Buffer >= len(s.buffers):
		err = fmt.Errorf("no buffer %d", r.Buffer)
	default:
		err = s.buffers[r.Buffer].move(r)
	}
	if err != nil {
		return send(s.conn, reply{Error: err.Error()})
	}
	return send(s.conn, reply{})
}

// move copies between the memory and its copy.
func (a *allocation) move(r request) error {
	if r.At < 0 || r.Length < 0 || r.At > len(a.copy) || r.Length > len(a.copy)-r.At {
		return fmt.Errorf("%d bytes at %d: the buffer has %d bytes", r.Length, r.At, len(a.copy))
	}
	part := a.copy[r.At : r.At+r.Length]
	switch r.Op {
	case opRead:
		return a.Read(part, r.At)
	case opWrite:
		return a.Write(r.At, part)
	}
	return fmt.Errorf("unknown operation %q", r.Op)
}

// allocate allocates memory and sends its files.
func (s *server) allocate(size int) error {
	a, exported, shared, err := s.create(size)
	defer exported.Close() // the client has its own
	defer shared.Close()
	if err != nil {
		if a.Memory != nil {
			err = errors.Join(err, a.Close())
		}
		return send(s.conn, reply{Error: err.Error()})
	}
	s.buffers = append(s.buffers, a)
	return send(s.conn, reply{}, exported, shared)
}

// create allocates memory, and exports it. Files may be nil after an error.
func (s *server) create(size int) (a allocation, exported, shared *os.File, err error) {
	if size <= 0 {
		return a, nil, nil, fmt.Errorf("got size %d, want at least 1", size)
	}
	if a.Memory, err = s.device.Allocate(size); err != nil {
		return a, nil, nil, err
	}
	if exported, err = a.Export(); err != nil {
		return a, nil, nil, err
	}
	if shared, err = sharedMemory(size); err == nil {
		a.copy, err = mapFile(shared, size)
	}
	return a, exported, shared, err
}
