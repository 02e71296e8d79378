package mlx5

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/verbs/provider"
)

// Send work request opcodes (mlx5dv.h, MLX5_OPCODE_*).
const (
	wqeSendInv     = 0x01
	wqeWrite       = 0x08
	wqeWriteImm    = 0x09
	wqeSend        = 0x0a
	wqeSendImm     = 0x0b
	wqeRead        = 0x10
	wqeCompareSwap = 0x11
	wqeFetchAdd    = 0x12
	wqeUMR         = 0x25 // changes a memory key
)

// opcodes are the send work request opcodes.
var opcodes = [...]uint8{
	provider.OpSend: wqeSend, provider.OpSendWithImm: wqeSendImm, provider.OpSendInvalidate: wqeSendInv,
	provider.OpWrite: wqeWrite, provider.OpWriteWithImm: wqeWriteImm, provider.OpRead: wqeRead,
	provider.OpCompareSwap: wqeCompareSwap, provider.OpFetchAdd: wqeFetchAdd,
	provider.OpBindMW: wqeUMR, provider.OpLocalInvalidate: wqeUMR,
}

// windows are the memory window operations, with one bit for each Opcode.
const windows = 1<<provider.OpBindMW | 1<<provider.OpLocalInvalidate

// reliable are the operations on connections with acknowledgements, with one bit for each
// Opcode.
const reliable = 1<<provider.OpSend | 1<<provider.OpSendWithImm | 1<<provider.OpSendInvalidate |
	1<<provider.OpWrite | 1<<provider.OpWriteWithImm | 1<<provider.OpRead |
	1<<provider.OpCompareSwap | 1<<provider.OpFetchAdd

// allowed are each transport's operations (InfiniBand Architecture, volume 1, table
// 43).
var allowed = [...]uint32{
	provider.RC:      reliable | windows,
	provider.XRCInit: reliable,
	provider.UC:      1<<provider.OpSend | 1<<provider.OpSendWithImm | 1<<provider.OpWrite | 1<<provider.OpWriteWithImm | windows,
	provider.UD:      1<<provider.OpSend | 1<<provider.OpSendWithImm,
}

// The control segment flags (mlx5dv.h, MLX5_WQE_CTRL_*).
const (
	ctrlSolicited  = 1 << 1
	ctrlSignaled   = 1 << 3
	ctrlSmallFence = 1 << 5 // waits for the memory key changes
	ctrlFence      = 4 << 5
)

// Sizes in bytes.
const (
	blockSize   = 64 // send queue unit
	segmentSize = 16 // work request unit
	vectorSize  = 48 // datagram's address vector
	atomicSize  = 8  // atomic's payload

	unbindBlocks = 2 // blocks per work request that invalidates a memory window
	bindBlocks   = 3
)

const (
	// inlineFlag marks an inline data segment (MLX5_INLINE_SEG).
	inlineFlag = 1 << 31

	// endKey is the LKey in the entry that ends a receive work request's list
	// (MLX5_INVALID_LKEY).
	endKey = 0x100

	// extendedQPN marks a 48-byte address vector (MLX5_EXTENDED_UD_AV).
	extendedQPN = 1 << 31

	// maxMessage is a message's maximum length in bytes (log_max_msg on all
	// adapters). In a segment, greater lengths have another meaning.
	maxMessage = 1 << 30

	// maxWindow is a memory window's maximum length in bytes.
	maxWindow = 1 << 31
)

// The UMR control segment flags (mlx5dv.h, MLX5_WQE_UMR_CTRL_FLAG_*).
const (
	umrCheckQPN  = 1 << 3 // the window belongs to this queue pair
	umrTranslate = 1 << 4
	umrCheckFree = 1 << 5 // the window is unbound
	umrInline    = 1 << 7 // the window's memory is in the work request
)

// The memory key fields that a work request changes
// (mlx5dv.h, MLX5_WQE_UMR_CTRL_MKEY_MASK_*).
const (
	umrUnbind = 1<<13 | 1<<14 | 1<<29                                   // key, queue pair, free
	umrBind   = umrUnbind | 1<<0 | 1<<6 | 1<<18 | 1<<19 | 1<<20 | 1<<21 // length, address, rights
)

// The memory key segment fields (mlx5dv.h, struct mlx5_wqe_mkey_context_seg).
const (
	mkeyFree        = 1 << 6
	mkeyLocalWrite  = 1 << 3
	mkeyRemoteRead  = 1 << 4
	mkeyRemoteWrite = 1 << 5
	mkeyAtomic      = 1 << 6
	mkeyNoQP        = 0xffffff
)

// A block is a send queue unit.
type block [blockSize / 8]uint64

// A writer writes segments into a ring. A segment never crosses the ring's end.
type writer struct {
	ring   []byte
	offset int
	size   int // bytes written
}

// segment returns the next segment.
func (w *writer) segment() *[segmentSize]byte {
	s := (*[segmentSize]byte)(w.ring[w.offset:])
	w.size += segmentSize
	if w.offset += segmentSize; w.offset == len(w.ring) {
		w.offset = 0
	}
	return s
}

