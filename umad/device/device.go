package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/nonblock"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options specify a port. The zero value is the port that the infiniband-diags tools
// would use; see [Host.Choose].
type Options struct {
	Device string // name, such as "mlx5_0"; "": any
	Port   uint8  // number; 0: any
	Host   Host
}

const defaultDev = "/dev/infiniband"

// Port is a local port, opened by its device node. It implements [umad.Port] and
// [umad.Responder]. Its device node is closed when it is garbage collected.
type Port struct {
	attr umad.PortAttr
	name string // device node path
	file *os.File
	conn *nonblock.Conn

	agents [256]agent // by management class

	out, in packet

	// For a device in a pair; see pair.go.
	smi    *Port          // sends subnet management packets; nil: the port itself
	reads  *nonblock.Conn // receives from both ports
	ready  *os.File       // epoll descriptor for both
	epoll  int            // ready's number
	from   *Port          // last message's port
	closed bool
}

// An agent is a registration with the kernel, which requires a
// registration for each class.
type agent struct {
	id         uint32
	registered bool
}

// Opener returns a function that opens a port, as [Open] does.
func Opener(o Options) func(context.Context) (umad.Port, error) {
	return func(context.Context) (umad.Port, error) {
		p, err := Open(o)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// Open opens a port to send from.
func Open(o Options) (*Port, error) {
	if version, err := o.Host.sysfs().MADABIVersion(); err == nil && version != uapi.UMADABIVersion {
		return nil, fmt.Errorf("open umad: kernel interface version: got %d, want %d", version, uapi.UMADABIVersion)
	}
	p, err := o.Host.Choose(o.Device, o.Port)
	if err != nil {
		return nil, err
	}
	return p.Open()
}

// Open opens the port, and for a port in a pair also the other port.
func (p LocalPort) Open() (*Port, error) {
	port, err := p.open()
	if err != nil || p.smi == nil {
		return port, err
	}
	if port.smi, err = p.smi.open(); err == nil {
		err = port.joinReads()
	}
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	return port, nil
}

// open opens the port's device node.
func (p LocalPort) open() (*Port, error) {
	path := filepath.Join(cmp.Or(p.host.Dev, defaultDev), p.Node)
	// A non-blocking file is served by Go's poller: a waiting read does not
	// block a thread.
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, newOpenError(path, err)
	}
	conn, err := nonblock.New(file)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Port{attr: p.Attr, name: path, file: file, conn: conn}, nil
}

// Attr describes the port.
func (p *Port) Attr() umad.PortAttr { return p.attr }

// packet is the unit in which the device node is read and written.
type packet struct {
	uapi.UMADHeader
	mad mad.Packet
}

const packetSize = int(unsafe.Sizeof(packet{}))

// The MAD follows the header without padding.
var _ [packetSize - uapi.UMADHeaderSize - mad.Size]struct{}

func (p *packet) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), packetSize) }

// Send hands a MAD to the kernel, which returns a request without a reply after its
// timeout. The kernel does not send a request again: the client does, and it learns from
// each timeout.
func (p *Port) Send(m *umad.Message) error {
	if p.closed {
		return p.failed("send MAD", fs.ErrClosed)
	}
	if p.smi != nil && m.MAD.Class().IsSMP() {
		return p.smi.Send(m)
	}
	id, err := p.agent(&m.MAD)
	if err != nil {
		return err
	}
	p.out.encode(m, id)
	out := p.out.bytes()
	if len(m.Rest) > 0 {
		// The kernel splits the data into segments (drivers/infiniband/core/user_mad.c).
		out = slices.Concat(out, m.Rest)
	}
	switch err := p.conn.Send(out); {
	case err == nil:
		return nil
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.ENOBUFS):
		return umad.ErrWouldBlock
	default:
		return p.failed("send MAD", err)
	}
}

// Recv returns the next MAD. It skips messages that are too short.
func (p *Port) Recv(m *umad.Message, deadline time.Time) error {
	if p.closed {
		return p.failed("receive MAD", fs.ErrClosed)
	}
	conn, from := p.conn, p
	if p.reads != nil {
		conn = p.reads
	}
	for {
		n, err := conn.Receive(p.in.bytes(), deadline)
		if p.reads != nil && p.from != nil {
			from = p.from
		}
		m.Rest = nil
		if errors.Is(err, unix.ENOSPC) {
			n, err = p.receiveLong(m, from, deadline)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return os.ErrDeadlineExceeded
		case err != nil:
			return from.failed("receive MAD", err)
		}
		if p.in.decode(m, n) {
			return nil
		}
	}
}

