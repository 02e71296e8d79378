package ping

import (
	"bytes"
	"encoding/binary"

	"github.com/ibkit/ibkit/mad"
)

// The OpenFabrics ibping exchange (infiniband-diags, ibping.c; libibmad, vendor.c and
// serv.c) is a Get with class 0x32, class version 1, to QP1, with attribute and modifier 0,
// an inactive RMPP header, the OUI, and 216 zero data bytes. The reply is a GetResp with
// the same transaction ID; the data begin with the host name and a NUL.
//
// ibkit adds to the data the following fields, which an ibping server overwrites and an
// ibping client sets to 0, so that the clients and servers in both programs work together.
// Numbers are big-endian, offsets are relative to the data:
//
//	 0  64  name of the host and a NUL; 0 in a request
//	64   8  "ibkping1"
//	72   1  1: request, 2: answer
//	73   1  method of the answer to a Send, else 0
//	74   2  length of the payload, 0 to 128
//	76   4  0
//	80   8  ID, by which the client recognises its probe
//	88 128  payload, then 0
//
// An ibkit server returns all data from offset 64 on, with another kind. A reply without
// these data is from another server, which does not return any data.
//
// # One-way pings
//
// Linux drops a response if the global route header does not contain the GID that the
// request was sent from. For RoCE v2 over IPv4 it reads the wrong bytes, from the IPv4
// header, and drops every response (drivers/infiniband/core/mad.c, rcv_has_same_gid). If
// the GIDs are IPv4-mapped, a ping therefore uses two packets that the kernel does not
// match: a Send (0x03) to the server, and a packet back with the method specified in the
// request data. That method has no response bit, and is in the range [firstAnswerMethod] to
// [lastAnswerMethod], the numbers that the specification leaves to the classes (InfiniBand
// Architecture, Volume 1, 13.4.5). It is not Send, because the kernel delivers a method for
// a class and OUI at a port to a single program only. With different methods, a server and
// clients can share a port, and a server never answers an answer.
//
// The kernel overwrites the upper half of the transaction ID in packets that are not
// responses. The answer has the same lower half as the request, and the ID in the data
// is complete.
const (
	offEchoMagic   = 64
	offEchoKind    = 72
	offEchoMethod  = 73
	offEchoLength  = 74
	offEchoID      = 80
	offEchoPayload = 88
	dataSize       = mad.VendorDataSize

	echoRequest = 1
	echoAnswer  = 2
)

var echoMagic = [...]byte{'i', 'b', 'k', 'p', 'i', 'n', 'g', '1'}

// PayloadSize is the maximum ping payload size in bytes.
const PayloadSize = dataSize - offEchoPayload

// The methods for answers to a Send. A client uses a method that no other program at the
// port uses.
const (
	firstAnswerMethod mad.Method = 0x40
	lastAnswerMethod  mad.Method = 0x7f
)

// An echo is the part of a ping that an ibkit server returns.
type echo struct {
	isAnswer bool
	answer   mad.Method // for the answer to a Send; 0 if the request is a Get
	id       uint64
	payload  []byte // at most PayloadSize bytes
}

// put writes e into the packet data, the last 216 bytes, except the name. It cuts a payload
// that is too long.
func (e *echo) put(data []byte) {
	data = data[:dataSize]
	copy(data[offEchoMagic:], echoMagic[:])
	data[offEchoKind] = echoRequest
	if e.isAnswer {
		data[offEchoKind] = echoAnswer
	}
	data[offEchoMethod] = byte(e.answer)
	n := copy(data[offEchoPayload:], e.payload)
	clear(data[offEchoPayload+n:])
	binary.BigEndian.PutUint16(data[offEchoLength:], uint16(n))
	clear(data[offEchoLength+2 : offEchoID])
	putEchoID(data, e.id)
}

// putEchoID overwrites the ID in the packet data.
func putEchoID(data []byte, id uint64) { binary.BigEndian.PutUint64(data[offEchoID:], id) }

// parseEcho reads the packet data. It returns false without a valid echo. The payload
// aliases data.
func parseEcho(data []byte) (echo, bool) {
	if len(data) != dataSize || !bytes.Equal(data[offEchoMagic:offEchoKind], echoMagic[:]) {
		return echo{}, false
	}
	kind, n := data[offEchoKind], int(binary.BigEndian.Uint16(data[offEchoLength:]))
	if kind != echoRequest && kind != echoAnswer || n > PayloadSize {
		return echo{}, false
	}
	e := echo{
		isAnswer: kind == echoAnswer,
		answer:   mad.Method(data[offEchoMethod]),
		id:       binary.BigEndian.Uint64(data[offEchoID:]),
		payload:  data[offEchoPayload : offEchoPayload+n],
	}
	if e.answer != 0 && (e.answer < firstAnswerMethod || e.answer > lastAnswerMethod) {
		return echo{}, false
	}
	return e, true
}
