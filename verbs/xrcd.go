package verbs

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// An XRCD is an XRC domain (extended reliable connection, annex A14 of the InfiniBand
// Architecture, volume 1). A message names the SRQ that receives it: any of the domain, of every
// process that has opened the domain.
type XRCD struct{ object }

// XRCDInit are the OpenXRCD parameters.
type XRCDInit struct {
	// File names the domain: processes that open a domain with the same file share it.
	// Nil is a domain of its own.
	File *os.File

	// MustExist fails unless another process has opened the domain, MustCreate if a process
	// has.
	MustExist, MustCreate bool
}

// OpenXRCD opens an XRC domain, which it creates if necessary.
func (c *Context) OpenXRCD(init XRCDInit) (*XRCD, error) {
	const op = "open XRC domain"
	o, err := c.newObject(op, uapi.ObjectXRCD)
	if err != nil {
		return nil, err
	}
	x := &XRCD{o}
	core := uapi.OpenXRCD{FD: uapi.NoXRCDFile, OFlags: unix.O_CREAT}
	if init.File != nil {
		core.FD = uint32(init.File.Fd())
	}
	if init.MustExist {
		core.OFlags &^= unix.O_CREAT
	}
	if init.MustCreate {
		core.OFlags |= unix.O_EXCL
	}
	var resp uapi.OpenXRCDResp
	if err = x.invoke(op, uapi.CmdOpenXRCD, uapi.Bytes(&core), uapi.Bytes(&resp), nil, nil); err != nil {
		return nil, x.fail(noop, c.limit("XRC domains", err))
	}
	x.handle = resp.Handle
	return register(&x.object, x), nil
}

// CreateQP creates a queue pair of type QPTypeXRCTarget in the state RESET. It has no
// queues of its own and receives for the domain's SRQs. It exists until all processes that
// use it have closed it.
func (x *XRCD) CreateQP() (*QP, error) {
	const op = "create XRC target QP"
	if x.context.provider == nil {
		return nil, x.context.noProvider(op)
	}
	return x.context.createQP(op, QPInit{Type: QPTypeXRCTarget}, nil, x)
}

// OpenQP opens a queue pair of type QPTypeXRCTarget that another process has created in
// the domain. state is its state, which the kernel does not return.
func (x *XRCD) OpenQP(number uint32, state QPState) (*QP, error) {
	op := fmt.Sprintf("open QP %#x", number)
	c := x.context
	if c.provider == nil {
		return nil, c.noProvider(op)
	}
	if err := c.ensureEvents(); err != nil {
		return nil, err
	}
	o, err := c.newObject(op, uapi.ObjectQP, &x.object)
	if err != nil {
		return nil, err
	}
	qp := &QP{object: o, init: QPInit{Type: QPTypeXRCTarget}, number: number, queue: target{}, state: state}
	core := uapi.OpenQP{UserHandle: qp.id, PDHandle: x.handle, QPN: number, QPType: uint8(QPTypeXRCTarget)}
	var resp uapi.CreateQPResp
	if err := qp.invoke(op, uapi.CmdOpenQP, uapi.Bytes(&core), uapi.Bytes(&resp), nil, nil); err != nil {
		return nil, qp.fail(noop, err)
	}
	qp.handle = resp.QPHandle
	return register(&qp.object, qp), nil
}

// Close closes the domain. It returns ErrBusy while objects use the domain, and
// fs.ErrClosed if it is closed already.
func (x *XRCD) Close() error {
	return x.close(func() error {
		return x.destroy(uapi.MethodXRCDDestroy, uapi.AttrDestroyXRCDHandle, 0, nil)
	}, noop)
}

// A target is a QPTypeXRCTarget's queues: none.
type target struct{}

func (target) Cap() QPCap                     { return QPCap{} }
func (target) PostSend([]SendWR) (int, error) { return 0, ErrOpcode }
func (target) PostRecv([]RecvWR) (int, error) { return 0, ErrOpcode }
func (target) Reset()                         {}
func (target) Close() error                   { return nil }
