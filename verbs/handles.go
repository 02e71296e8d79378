package verbs

import (
	"encoding/binary"
	"fmt"

	"github.com/ibkit/ibkit/internal/uapi"
)

// firstHandles is the handle count that the first request has room for,
// maxHandles the number that fits into a response.
const (
	firstHandles = 256
	maxHandles   = 1 << 13
)

// Handles returns the kernel's handles for a single object kind in this context,
// in no particular order, at most 8192. Linux supports it since 5.1.
func (c *Context) Handles(kind ObjectKind) ([]uint32, error) {
	for room := firstHandles; ; room *= 4 {
		room = min(room, maxHandles)
		list := make([]byte, 4*room)
		var total uint32
		r := newRequest(fmt.Sprintf("list %v handles", kind), uapi.ObjectDevice, uapi.MethodInfoHandles)
		r.constant(uapi.AttrInfoObjectID, uint64(kind))
		r.out(uapi.AttrInfoTotalHandles, uapi.Bytes(&total))
		r.out(uapi.AttrInfoHandlesList, list)
		if err := c.call(r); err != nil {
			return nil, err
		}
		// The kernel counts only the handles that fit.
		if int(total) >= room && room < maxHandles {
			continue
		}
		return handles(list, uint64(total)), nil
	}
}

// handles decodes n handles, or fewer if the list is shorter.
func handles(list []byte, n uint64) []uint32 {
	n = min(n, uint64(len(list)/4))
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.NativeEndian.Uint32(list[4*i:])
	}
	return out
}
