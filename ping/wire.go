package ping

import (
	"bytes"
	"encoding/binary"

	"github.com/ibkit/ibkit/mad"
)

// What a ping is on the wire. The exchange of OpenFabrics' ibping
// (infiniband-diags, ibping.c; libibmad, vendor.c and serv.c) is a Get of class
// 0x32, class version 1, to QP1, with attribute and modifier 0, an inactive
// header of RMPP, the OUI, and 216 bytes of data that are 0. The answer is a
// GetResp with the same transaction ID, whose data begin with the name of the
// host, ended by a NUL.
//
// ibkit adds to the data what an ibping server overwrites and an ibping client
// leaves at 0, so that each side speaks with the other's counterpart. Numbers are
// big-endian, offsets those in the data:
//
//	 0  64  name of the host, ended by a NUL; 0 in a request
//	64   8  "ibkping1"
//	72   1  1: a request, 2: an answer
//	73   1  method of the answer to a Send, else 0
//	74   2  length of the payload, 0 to 128
//	76   4  0
//	80   8  ID: anything, for the client to know its probe by
//	88 128  payload, 0 behind its end
//
// A server of ibkit sends all from offset 64 on back, with the kind changed. An
// answer without it comes from another server, which echoes nothing.
//
// # One-way pings
//
// Linux drops a response whose global route header does not name the GID that
// the request was sent from. Of RoCE v2 over IPv4 it takes the wrong bytes for
// that header, those of the IPv4 one, and drops every response
// (drivers/infiniband/core/mad.c, rcv_has_same_gid). So where the GIDs are
// IPv4-mapped a ping is two packets that nobody matches but the two programs: a
// Send (0x03) there, and a packet of the method that the request's data name
// back. It has no response bit, and is one of [FirstAnswerMethod] to
// [LastAnswerMethod], the numbers that the specification leaves to classes
// (InfiniBand Architecture, Volume 1, 13.4.5). It is not Send as well, because
// the kernel hands a method of a class and OUI at a port to one program only:
// so a server and clients can share a port, and no answer is ever taken for a
// request and answered again.
//
// The kernel overwrites the upper half of the transaction ID of whatever is no
// response. The lower half of the answer is that of the request, and the ID in
// the data is whole.
const (
	offEchoMagic   = 64
	offEchoKind    = 72
	offEchoMethod  = 73
	offEchoLength  = 74
	offEchoID      = 80
	offEchoPayload = 88
	dataSize       = mad.Size - offData

	echoRequest = 1
	echoAnswer  = 2
)

var echoMagic = [...]byte{'i', 'b', 'k', 'p', 'i', 'n', 'g', '1'}

// PayloadSize is how many bytes of a client's own a ping has room for.
const PayloadSize = dataSize - offEchoPayload

// The methods that an answer to a Send can have. A client takes one that nobody
// else at its port uses.
const (
	FirstAnswerMethod mad.Method = 0x40
	LastAnswerMethod  mad.Method = 0x7f
)

// An Echo is what ibkit's own pings carry and its server sends back.
type Echo struct {
	IsAnswer bool
	Answer   mad.Method // of the answer to a Send; 0 where the request is a Get
	ID       uint64
	Payload  []byte // at most PayloadSize bytes
}

// Put writes e into the data of a packet, which are what [mad.Packet.Data]
// returns: the last 216 bytes. What of the payload is too long is left out. The
// room for the name stays as it is.
func (e *Echo) Put(data []byte) {
	data = data[:dataSize]
	copy(data[offEchoMagic:], echoMagic[:])
	data[offEchoKind] = echoRequest
	if e.IsAnswer {
		data[offEchoKind] = echoAnswer
	}
	data[offEchoMethod] = byte(e.Answer)
	n := copy(data[offEchoPayload:], e.Payload)
	clear(data[offEchoPayload+n:])
	binary.BigEndian.PutUint16(data[offEchoLength:], uint16(n))
	clear(data[offEchoLength+2 : offEchoID])
	putEchoID(data, e.ID)
}

// putEchoID overwrites the ID in the data of a packet.
func putEchoID(data []byte, id uint64) { binary.BigEndian.PutUint64(data[offEchoID:], id) }

// ParseEcho reads what is in the data of a packet. It reports false where there
// is no Echo or no good one. The payload aliases data.
func ParseEcho(data []byte) (Echo, bool) {
	if len(data) != dataSize || !bytes.Equal(data[offEchoMagic:offEchoKind], echoMagic[:]) {
		return Echo{}, false
	}
	kind, n := data[offEchoKind], int(binary.BigEndian.Uint16(data[offEchoLength:]))
	if kind != echoRequest && kind != echoAnswer || n > PayloadSize {
		return Echo{}, false
	}
	e := Echo{
		IsAnswer: kind == echoAnswer,
		Answer:   mad.Method(data[offEchoMethod]),
		ID:       binary.BigEndian.Uint64(data[offEchoID:]),
		Payload:  data[offEchoPayload : offEchoPayload+n],
	}
	if e.Answer != 0 && (e.Answer < FirstAnswerMethod || e.Answer > LastAnswerMethod) {
		return Echo{}, false
	}
	return e, true
}
