package verbs

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// mlx5Context is a current kernel's response to GET_CONTEXT.
var mlx5Context = uapi.MLX5AllocUcontextResp{
	BFRegSize: 512, CQEVersion: 1, MaxSQDescSize: 1024, MaxRQDescSize: 512, MaxSendWQEBB: 32768, MaxRecvWR: 32768, MaxSRQRecvWR: 32768,
	ResponseLength: uapi.MLX5AllocUcontextRespSize,
}

// openMLX5 opens a fake kernel's device with a response to GET_CONTEXT.
func openMLX5(t *testing.T, response uapi.MLX5AllocUcontextResp, answer func(call) error) (*Context, *fake) {
	t.Helper()
	f := &fake{t: t, driver: DriverMLX5}
	f.answer = func(c call) error {
		err := contexts(answer)(c)
		if c.Is(uapi.ObjectDevice, uapi.MethodGetContext) && !c.Probe {
			c.Set(uapi.AttrUHWOut, uapi.Bytes(&response))
		}
		return err
	}
	f.maps = func(_ int64, length int) ([]byte, error) { return make([]byte, length), nil }
	return openKernel(t, f), f
}

// With a kernel or an adapter of another kind, queues have an error with the cause, and
// queries work.
func TestMLX5_Context(t *testing.T) {
	for cause, change := range map[string]func(r *uapi.MLX5AllocUcontextResp){
		"completions of version 0":  func(r *uapi.MLX5AllocUcontextResp) { *r = uapi.MLX5AllocUcontextResp{} },
		"static doorbell pages":     func(r *uapi.MLX5AllocUcontextResp) { r.TotBFRegs = 16 },
		"got a response of 40":      func(r *uapi.MLX5AllocUcontextResp) { r.ResponseLength = 40 },
		"at most 1 and 512":         func(r *uapi.MLX5AllocUcontextResp) { r.MaxSQDescSize = 1 },
		"registers of 1000 bytes":   func(r *uapi.MLX5AllocUcontextResp) { r.BFRegSize = 1000 },
		"at most 4294967295 blocks": func(r *uapi.MLX5AllocUcontextResp) { r.MaxSendWQEBB = 1<<32 - 1 },
	} {
		t.Run(cause, func(t *testing.T) {
			r := mlx5Context
			change(&r)
			c, _ := openMLX5(t, r, func(c call) error {
				c.Set(uapi.AttrQueryPortResp, make([]byte, uapi.QueryPortRespExSize))
				return nil
			})
			if err := c.CheckQueues(); !errors.Is(err, ErrNoProvider) || !strings.Contains(err.Error(), cause) {
				t.Errorf("got error %v, want %v with %q", err, ErrNoProvider, cause)
			}
			if _, err := c.CreateCQ(CQInit{Entries: 1}); !errors.Is(err, ErrNoProvider) {
				t.Errorf("got error %v, want %v", err, ErrNoProvider)
			}
			if _, err := c.QueryPort(1); err != nil {
				t.Error(err)
			}
		})
	}
}

// Doorbell pages that the kernel refuses or describes wrongly, and completion queues with
// another size than requested, are errors. The kernel's objects are destroyed, and Close
// unmaps the rest.
func TestMLX5_Queues(t *testing.T) {
	for name, test := range map[string]struct {
		length, cqe uint32
		err         unix.Errno // doorbell page's
		want        error
		destroyed   string
	}{
		"valid":              {4096, 7, 0, nil, ""},
		"no doorbell page":   {4096, 7, unix.ENOSPC, unix.ENOSPC, ""},
		"short doorbell":     {100, 7, 0, ErrCorrupt, "doorbell"},
		"other number":       {4096, 6, 0, ErrCorrupt, "queue"},
		"number of 32 bits":  {4096, 1<<32 - 1, 0, ErrCorrupt, "queue"},
		"pages of 64 KiB":    {65536, 7, 0, nil, ""},
		"pages of odd sizes": {4097, 7, 0, ErrCorrupt, "doorbell"},
	} {
		t.Run(name, func(t *testing.T) {
			destroyed := ""
			c, f := openMLX5(t, mlx5Context, func(c call) error {
				switch {
				case c.Is(uapi.MLX5ObjectUAR, uapi.MLX5MethodUARAlloc):
					c.Set(uapi.MLX5AttrUARLength, binary.NativeEndian.AppendUint32(nil, test.length))
					c.Set(uapi.MLX5AttrUARPageID, binary.NativeEndian.AppendUint32(nil, 7))
					if test.err != 0 {
						return test.err
					}
				case c.Is(uapi.MLX5ObjectUAR, uapi.MLX5MethodUARDestroy):
					destroyed += "doorbell"
				case c.Is(uapi.ObjectCQ, uapi.MethodCQCreate):
					c.SetHandle(uapi.AttrCreateCQHandle, 3)
					c.Set(uapi.AttrCreateCQRespCQE, binary.NativeEndian.AppendUint32(nil, test.cqe))
				case c.Is(uapi.ObjectCQ, uapi.MethodCQDestroy):
					destroyed += "queue"
				}
				return nil
			})
			if _, err := c.CreateCQ(CQInit{Entries: 5}); !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
			if destroyed != test.destroyed {
				t.Errorf("got %q destroyed, want %q", destroyed, test.destroyed)
			}
			mapped := 1
			if test.err != 0 || test.destroyed == "doorbell" {
				mapped = 0
			}
			if err := c.Close(); err != nil || f.unmapped != mapped {
				t.Errorf("Close: got error %v, %d mappings removed, want %d", err, f.unmapped, mapped)
			}
		})
	}
}