// remote writes the segment for the peer's memory.
func (w *writer) remote(addr uint64, key uint32) {
	s := w.segment()
	binary.BigEndian.PutUint64(s[0:], addr)
	binary.BigEndian.PutUint32(s[8:], key)
	binary.BigEndian.PutUint32(s[12:], 0)
}

// sharedQueue writes the XRC segment, which names the peer's SRQ (struct
// mlx5_wqe_xrc_seg in libmlx5's wqe.h).
func (w *writer) sharedQueue(number uint32) {
	s := w.segment()
	*s = [segmentSize]byte{}
	binary.BigEndian.PutUint32(s[0:], number)
}

// operands writes an atomic's segment.
func (w *writer) operands(swapAdd, compare uint64) {
	s := w.segment()
	binary.BigEndian.PutUint64(s[0:], swapAdd)
	binary.BigEndian.PutUint64(s[8:], compare)
}

// vector writes a datagram's address vector.
func (w *writer) vector(to *ah, qpn, qkey uint32) {
	s := w.segment()
	*s = [segmentSize]byte(to.vector[0:])
	binary.BigEndian.PutUint32(s[0:], qkey)
	binary.BigEndian.PutUint32(s[8:], qpn|extendedQPN)
	*w.segment() = [segmentSize]byte(to.vector[segmentSize:])
	*w.segment() = [segmentSize]byte(to.vector[2*segmentSize:])
}

// data writes a segment for each SGE that is not empty: the adapter would take a length
// of 0 for 2 GiB.
func (w *writer) data(sges []provider.SGE) {
	for i := range sges {
		if sges[i].Length != 0 {
			putSGE(w.segment(), sges[i].Length, sges[i].LKey, sges[i].Addr)
		}
	}
}

// putSGE writes a data segment.
func putSGE(s *[segmentSize]byte, length, key uint32, addr uint64) {
	binary.BigEndian.PutUint64(s[0:], uint64(length)<<32|uint64(key))
	binary.BigEndian.PutUint64(s[8:], addr)
}

// inline writes a payload behind its length, up to a segment's end. Unlike a
// segment, it may cross the ring's end.
func (w *writer) inline(payload []byte) {
	if len(payload) == 0 {
		return
	}
	s := w.segment()
	binary.BigEndian.PutUint32(s[0:], uint32(len(payload))|inlineFlag)
	for rest := payload[copy(s[4:], payload):]; len(rest) > 0; {
		rest = rest[copy(w.segment()[:], rest):]
	}
}

// bind writes the segments that bind a memory window to a queue pair (libmlx5's qp.c,
// set_bind_wr): UMR control, memory key, and the memory padded to 64 bytes.
func (w *writer) bind(b *provider.Bind, qpn uint32) {
	w.umrControl(umrInline|umrTranslate|umrCheckFree, 4, umrBind)
	w.memoryKey(0, keyRights(b.Access), qpn<<8|b.RKey&0xff, b.Addr, b.Length)
	putSGE(w.segment(), uint32(b.Length), b.LKey, b.Addr)
	w.zero(3)
}

// unbind writes the segments that invalidate a memory window.
func (w *writer) unbind() {
	w.umrControl(umrInline|umrTranslate|umrCheckQPN, 0, umrUnbind)
	w.memoryKey(mkeyFree, 0, mkeyNoQP<<8, 0, 0)
}

// umrControl writes the UMR control segment: the memory size in segments and the key's changed
// fields.
func (w *writer) umrControl(flags uint8, size uint16, mask uint64) {
	s := w.segment()
	*s = [segmentSize]byte{0: flags}
	binary.BigEndian.PutUint16(s[4:], size)
	binary.BigEndian.PutUint64(s[8:], mask)
	w.zero(2)
}

// memoryKey writes the segment with a memory key's new fields.
func (w *writer) memoryKey(free, rights uint8, qpnKey uint32, addr, length uint64) {
	s := w.segment()
	*s = [segmentSize]byte{0: free, 2: rights}
	binary.BigEndian.PutUint32(s[4:], qpnKey)
	s = w.segment()
	binary.BigEndian.PutUint64(s[0:], addr)
	binary.BigEndian.PutUint64(s[8:], length)
	w.zero(2)
}

// keyRights returns a memory key's rights.
func keyRights(a provider.Access) (rights uint8) {
	for _, right := range [...]struct {
		access provider.Access
		flag   uint8
	}{
		{provider.AccessLocalWrite, mkeyLocalWrite}, {provider.AccessRemoteWrite, mkeyRemoteWrite},
		{provider.AccessRemoteRead, mkeyRemoteRead}, {provider.AccessRemoteAtomic, mkeyAtomic},
	} {
		if a&right.access != 0 {
			rights |= right.flag
		}
	}
	return rights
}

// zero writes empty segments.
func (w *writer) zero(n int) {
	for range n {
		*w.segment() = [segmentSize]byte{}
	}
}
