// Package dcbnl queries network devices' data center bridging settings with the
// rtnetlink request RTM_GETDCB (linux/dcbnl.h).
package dcbnl

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Constants from linux/rtnetlink.h and linux/dcbnl.h.
const (
	getDCB = 78 // RTM_GETDCB

	cmdIEEEGet = 21 // DCB_CMD_IEEE_GET
	attrIfname = 1  // DCB_ATTR_IFNAME
	attrIEEE   = 13 // DCB_ATTR_IEEE
	attrDCBX   = 14 // DCB_ATTR_DCBX

	attrETS     = 1  // DCB_ATTR_IEEE_ETS
	attrPFC     = 2  // DCB_ATTR_IEEE_PFC
	attrTable   = 3  // DCB_ATTR_IEEE_APP_TABLE
	attrPeerPFC = 5  // DCB_ATTR_IEEE_PEER_PFC
	attrBuffer  = 10 // DCB_ATTR_DCB_BUFFER
	attrTrust   = 11 // DCB_ATTR_DCB_APP_TRUST_TABLE

	attrApp = 1 // DCB_ATTR_IEEE_APP
	byType  = 1 // IEEE_8021QAZ_APP_SEL_ETHERTYPE
	byDSCP  = 5 // IEEE_8021QAZ_APP_SEL_DSCP

	headerSize = 4   // struct dcbmsg: family, command, padding
	pfcSize    = 136 // struct ieee_pfc
	appSize    = 4   // struct dcb_app
)

// Priorities is the priority count.
const Priorities = 8

// codePoints is the DSCP count.
const codePoints = 64

// Bridging holds the priority settings for a network device: flow control per priority (struct
// ieee_pfc; IEEE 802.1Qbb) and the mapping from packets to priorities (struct dcb_app).
type Bridging struct {
	Classes     uint8              // count of priorities that support flow control at once
	Enabled     uint8              // bit mask: priorities with flow control
	Requests    [Priorities]uint64 // pauses sent
	Indications [Priorities]uint64 // pauses received

	// DSCP maps code points to priorities. If a code point is mapped more than once, the
	// highest priority counts. Other packets have the priority in their VLAN tag, if any.
	DSCP map[uint8]uint8

	Default *uint8   // priority of packets without another; nil: not set
	ETS     *ETS     // nil: not supported
	Buffers *Buffers // nil: not supported
	Trust   []string // packet fields that select the priority, the first one first; nil: unknown
	DCBX    *DCBX    // nil: not supported
	Peer    *uint8   // the LLDP peer's Enabled; nil: unknown
}

// ErrNone is the error for a device or driver without data center bridging.
var ErrNone = errors.New("no data center bridging")

// Get queries the settings for a network device. Errors wrap ErrNone or a netlink error.
func Get(netdev string) (Bridging, error) {
	c, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return Bridging{}, fmt.Errorf("open NETLINK_ROUTE: %w", err)
	}
	defer c.Close()
	e := netlink.NewAttributeEncoder()
	e.String(attrIfname, netdev)
	attributes, err := e.Encode()
	if err != nil {
		return Bridging{}, fmt.Errorf("query flow control of %s: %w", netdev, err)
	}
	replies, err := c.Execute(netlink.Message{
		Header: netlink.Header{Type: getDCB, Flags: netlink.Request},
		Data:   append([]byte{unix.AF_UNSPEC, cmdIEEEGet, 0, 0}, attributes...),
	})
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = ErrNone
	}
	if err == nil && len(replies) == 0 {
		err = errors.New("empty reply")
	}
	if err != nil {
		return Bridging{}, fmt.Errorf("query flow control of %s: %w", netdev, err)
	}
	p, err := parse(replies[0].Data)
	if err != nil {
		return Bridging{}, fmt.Errorf("parse flow control of %s: %w", netdev, err)
	}
	return p, nil
}

// parse parses a reply. It returns ErrNone if the reply does not contain PFC settings.
func parse(b []byte) (Bridging, error) {
	if len(b) < headerSize {
		return Bridging{}, fmt.Errorf("reply of %d bytes is too short", len(b))
	}
	ad, err := netlink.NewAttributeDecoder(b[headerSize:])
	if err != nil {
		return Bridging{}, err
	}
	p, found := Bridging{DSCP: map[uint8]uint8{}}, false
	for ad.Next() {
		switch {
		case ad.Type() == attrIEEE:
			ad.Nested(func(ad *netlink.AttributeDecoder) (err error) {
				found, err = p.readIEEE(ad)
				return err
			})
		case ad.Type() == attrDCBX && len(ad.Bytes()) > 0:
			p.DCBX = new(DCBX(ad.Bytes()[0]))
		}
	}
	if err := ad.Err(); err != nil {
		return Bridging{}, err
	}
	if !found {
		return Bridging{}, ErrNone
	}
	return p, nil
}

// readIEEE parses the IEEE attributes. It reports whether PFC settings are among them.
func (p *Bridging) readIEEE(ad *netlink.AttributeDecoder) (found bool, err error) {
	for ad.Next() {
		switch raw := ad.Bytes(); {
		case ad.Type() == attrPFC && len(raw) >= pfcSize:
			p.readPFC(raw)
			found = true
		case ad.Type() == attrPeerPFC && len(raw) >= pfcSize:
			p.Peer = &raw[1]
		case ad.Type() == attrETS && len(raw) >= etsSize:
			p.ETS = parseETS(raw)
		case ad.Type() == attrBuffer && len(raw) >= bufferSize:
			p.Buffers = parseBuffers(raw)
		case ad.Type() == attrTable:
			ad.Nested(p.readTable)
		case ad.Type() == attrTrust:
			ad.Nested(p.readTrust)
		}
	}
	return found, ad.Err()
}

// readPFC parses struct ieee_pfc: __u8 pfc_cap, pfc_en, mbc; __u16 delay; __u64
// requests[8], indications[8], in host byte order.
func (p *Bridging) readPFC(b []byte) {
	p.Classes, p.Enabled = b[0], b[1]
	for i := range Priorities {
		p.Requests[i] = binary.NativeEndian.Uint64(b[8+8*i:])
		p.Indications[i] = binary.NativeEndian.Uint64(b[8+8*(Priorities+i):])
	}
}

// readTable parses struct dcb_app entries: __u8 selector, priority; __u16 protocol, in
// host byte order.
func (p *Bridging) readTable(ad *netlink.AttributeDecoder) error {
	for ad.Next() {
		b := ad.Bytes()
		if ad.Type() != attrApp || len(b) < appSize || b[1] >= Priorities {
			continue
		}
		switch code := binary.NativeEndian.Uint16(b[2:]); {
		case b[0] == byDSCP && code < codePoints:
			p.DSCP[uint8(code)] = max(p.DSCP[uint8(code)], b[1])
		case b[0] == byType && code == 0:
			p.Default = &b[1]
		}
	}
	return ad.Err()
}

// PrioritiesIn returns the priorities in a bit mask, never nil.
func PrioritiesIn(mask uint8) []int {
	all := []int{}
	for p := range Priorities {
		if mask>>p&1 == 1 {
			all = append(all, p)
		}
	}
	return all
}
