package main

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// result is a CUresult of <cuda.h>.
type result int32

const errorNotSupported result = 801

// Values of <cuda.h>.
const (
	attributeDMABufSupported = 124
	handleDMABuf             = 1   // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
	flushTargetContext       = 0   // CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX
	flushToOwner             = 100 // CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER
)

// A driver is the functions of libcuda that this program calls, by their names there.
type driver struct {
	initialize     func(flags uint32) result
	deviceGet      func(device *int32, number int32) result
	deviceByBusID  func(device *int32, address string) result
	deviceName     func(name *byte, size, device int32) result
	attribute      func(value *int32, attribute, device int32) result
	retainContext  func(context *uintptr, device int32) result
	setContext     func(context uintptr) result
	alloc          func(address *uint64, size uint64) result
	free           func(address uint64) result
	setBytes       func(address uint64, value uint8, size uint64) result
	toDevice       func(to uint64, from unsafe.Pointer, size uint64) result
	toHost         func(to unsafe.Pointer, from, size uint64) result
	exportRange    func(handle *int32, address, size uint64, kind int32, flags uint64) result
	flushRDMA      func(target, scope int32) result
	describeResult func(r result, text **byte) result
}

// load loads libcuda, which NVIDIA's driver installs.
func load() (*driver, error) {
	lib, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load NVIDIA's driver library: %w", err)
	}
	d := &driver{}
	for _, f := range []struct {
		name string
		to   any
	}{
		{"cuInit", &d.initialize}, {"cuDeviceGet", &d.deviceGet}, {"cuDeviceGetByPCIBusId", &d.deviceByBusID},
		{"cuDeviceGetName", &d.deviceName}, {"cuDeviceGetAttribute", &d.attribute},
		{"cuDevicePrimaryCtxRetain", &d.retainContext}, {"cuCtxSetCurrent", &d.setContext},
		{"cuMemAlloc_v2", &d.alloc}, {"cuMemFree_v2", &d.free}, {"cuMemsetD8_v2", &d.setBytes},
		{"cuMemcpyHtoD_v2", &d.toDevice}, {"cuMemcpyDtoH_v2", &d.toHost},
		{"cuMemGetHandleForAddressRange", &d.exportRange}, {"cuFlushGPUDirectRDMAWrites", &d.flushRDMA},
		{"cuGetErrorString", &d.describeResult},
	} {
		at, err := purego.Dlsym(lib, f.name)
		if err != nil {
			return nil, fmt.Errorf("find %s in libcuda.so.1, which CUDA 11.7 and later have: %w", f.name, err)
		}
		purego.RegisterFunc(f.to, at)
	}
	return d, nil
}

// check converts a result to an error.
func (d *driver) check(name string, r result) error {
	if r == 0 {
		return nil
	}
	var text *byte
	if d.describeResult(r, &text) == 0 && text != nil {
		return fmt.Errorf("%s: %s (CUDA error %d)", name, unix.BytePtrToString(text), r)
	}
	return fmt.Errorf("%s: CUDA error %d", name, r)
}
