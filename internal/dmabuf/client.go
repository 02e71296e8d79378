package dmabuf

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/jsonframe"
)

// A Client has the memory of a program that allocates it on a device. Its methods may be
// called concurrently, except New and Close.
type Client struct {
	Device string // name of the device

	conn    *net.UnixConn
	limit   time.Duration // of requests
	lock    sync.Mutex    // of the connection: a request waits for its reply
	buffers int
	program *exec.Cmd // or nil
	stderr  strings.Builder
}

var errEnded = errors.New("the program has ended")

// replyTime is the longest time of a request. The first use of a GPU takes seconds.
const replyTime = time.Minute

// Dial connects to a program that listens on a Unix socket of type SOCK_SEQPACKET.
func Dial(path string) (*Client, error) {
	conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	return (&Client{conn: conn}).greet()
}

// Start starts a program with the socket as its standard input. It ends with Close.
func Start(name string, args ...string) (*Client, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket")
	conn, err := net.FileConn(ours)
	if err := errors.Join(err, ours.Close()); err != nil {
		return nil, errors.Join(err, theirs.Close())
	}
	c := &Client{conn: conn.(*net.UnixConn), program: exec.Command(name, args...)}
	c.program.Stdin, c.program.Stderr = theirs, &c.stderr
	c.program.SysProcAttr = &unix.SysProcAttr{Setpgid: true} // an interrupt by the terminal reaches the client only
	err = c.program.Start()
	_ = theirs.Close() // the program has its own, and its end ends the connection
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c.greet()
}

// greet awaits the name of the device.
func (c *Client) greet() (*Client, error) {
	c.limit = replyTime
	r, _, err := c.next(0)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	c.Device = jsonframe.Printable(r.Device)
	return c, nil
}

// next receives a reply.
func (c *Client) next(files int) (r reply, received []*os.File, err error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(c.limit)); err != nil {
		return r, nil, err
	}
	received, err = receive(c.conn, &r, files)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		// A late reply must not be taken for that to another request.
		err = errors.Join(fmt.Errorf("no reply within %v", c.limit), c.conn.Close())
		c.kill()
	case errors.Is(err, io.EOF), errors.Is(err, unix.ECONNRESET):
		err = errEnded
	case err == nil && r.Error != "":
		closeAll(received)
		err = errors.New(jsonframe.Printable(r.Error))
	case err == nil && len(received) != files:
		closeAll(received)
		err = errors.New("got no dma-buf")
	}
	return r, received, err
}

// call sends a request and receives its reply.
func (c *Client) call(r request, files int) ([]*os.File, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	err := send(c.conn, r)
	if errors.Is(err, unix.EPIPE) {
		err = errEnded
	}
	if err != nil {
		return nil, err
	}
	_, received, err := c.next(files)
	return received, err
}

// New allocates memory on the device, initially zero.
func (c *Client) New(size int) (*Buffer, error) {
	size = wholePages(size)
	fail := func(err error) (*Buffer, error) {
		return nil, fmt.Errorf("allocate %d bytes on %s: %w", size, c.Device, err)
	}
	files, err := c.call(request{Op: opAllocate, Length: size}, 2)
	if err != nil {
		return fail(err)
	}
	b := &Buffer{File: files[0], client: c, number: c.buffers}
	c.buffers++
	b.Bytes, err = mapFile(files[1], size)
	if err := errors.Join(err, files[1].Close()); err != nil {
		return fail(errors.Join(err, b.File.Close()))
	}
	return b, nil
}

// copy copies between the memory and its shared copy.
func (c *Client) copy(op string, buffer, at, length int) error {
	if _, err := c.call(request{Op: op, Buffer: buffer, At: at, Length: length}, 0); err != nil {
		return fmt.Errorf("%s %d bytes on %s: %w", op, length, c.Device, err)
	}
	return nil
}

// kill ends the program, which may be stopped.
func (c *Client) kill() {
	if c.program != nil {
		_ = c.program.Process.Kill() // it may have ended
	}
}

// Close ends the connection and the program, which releases its memory.
func (c *Client) Close() error {
	err := c.conn.Close()
	if errors.Is(err, net.ErrClosed) { // after a time-out
		err = nil
	}
	if c.program == nil {
		return err
	}
	defer time.AfterFunc(c.limit, c.kill).Stop()
	if ended := c.program.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("%s: %w: %s", c.program.Path, ended, strings.TrimSpace(c.stderr.String())))
	}
	return err
}
