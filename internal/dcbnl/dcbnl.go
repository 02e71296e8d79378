// Package dcbnl asks the kernel about data center bridging, RTM_GETDCB of
// rtnetlink (linux/dcbnl.h).
package dcbnl

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Numbers of linux/rtnetlink.h and linux/dcbnl.h.
const (
	getDCB = 78 // RTM_GETDCB

	cmdIEEEGet = 21 // DCB_CMD_IEEE_GET
	attrIfname = 1  // DCB_ATTR_IFNAME
	attrIEEE   = 13 // DCB_ATTR_IEEE
	attrPFC    = 2  // DCB_ATTR_IEEE_PFC
	attrTable  = 3  // DCB_ATTR_IEEE_APP_TABLE
	attrApp    = 1  // DCB_ATTR_IEEE_APP
	byDSCP     = 5  // IEEE_8021QAZ_APP_SEL_DSCP

	headerSize = 4   // struct dcbmsg: family, command, padding
	pfcSize    = 136 // struct ieee_pfc
	appSize    = 4   // struct dcb_app
)

// Priorities is how many there are.
const Priorities = 8

// codePoints is how many DSCPs there are.
const codePoints = 64

// Bridging is what a network device does about priorities: flow control of each
// (struct ieee_pfc; IEEE 802.1Qbb), and which packets have which (struct dcb_app).
type Bridging struct {
	Classes     uint8              // how many can have flow control at once
	Enabled     uint8              // the bits of priorities that have it
	Requests    [Priorities]uint64 // pauses sent
	Indications [Priorities]uint64 // pauses received

	// DSCP has the priority of each code point that is given one. Of several
	// it is the highest. Other packets have that of their VLAN tag, or none.
	DSCP map[uint8]uint8
}

// ErrNone is that a network device, or its driver, has no such thing.
var ErrNone = errors.New("no data center bridging")

// Get asks for what a network device does. Errors are ErrNone, or those
// of netlink.
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
		return Bridging{}, fmt.Errorf("ask for flow control of %s: %w", netdev, err)
	}
	answers, err := c.Execute(netlink.Message{
		Header: netlink.Header{Type: getDCB, Flags: netlink.Request},
		Data:   append([]byte{unix.AF_UNSPEC, cmdIEEEGet, 0, 0}, attributes...),
	})
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = ErrNone
	}
	if err == nil && len(answers) == 0 {
		err = errors.New("no answer")
	}
	if err != nil {
		return Bridging{}, fmt.Errorf("ask for flow control of %s: %w", netdev, err)
	}
	p, err := parse(answers[0].Data)
	if err != nil {
		return Bridging{}, fmt.Errorf("read flow control of %s: %w", netdev, err)
	}
	return p, nil
}

// parse reads an answer, ErrNone where it does not say.
func parse(b []byte) (Bridging, error) {
	if len(b) < headerSize {
		return Bridging{}, fmt.Errorf("%d bytes are no answer", len(b))
	}
	ad, err := netlink.NewAttributeDecoder(b[headerSize:])
	if err != nil {
		return Bridging{}, err
	}
	p, found := Bridging{DSCP: map[uint8]uint8{}}, false
	for ad.Next() {
		if ad.Type() == attrIEEE {
			ad.Nested(func(ad *netlink.AttributeDecoder) error {
				for ad.Next() {
					switch raw := ad.Bytes(); {
					case ad.Type() == attrPFC && len(raw) >= pfcSize:
						p.readPFC(raw)
						found = true
					case ad.Type() == attrTable:
						ad.Nested(p.readTable)
					}
				}
				return ad.Err()
			})
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

// readPFC reads struct ieee_pfc: __u8 pfc_cap, pfc_en, mbc; __u16 delay; __u64
// requests[8], indications[8], in the host's order.
func (p *Bridging) readPFC(b []byte) {
	p.Classes, p.Enabled = b[0], b[1]
	for i := range Priorities {
		p.Requests[i] = binary.NativeEndian.Uint64(b[8+8*i:])
		p.Indications[i] = binary.NativeEndian.Uint64(b[8+8*(Priorities+i):])
	}
}

// readTable reads entries of struct dcb_app: __u8 selector, priority; __u16
// protocol, in the host's order.
func (p *Bridging) readTable(ad *netlink.AttributeDecoder) error {
	for ad.Next() {
		b := ad.Bytes()
		if ad.Type() != attrApp || len(b) < appSize || b[0] != byDSCP {
			continue
		}
		if code := binary.NativeEndian.Uint16(b[2:]); code < codePoints && b[1] < Priorities {
			p.DSCP[uint8(code)] = max(p.DSCP[uint8(code)], b[1])
		}
	}
	return ad.Err()
}