// maxMessage is the message size limit. The largest fabrics' records take a tenth of it.
const maxMessage = 1 << 30

// receiveLong reads a port's message that was too long for the buffer. The kernel kept
// it, and wrote its length into the header (drivers/infiniband/core/user_mad.c).
func (p *Port) receiveLong(m *umad.Message, from *Port, deadline time.Time) (int, error) {
	size := int(p.in.Length)
	if size <= packetSize || size > maxMessage {
		return 0, fmt.Errorf("message of %d bytes: %w", size, unix.EMSGSIZE)
	}
	long := make([]byte, size, size+mad.Size) // with room for the first segment's data
	n, err := from.conn.Receive(long, deadline)
	if err != nil {
		return 0, err
	}
	head := copy(p.in.bytes(), long[:n])
	m.Rest = long[head:n]
	return head, nil
}

// failed returns an operation's error. For a removed device the kernel returns EPIPE to
// an agent's registration, and EIO to a read or a write
// (drivers/infiniband/core/user_mad.c).
func (p *Port) failed(op string, err error) error {
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.EIO) || errors.Is(err, unix.ENODEV) {
		err = fmt.Errorf("%w: %w", umad.ErrDeviceRemoved, err)
	}
	return fmt.Errorf("%s by %s (%s): %w", op, p.name, p.attr.Device, err)
}

// WaitInThread makes Recv wait in a system call from now on, which occupies a thread, instead
// of in Go's poller. This shortens the time until a message is received: package ping has
// measurements. No Recv may be in progress.
func (p *Port) WaitInThread() error {
	if p.reads != nil {
		return p.reads.WaitInThread()
	}
	return p.conn.WaitInThread()
}

// Interrupt ends the current Recv wait, or the next wait.
func (p *Port) Interrupt() {
	if p.reads != nil {
		p.reads.Interrupt()
		return
	}
	p.conn.Interrupt()
}

// Close closes the device nodes. The kernel drops requests in flight.
func (p *Port) Close() error {
	p.closed = true
	err := errors.Join(p.file.Close(), p.conn.Release())
	if p.smi != nil {
		err = errors.Join(err, p.smi.Close())
	}
	if p.reads != nil {
		err = errors.Join(err, p.reads.Release())
	}
	if p.ready != nil {
		err = errors.Join(err, p.ready.Close())
	}
	return err
}

// agent returns the registration for a MAD's class. It registers the class on first use.
func (p *Port) agent(m *mad.Packet) (uint32, error) {
	a := &p.agents[m.Class()]
	if a.registered {
		return a.id, nil
	}
	r := registration(m)
	if err := p.ioctl(uapi.UMADRegisterAgent, unsafe.Pointer(&r)); err != nil {
		return 0, p.failed(fmt.Sprintf("register for %v", m.Class()), err)
	}
	*a = agent{id: r.ID, registered: true}
	return a.id, nil
}

// registration describes an agent for MADs like m that receives replies only. For
// classes with long replies it asks the kernel to acknowledge and reassemble the
// segments.
func registration(m *mad.Packet) uapi.UMADRegister {
	h := m.Header()
	r := uapi.UMADRegister{QPN: 1, Class: uint8(h.Class), ClassVers: h.ClassVersion}
	switch {
	case h.Class.IsSMP():
		r.QPN = 0
	case h.Class.HasOUI():
		r.OUI = mad.OpenIB // required, but used for unsolicited MADs only
	}
	if h.Class == mad.ClassSA || h.Class == mad.ClassSysstat {
		r.RMPPVersion = mad.RMPPVersion
	}
	return r
}

func (p *Port) ioctl(number uintptr, argument unsafe.Pointer) error {
	raw, err := p.file.SyscallConn()
	if err != nil {
		return err
	}
	var errno syscall.Errno
	if err := raw.Control(func(fd uintptr) {
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, number, uintptr(argument))
	}); err != nil {
		return err
	}
	if errno != 0 {
		return errno
	}
	return nil
}
