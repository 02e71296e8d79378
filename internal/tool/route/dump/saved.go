package dump

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// SavedSchema identifies the saved routing form: a line of JSON with a [savedHead],
// followed by a line with a [savedNode] for each node.
const SavedSchema = "ibkit/routing/2"

// savedHead is a saved routing's first line.
type savedHead struct {
	Schema   string `json:"schema"`
	Nodes    int    `json:"nodes"`
	Failures int    `json:"failures"`
	Changing []int  `json:"changing,omitempty"` // node lines
	PathSLs  bool   `json:"path_sls"`

	// Groups has the multicast group members; null or absent: they are unknown.
	Groups []savedGroup `json:"groups,omitzero"`
}

// A savedGroup is the members in a multicast LID's groups.
type savedGroup struct {
	LID       ib.LID      `json:"lid"`
	Receivers []savedPeer `json:"receivers"`
	Senders   []savedPeer `json:"senders"`
	Unknown   int         `json:"unknown"`
}

// A savedNode is a node. State, width and speed numbers are as in PortInfo.
type savedNode struct {
	GUID     ib.GUID      `json:"node_guid"`
	Type     uint8        `json:"type"`
	Desc     string       `json:"description"` // hexadecimal digits: it may contain any bytes
	Route    string       `json:"route"`
	NumPorts uint8        `json:"num_ports"`
	Ports    []savedPort  `json:"ports"` // ports with an address or a link
	Tables   *savedTables `json:"tables,omitempty"`
	Adaptive bool         `json:"adaptive,omitempty"` // adaptive routing is on; groups are not stored
}

// A savedPort is a port with an address or a link.
type savedPort struct {
	Number uint8      `json:"port"`
	GUID   ib.GUID    `json:"port_guid"`
	LID    ib.LID     `json:"lid"`
	LMC    uint8      `json:"lmc"`
	State  uint8      `json:"state"`
	Width  uint8      `json:"width"`
	Speed  uint16     `json:"speed"`
	MTU    uint8      `json:"mtu"`
	VLs    uint8      `json:"vls"`
	Peer   *savedPeer `json:"peer"`

	// SLs has the service levels for the paths from the port by destination LID; 255:
	// unknown.
	SLs []byte `json:"sls,omitempty"`
}

// A savedPeer identifies a port. GUIDs may occur twice in a fabric.
type savedPeer struct {
	Node int   `json:"node"` // node's line, from 0 for the first node
	Port uint8 `json:"port"`
}

// savedTables are a switch's tables, in base64.
type savedTables struct {
	Cap          uint16            `json:"cap"`
	Top          ib.LID            `json:"top"`
	LFT          []byte            `json:"lft"`
	Missing      []uint16          `json:"missing,omitempty"`
	Incomplete   bool              `json:"incomplete,omitempty"`
	MulticastCap uint16            `json:"multicast_cap"`
	MulticastTop ib.LID            `json:"multicast_top"`
	MFT          map[ib.LID][]byte `json:"mft,omitempty"`
	SLtoVL       []byte            `json:"sl_to_vl,omitempty"`
}

// isEmpty reports whether a port has neither an address nor a link.
func isEmpty(p *route.Port) bool {
	return p.GUID == 0 && p.LID == 0 && p.State == 0 && p.Peer == nil
}

// saved returns the tables' stored form.
func saved(t *route.Tables) *savedTables {
	if t == nil {
		return nil
	}
	s := &savedTables{
		Cap: t.Cap, Top: t.Top, LFT: t.LFT, Missing: t.Missing, Incomplete: t.Incomplete,
		MulticastCap: t.MulticastCap, MulticastTop: t.MulticastTop,
	}
	if len(t.MFT) > 0 {
		s.MFT = make(map[ib.LID][]byte, len(t.MFT))
		for lid, mask := range t.MFT {
			s.MFT[lid] = mask[:]
		}
	}
	for _, lanes := range t.SLtoVL {
		s.SLtoVL = append(s.SLtoVL, lanes[:]...)
	}
	return s
}

// tables returns the tables for a switch with a number of ports. It reports false if
// they have an invalid size.
func (s *savedTables) tables(ports int) (*route.Tables, bool) {
	t := &route.Tables{
		Cap: s.Cap, Top: s.Top, LFT: s.LFT, Missing: s.Missing, Incomplete: s.Incomplete,
		MulticastCap: s.MulticastCap, MulticastTop: s.MulticastTop,
	}
	if len(s.LFT) > int(ib.MaxUnicastLID)+1 || len(s.SLtoVL) != 0 && len(s.SLtoVL) != ports*ports*16 {
		return nil, false
	}
	for lid, bits := range s.MFT {
		if len(bits) != len(mad.PortMask{}) || !lid.IsMulticast() {
			return nil, false
		}
		if t.MFT == nil {
			t.MFT = make(map[ib.LID]mad.PortMask, len(s.MFT))
		}
		t.MFT[lid] = mad.PortMask(bits)
	}
	if len(s.SLtoVL) > 0 {
		t.SLtoVL = make([][16]uint8, ports*ports)
		for i := range t.SLtoVL {
			t.SLtoVL[i] = [16]uint8(s.SLtoVL[i*16:])
			for _, vl := range t.SLtoVL[i] {
				if vl > 15 {
					return nil, false
				}
			}
		}
	}
	return t, true
}
