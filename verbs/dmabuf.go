package verbs

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// RegisterDMABuf registers another device's memory: length bytes in a dma-buf from
// an offset on. The device addresses them from iova on. offset and iova must be
// equal modulo the page size, or RegisterDMABuf returns EINVAL. It returns
// ErrUnknownMethod before Linux 5.12, and ErrUnsupported for a driver without dma-bufs,
// such as Soft-RoCE.
func (pd *PD) RegisterDMABuf(fd int, offset, length, iova uint64, access Access) (*MR, error) {
	op := fmt.Sprintf("register %d bytes of a dma-buf", length)
	if !pd.context.OptionalMRAccess() {
		access &^= optionalAccess
	}
	if err := checkAccess(access); err != nil {
		return nil, fmt.Errorf("%s of %s: %w", op, pd.context.name, err)
	}
	o, err := pd.context.newObject(op, uapi.ObjectMR, &pd.object)
	if err != nil {
		return nil, err
	}
	mr := &MR{object: o, addr: iova, length: length}
	file := uint32(fd)
	r := newRequest(op, uapi.ObjectMR, uapi.MethodRegDMABufMR)
	handle := r.handle(uapi.AttrRegDMABufMRHandle, 0)
	r.handle(uapi.AttrRegDMABufMRPDHandle, pd.handle)
	r.in(uapi.AttrRegDMABufMROffset, uapi.Bytes(&offset))
	r.in(uapi.AttrRegDMABufMRLength, uapi.Bytes(&length))
	r.in(uapi.AttrRegDMABufMRIOVA, uapi.Bytes(&iova))
	r.in(uapi.AttrRegDMABufMRFD, uapi.Bytes(&file))
	r.flags32(uapi.AttrRegDMABufMRAccessFlags, uint32(access))
	r.out(uapi.AttrRegDMABufMRRespLKey, uapi.Bytes(&mr.lkey))
	r.out(uapi.AttrRegDMABufMRRespRKey, uapi.Bytes(&mr.rkey))
	if err := pd.context.call(r); err != nil {
		return nil, mr.fail(noop, pd.context.limit("MRs", err))
	}
	mr.handle = uint32(createdHandle(handle))
	return register(&mr.object, mr), nil
}

// CheckDMABuf returns nil if the device registers dma-bufs, and otherwise the error of
// [PD.RegisterDMABuf]. It needs no dma-buf: the kernel finds the missing file only after
// it has found the method and the driver's function.
func (c *Context) CheckDMABuf() error {
	pd, err := c.AllocPD()
	if err != nil {
		return err
	}
	_, err = pd.RegisterDMABuf(-1, 0, uint64(unix.Getpagesize()), 0, AccessLocalWrite)
	if errors.Is(err, unix.EBADF) {
		err = nil
	}
	return errors.Join(err, pd.Close())
}
