package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/netfile"
	"github.com/ibkit/ibkit/mad"
)

// A jsonNode is a node in the file.
type jsonNode struct {
	path, place string
	desc        string
	lid         ib.LID
	info        mad.NodeInfo
	switchInfo  *mad.SwitchInfo
	port0       *mad.PortInfo
	ports       []jsonPort // by number; entry 0 is not used

	// The last PortInfo and text: most ports in a switch have the same.
	text     []byte
	portInfo *mad.PortInfo
}

// A jsonPort is a port in the file.
type jsonPort struct {
	path string // "": the port is not in the file
	guid ib.GUID
	info *mad.PortInfo
	ext  *mad.MlnxExtPortInfo
	peer *jsonPeer
}

// A jsonPeer identifies a port's peer.
type jsonPeer struct {
	guid   ib.GUID
	number uint8
}

func (n *jsonNode) String() string { return n.path + " (" + n.place + ")" }

// errorf returns an error with the node's position.
func (n *jsonNode) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", n.place, fmt.Errorf(format, args...))
}

// nodeMembers are the members that define a node. The other members follow from them or
// describe fabric problems.
type nodeMembers struct {
	GUID        string          `json:"node_guid"`
	Description string          `json:"description"`
	LID         uint16          `json:"lid"`
	Info        json.RawMessage `json:"info"`
	SwitchInfo  json.RawMessage `json:"switch_info"`
	Port0       json.RawMessage `json:"port0"`
	Ports       []portMembers   `json:"ports"`
}

type portMembers struct {
	Number uint8           `json:"port"`
	GUID   string          `json:"port_guid"`
	Info   json.RawMessage `json:"info"`
	Ext    json.RawMessage `json:"extended_port_info"`
	Peer   *struct {
		GUID   string `json:"node_guid"`
		Number uint8  `json:"port"`
	} `json:"peer"`
}

// read decodes a node. Errors begin with the member's path, except for type errors from the
// JSON decoder.
func (n *jsonNode) read(text []byte) error {
	var m nodeMembers
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	defer func() { n.text = nil }()
	switch known, err := attribute(m.Info, &n.info, n.path+".info"); {
	case err != nil:
		return err
	case !known:
		return fmt.Errorf("%s.info: want an object (NodeInfo, printed with --attributes)", n.path)
	}
	isSwitch := n.info.IsSwitch()
	guid, err := jsonGUID(m.GUID, n.path+".node_guid")
	switch {
	case err != nil:
		return err
	case guid != n.info.NodeGUID:
		return fmt.Errorf("%s.node_guid: want 0x%016x, as in info", n.path, n.info.NodeGUID)
	case n.info.NodeType < mad.NodeTypeCA || n.info.NodeType > mad.NodeTypeRouter:
		return fmt.Errorf("%s.info.node_type: got %d, want 1, 2 or 3", n.path, n.info.NodeType)
	case n.info.NumPorts < 1 || n.info.NumPorts > netfile.MaxPorts:
		return fmt.Errorf("%s.info.num_ports: got %d, want a number from 1 to %d", n.path, n.info.NumPorts, netfile.MaxPorts)
	}
	n.desc, n.lid = m.Description, ib.LID(m.LID)
	if n.switchInfo, err = optional[mad.SwitchInfo](m.SwitchInfo, n.path+".switch_info"); err != nil {
		return err
	}
	if n.port0, err = optional[mad.PortInfo](m.Port0, n.path+".port0"); err != nil {
		return err
	}
	if !isSwitch && (n.switchInfo != nil || n.port0 != nil) {
		return fmt.Errorf("%s: want null in switch_info and port0, because the node is not a switch", n.path)
	}
	n.ports = make([]jsonPort, int(n.info.NumPorts)+1)
	for i := range m.Ports {
		if err := n.readPort(&m.Ports[i], fmt.Sprintf("%s.ports[%d]", n.path, i)); err != nil {
			return err
		}
	}
	return nil
}

// complete checks that the file has the ports that a full scan reads: all switch ports, and
// the port by which another node was found.
func (n *jsonNode) complete() error {
	first, last := 1, len(n.ports)-1
	if !n.info.IsSwitch() {
		first = min(max(int(n.info.LocalPort), 1), last)
		last = first
	}
	for number := first; number <= last; number++ {
		if n.ports[number].path == "" {
			return n.errorf("%s.ports: port %d is missing; the file may be filtered", n.path, number)
		}
	}
	return nil
}

func (n *jsonNode) readPort(m *portMembers, path string) error {
	if m.Number < 1 || int(m.Number) >= len(n.ports) {
		return fmt.Errorf("%s.port: got %d, want a number from 1 to %d", path, m.Number, len(n.ports)-1)
	}
	p := &n.ports[m.Number]
	if p.path != "" {
		return fmt.Errorf("%s.port: duplicate port %d, used by %s", path, m.Number, p.path)
	}
	p.path = path
	var err error
	if p.guid, err = jsonGUID(m.GUID, path+".port_guid"); err != nil {
		return err
	}
	if n.portInfo == nil || !bytes.Equal(n.text, m.Info) {
		if n.portInfo, err = optional[mad.PortInfo](m.Info, path+".info"); err != nil {
			return err
		}
		n.text = m.Info
	}
	p.info = n.portInfo
	if p.ext, err = optional[mad.MlnxExtPortInfo](m.Ext, path+".extended_port_info"); err != nil {
		return err
	}
	if m.Peer != nil {
		p.peer = &jsonPeer{number: m.Peer.Number}
		p.peer.guid, err = jsonGUID(m.Peer.GUID, path+".peer.node_guid")
	}
	return err
}

// optional decodes an attribute that may be null or absent.
func optional[T any, P interface {
	*T
	json.Unmarshaler
}](text json.RawMessage, path string) (P, error) {
	a := P(new(T))
	if known, err := attribute(text, a, path); err != nil || !known {
		return nil, err
	}
	return a, nil
}

// attribute decodes an attribute. It reports false if the attribute is null or absent.
func attribute(text json.RawMessage, a json.Unmarshaler, path string) (bool, error) {
	if len(text) == 0 || string(text) == "null" {
		return false, nil
	}
	if text[0] != '{' {
		return false, fmt.Errorf("%s: want an object or null", path)
	}
	if err := a.UnmarshalJSON(text); err != nil {
		return false, fmt.Errorf("%s.%w", path, err)
	}
	return true, nil
}

// jsonGUID parses a GUID. Ports that were not read have GUID 0.
func jsonGUID(text, path string) (ib.GUID, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	guid, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%s: got %.40q, want a GUID, for example \"0x0002c90000100300\"", path, text)
	}
	return ib.GUID(guid), nil
}
