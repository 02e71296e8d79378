package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/dmabuf"
)

// A gpu is a device of CUDA.
type gpu struct {
	*driver
	name    string
	device  int32
	context uintptr
}

// open opens the GPU with a number or a PCI address.
func open(which string) (*gpu, error) {
	d, err := load()
	if err != nil {
		return nil, err
	}
	g := &gpu{driver: d}
	if err := d.check("cuInit", d.initialize(0)); err != nil {
		return nil, err
	}
	if number, failed := strconv.ParseUint(which, 10, 16); failed == nil {
		err = d.check("cuDeviceGet", d.deviceGet(&g.device, int32(number)))
	} else {
		err = d.check("cuDeviceGetByPCIBusId", d.deviceByBusID(&g.device, which))
	}
	if err != nil {
		return nil, fmt.Errorf("find GPU %s: %w", which, err)
	}
	name := make([]byte, 128)
	if err := d.check("cuDeviceGetName", d.deviceName(&name[0], int32(len(name)), g.device)); err != nil {
		return nil, err
	}
	g.name = fmt.Sprintf("GPU %s (%s)", which, unix.ByteSliceToString(name))
	able := int32(0)
	if err := d.check("cuDeviceGetAttribute", d.attribute(&able, attributeDMABufSupported, g.device)); err != nil {
		return nil, err
	}
	if able == 0 {
		return nil, fmt.Errorf("%s exports no dma-bufs: NVIDIA's open kernel modules and Linux 5.12 are required", g.name)
	}
	if err := d.check("cuDevicePrimaryCtxRetain", d.retainContext(&g.context, g.device)); err != nil {
		return nil, err
	}
	return g, nil
}

// Name returns the number or address, and the model.
func (g *gpu) Name() string { return g.name }

// call calls a function of CUDA in the context of the GPU, which belongs to a thread.
func (g *gpu) call(name string, f func() result) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := g.check("cuCtxSetCurrent", g.setContext(g.context)); err != nil {
		return err
	}
	return g.check(name, f())
}

// memory is memory of a GPU.
type memory struct {
	*gpu
	allocated, start, size uint64
}

// Allocate allocates memory at the start of a page of the host, which dma-bufs consist of.
func (g *gpu) Allocate(size int) (dmabuf.Memory, error) {
	page, at := uint64(os.Getpagesize()), uint64(0)
	if err := g.call("cuMemAlloc", func() result { return g.alloc(&at, uint64(size)+page) }); err != nil {
		return nil, err
	}
	m := &memory{g, at, (at + page - 1) &^ (page - 1), uint64(size)}
	if err := g.call("cuMemsetD8", func() result { return g.setBytes(m.start, 0, m.size) }); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// Close releases the memory.
func (m *memory) Close() error {
	return m.call("cuMemFree", func() result { return m.free(m.allocated) })
}

// Export exports the memory as a dma-buf.
func (m *memory) Export() (*os.File, error) {
	fd := int32(-1)
	err := m.call("cuMemGetHandleForAddressRange", func() result {
		return m.exportRange(&fd, m.start, m.size, handleDMABuf, 0)
	})
	if err != nil {
		return nil, fmt.Errorf("export %d bytes of %s as a dma-buf: %w", m.size, m.name, err)
	}
	return os.NewFile(uintptr(fd), "dma-buf"), nil
}

// Read copies memory that an RDMA device may have written.
func (m *memory) Read(to []byte, at int) error {
	return m.call("cuMemcpyDtoH", func() result {
		if r := m.flushRDMA(flushTargetContext, flushToOwner); r != 0 && r != errorNotSupported {
			return r
		}
		return m.toHost(unsafe.Pointer(unsafe.SliceData(to)), m.start+uint64(at), uint64(len(to)))
	})
}

// Write copies to the memory.
func (m *memory) Write(at int, from []byte) error {
	return m.call("cuMemcpyHtoD", func() result {
		return m.toDevice(m.start+uint64(at), unsafe.Pointer(unsafe.SliceData(from)), uint64(len(from)))
	})
}
