package verbs

import (
	"errors"
	"fmt"
	"math"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
)

// A GIDEntry is an entry in a port's GID table.
type GIDEntry struct {
	GID     netip.Addr // an IPv6 address
	Index   uint32
	Port    uint32
	Type    GIDType
	Ifindex uint32 // network device's; 0 without
}

// GIDType is a GID's packet format (enum ib_uverbs_gid_type).
type GIDType uint32

// The GID types.
const (
	GIDTypeIB     GIDType = 0
	GIDTypeRoCEv1 GIDType = 1
	GIDTypeRoCEv2 GIDType = 2
)

// String returns the text that ibv_devinfo prints, or "IB" for InfiniBand.
func (t GIDType) String() string {
	switch t {
	case GIDTypeIB:
		return "IB"
	case GIDTypeRoCEv1:
		return "RoCE v1"
	case GIDTypeRoCEv2:
		return "RoCE v2"
	}
	return "Invalid gid type"
}

// maxGIDs is the entry count that fits into a response, firstGIDs the number
// that the first request has room for.
const (
	maxGIDs   = math.MaxUint16 / uapi.GIDEntrySize
	firstGIDs = 64
)

// GIDTable returns all ports' GIDs by port and index, without empty entries.
// More than 2047 entries do not fit into a response, and GIDTable returns
// unix.EINVAL; GID still works then. Linux supports it since 5.10.
func (c *Context) GIDTable() ([]GIDEntry, error) {
	for room := firstGIDs; ; room = min(4*room, maxGIDs) {
		table := make([]byte, room*uapi.GIDEntrySize)
		var n uint64
		r := newRequest("query GID table", uapi.ObjectDevice, uapi.MethodQueryGIDTable)
		r.constant(uapi.AttrQueryGIDTableEntrySize, uapi.GIDEntrySize)
		r.flags32(uapi.AttrQueryGIDTableFlags, 0)
		r.out(uapi.AttrQueryGIDTableRespEntries, table)
		r.out(uapi.AttrQueryGIDTableRespNumEntries, uapi.Bytes(&n))
		err := c.call(r)
		if errors.Is(err, unix.EINVAL) && room < maxGIDs {
			continue // the response has too little room
		}
		if err != nil {
			return nil, err
		}
		return gidTable(table, n), nil
	}
}

// gidTable decodes n entries, or fewer if the table is shorter.
func gidTable(table []byte, n uint64) []GIDEntry {
	n = min(n, uint64(len(table)/uapi.GIDEntrySize))
	entries := make([]GIDEntry, n)
	for i := range entries {
		entries[i] = gidEntry(uapi.Decode[uapi.GIDEntry](table[i*uapi.GIDEntrySize:]))
	}
	return entries
}

func gidEntry(e uapi.GIDEntry) GIDEntry {
	return GIDEntry{netip.AddrFrom16(e.GID), e.Index, e.PortNum, GIDType(e.Type), e.NetdevIfindex}
}

// GID returns an entry from a port's GID table. It returns unix.ENODATA for an empty
// entry and unix.EINVAL for an index past the table's end. Linux supports it
// since 5.10.
func (c *Context) GID(port, index uint32) (GIDEntry, error) {
	var e uapi.GIDEntry
	r := newRequest(fmt.Sprintf("query GID %d of port %d", index, port), uapi.ObjectDevice, uapi.MethodQueryGIDEntry)
	r.constant(uapi.AttrQueryGIDEntryPort, uint64(port))
	r.constant(uapi.AttrQueryGIDEntryGIDIndex, uint64(index))
	r.flags32(uapi.AttrQueryGIDEntryFlags, 0)
	r.out(uapi.AttrQueryGIDEntryRespEntry, uapi.Bytes(&e))
	if err := c.call(r); err != nil {
		return GIDEntry{}, err
	}
	return gidEntry(e), nil
}
