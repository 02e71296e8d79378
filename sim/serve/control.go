package serve

import (
	"encoding/binary"

	"github.com/ibkit/ibkit/internal/ibsimproto"
	"github.com/ibkit/ibkit/mad"
)

// handleControl turns a control datagram into its reply. open opens the data socket for a
// client that attaches. handleControl reports false for a datagram in another protocol,
// which gets no reply.
func (s *Server) handleControl(b []byte, open func(slot, id uint32) (*socket, error)) (ibsimproto.Control, bool) {
	c, ok := ibsimproto.ParseControl(b)
	if !ok {
		return c, false
	}
	if c.Kind() == ibsimproto.Disconnect {
		ok = s.disconnect(c.Slot())
	} else {
		ok = s.attachOrQuery(&c, open)
	}
	if !ok {
		c.SetKind(ibsimproto.Error)
	}
	return c, true
}

// attachOrQuery answers the other control datagrams.
func (s *Server) attachOrQuery(c *ibsimproto.Control, open func(slot, id uint32) (*socket, error)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Kind() == ibsimproto.Connect {
		return s.connect(c.Data(), open)
	}
	return s.answerQuery(s.clients[c.Slot()], c.Kind(), c.Data())
}

// connect attaches a client and returns its slot and its node in data.
func (s *Server) connect(data []byte, open func(slot, id uint32) (*socket, error)) bool {
	info := ibsimproto.DecodeClientInfo(data)
	at, err := s.fabric.Place(info.Node)
	if err != nil {
		return false
	}
	c, err := s.attach(at, info.IsSM, func(slot uint32) (*socket, error) { return open(slot, info.ID) })
	if err != nil {
		return false
	}
	reply := ibsimproto.ClientInfo{ID: c.slot, IsSM: c.isSM, Node: at.Node.ID, RoutesFromLID: true}.Encode()
	copy(data, reply[:])
	return true
}

// answerQuery answers, in data, a client's query about the client's port. It reports false
// for an unknown client or query.
func (s *Server) answerQuery(c *client, kind ibsimproto.Kind, data []byte) bool {
	if c == nil {
		return false
	}
	node, port := &c.at.Node.Info, c.at
	switch kind {
	case ibsimproto.GetPort:
		binary.NativeEndian.PutUint16(data, uint16(port.Info.LID))
		data[2] = byte(port.Info.State)
	case ibsimproto.GetVendor:
		binary.NativeEndian.PutUint32(data[0:], node.VendorID)
		binary.NativeEndian.PutUint32(data[4:], uint32(node.DeviceID))
		binary.NativeEndian.PutUint32(data[8:], node.Revision)
		binary.NativeEndian.PutUint64(data[16:], firmware)
	case ibsimproto.GetGID:
		binary.BigEndian.PutUint64(data[0:], port.Info.GIDPrefix)
		binary.BigEndian.PutUint64(data[8:], uint64(port.GUID))
	case ibsimproto.GetGUID:
		binary.BigEndian.PutUint64(data, uint64(port.GUID))
	case ibsimproto.GetNodeInfo:
		info := *node
		info.LocalPort, info.PortGUID = port.Number, port.GUID
		return mad.Encode(&info, data) == nil
	case ibsimproto.GetPortInfo:
		info := port.Info
		if n := int(data[0]); n > 0 && n < len(port.Node.Ports) {
			info = port.Node.Ports[n].Info
		}
		info.LocalPort = port.Number
		return mad.Encode(&info, data) == nil
	case ibsimproto.SetIsSM:
		isSM := binary.NativeEndian.Uint32(data) != 0
		if other := s.managers[port]; isSM && other != nil && other != c {
			return false
		}
		s.setSM(c, isSM)
	case ibsimproto.GetPKeys:
		clear(data)
		for i, key := range port.PKeys[:min(len(port.PKeys), len(data)/2)] {
			binary.BigEndian.PutUint16(data[2*i:], uint16(key))
		}
	default:
		return false
	}
	return true
}

// firmware is the firmware version of all nodes, as in ibsim.
const firmware = 1
