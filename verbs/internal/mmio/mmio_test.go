// The race detector does not know barriers, and other processors lack them.

//go:build !race && (amd64 || arm64 || ppc64le || riscv64 || s390x)

package mmio

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/ibkit/ibkit/internal/dmamem"
	"github.com/ibkit/ibkit/verbs/provider"
)

// The barriers run and return, and stores before a barrier are visible with stores after it.
// make foreign runs them for each processor that has its own.
func TestBarriers(t *testing.T) {
	m, err := dmamem.New(4096, dmamem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b := m.Bytes()
	data, flag := (*uint32)(unsafe.Pointer(&b[0])), &b[1024]
	const rounds = 1000
	var reader sync.WaitGroup
	reader.Go(func() {
		for seen := uint32(0); seen < rounds; {
			v := Acquire(flag)
			now := *(*uint32)(unsafe.Pointer(&v))
			if got := load(data); got < now {
				t.Errorf("got data %d with flag %d", got, now)
				return
			}
			if seen = now; seen < rounds {
				runtime.Gosched()
			}
		}
	})
	for i := uint32(1); i <= rounds; i++ {
		provider.Store32(data, i)
		if i%2 == 0 {
			StoreBarrier()
			provider.Store32((*uint32)(unsafe.Pointer(flag)), i)
		} else {
			DeviceBarrier()
			Store32(unsafe.Pointer(flag), i)
		}
		runtime.Gosched()
	}
	reader.Wait()
}

// load is a load that the compiler does not omit.
//
//go:noinline
func load(p *uint32) uint32 { return *p }
