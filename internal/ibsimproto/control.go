package ibsimproto

import (
	"bytes"
	"encoding/binary"
)

const (
	magic      = 0xdeadbeef
	offKind    = 8
	offUsed    = 12
	offData    = 16
	offConnect = 12 // node name in a CONNECT
	offRoutes  = offConnect + NodeIDSize

	// routesFromLID is the word behind struct sim_client_info in a reply from ibkit's
	// server. ibsim returns the request's bytes there, and C clients do not read them.
	routesFromLID = 0x69626b74
)

// ControlDataSize is the data size in bytes in a control datagram.
const ControlDataSize = 64

// ControlSize is the datagram size in bytes on a control socket.
const ControlSize = offData + ControlDataSize

// NodeIDSize is the node name size in bytes, including a NUL.
const NodeIDSize = 32

// A Kind is a control datagram type (enum SIM_CTL_TYPES).
type Kind uint32

// The kinds. A reply has the same kind as the request, or is an Error.
const (
	Error Kind = iota
	Connect
	Disconnect
	GetPort
	GetVendor
	GetGID
	GetGUID
	GetNodeInfo
	GetPortInfo
	SetIsSM
	GetPKeys
)

// A Control is struct sim_ctl, a request to the server or a reply. Numbers are in
// host byte order.
type Control [ControlSize]byte

// NewControl returns a request from the client in a slot.
func NewControl(kind Kind, slot uint32, data [ControlDataSize]byte) (c Control) {
	binary.NativeEndian.PutUint32(c[0:], magic)
	binary.NativeEndian.PutUint32(c[4:], slot)
	c.SetKind(kind)
	binary.NativeEndian.PutUint32(c[offUsed:], ControlDataSize)
	copy(c[offData:], data[:])
	return c
}

// ParseControl parses a received datagram. It returns false if that is not a control
// datagram.
func ParseControl(b []byte) (c Control, ok bool) {
	if len(b) != ControlSize || binary.NativeEndian.Uint32(b) != magic {
		return c, false
	}
	return Control(b), true
}

// Slot returns the client's slot at the server.
func (c *Control) Slot() uint32 { return binary.NativeEndian.Uint32(c[4:]) }

// Kind returns the kind.
func (c *Control) Kind() Kind { return Kind(binary.NativeEndian.Uint32(c[offKind:])) }

// SetKind sets the kind.
func (c *Control) SetKind(k Kind) { binary.NativeEndian.PutUint32(c[offKind:], uint32(k)) }

// Data returns the data, in place.
func (c *Control) Data() []byte { return c[offData:] }

// ClientInfo is a Connect's data (struct sim_client_info) without the queue
// pair, which is 0.
type ClientInfo struct {
	ID   uint32 // identifies the data socket; in the reply, the slot
	IsSM bool   // the client receives the requests that the node's agents do not answer
	Node string // node ID or description, shorter than NodeIDSize; "": the server's choice

	// RoutesFromLID in a reply is set if the server delivers packets with a directed route
	// that starts at a LID.
	RoutesFromLID bool
}

// Encode returns a Connect's data.
func (i ClientInfo) Encode() (data [ControlDataSize]byte) {
	binary.NativeEndian.PutUint32(data[0:], i.ID)
	if i.IsSM {
		binary.NativeEndian.PutUint32(data[8:], 1)
	}
	copy(data[offConnect:offConnect+NodeIDSize-1], i.Node)
	if i.RoutesFromLID {
		binary.NativeEndian.PutUint32(data[offRoutes:], routesFromLID)
	}
	return data
}

// DecodeClientInfo parses a Connect's data.
func DecodeClientInfo(data []byte) ClientInfo {
	node, _, _ := bytes.Cut(data[offConnect:offConnect+NodeIDSize], []byte{0})
	return ClientInfo{
		ID:   binary.NativeEndian.Uint32(data),
		IsSM: binary.NativeEndian.Uint32(data[8:]) != 0,
		Node: string(node),

		RoutesFromLID: binary.NativeEndian.Uint32(data[offRoutes:]) == routesFromLID,
	}
}
