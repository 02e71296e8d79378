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

	cmdIEEEGet  = 21 // DCB_CMD_IEEE_GET
	attrIfname  = 1  // DCB_ATTR_IFNAME
	attrIEEE    = 13 // DCB_ATTR_IEEE
	attrIEEEPFC = 2  // DCB_ATTR_IEEE_PFC

	headerSize = 4   // struct dcbmsg: family, command, padding
	pfcSize    = 136 // struct ieee_pfc
)

// Priorities is how many there are.
const Priorities = 8

// PFC is priority-based flow control (struct ieee_pfc; IEEE 802.1Qbb).
type PFC struct {
	Classes     uint8              // how many can have it at once
	Enabled     uint8              // the bits of priorities that have it
	Requests    [Priorities]uint64 // pauses sent
	Indications [Priorities]uint64 // pauses received
}

// ErrNone is that a network device, or its driver, has no such thing.
var ErrNone = errors.New("no data center bridging")

// Get asks for the flow control of a network device. Errors are ErrNone, or those
// of netlink.
func Get(netdev string) (PFC, error) {
	c, err := netlink.Dial(unix.NETLINK_ROUTE, nil)
	if err != nil {
		return PFC{}, fmt.Errorf("open NETLINK_ROUTE: %w", err)
	}
	defer c.Close()
	e := netlink.NewAttributeEncoder()
	e.String(attrIfname, netdev)
	attributes, err := e.Encode()
	if err != nil {
		return PFC{}, fmt.Errorf("ask for flow control of %s: %w", netdev, err)
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
		return PFC{}, fmt.Errorf("ask for flow control of %s: %w", netdev, err)
	}
	p, err := parse(answers[0].Data)
	if err != nil {
		return PFC{}, fmt.Errorf("read flow control of %s: %w", netdev, err)
	}
	return p, nil
}

// parse reads an answer, ErrNone where it does not say.
func parse(b []byte) (PFC, error) {
	if len(b) < headerSize {
		return PFC{}, fmt.Errorf("%d bytes are no answer", len(b))
	}
	ad, err := netlink.NewAttributeDecoder(b[headerSize:])
	if err != nil {
		return PFC{}, err
	}
	p, found := PFC{}, false
	for ad.Next() {
		if ad.Type() != attrIEEE {
			continue
		}
		ad.Nested(func(ad *netlink.AttributeDecoder) error {
			for ad.Next() {
				if raw := ad.Bytes(); ad.Type() == attrIEEEPFC && len(raw) >= pfcSize {
					p, found = decode(raw), true
				}
			}
			return ad.Err()
		})
	}
	if err := ad.Err(); err != nil {
		return PFC{}, err
	}
	if !found {
		return PFC{}, ErrNone
	}
	return p, nil
}

// decode reads struct ieee_pfc: __u8 pfc_cap, pfc_en, mbc; __u16 delay; __u64
// requests[8], indications[8], in the host's order.
func decode(b []byte) PFC {
	p := PFC{Classes: b[0], Enabled: b[1]}
	for i := range Priorities {
		p.Requests[i] = binary.NativeEndian.Uint64(b[8+8*i:])
		p.Indications[i] = binary.NativeEndian.Uint64(b[8+8*(Priorities+i):])
	}
	return p
}
