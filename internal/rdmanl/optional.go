package rdmanl

import (
	"errors"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// OptionalCounters returns a port's counters that count only if they are enabled, and whether
// they are. The map is empty if the driver has no such counter, or if the kernel is older than
// 5.16.
func (c *Conn) OptionalCounters(device, port uint32) (map[string]bool, error) {
	messages, err := c.execute(cmdStatStatus, 0, func(e *netlink.AttributeEncoder) {
		e.Uint32(attrDevIndex, device)
		e.Uint32(attrPortIndex, port)
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
		return map[string]bool{}, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, m := range messages {
		if err := parse(m.Data, func(ad *netlink.AttributeDecoder) {
			if ad.Type() == attrStatHWCounters {
				entries(ad, func(ad *netlink.AttributeDecoder) (none struct{}) {
					addOptional(all, ad)
					return none
				})
			}
		}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// addOptional adds a counter if it has a status, as only optional counters have.
func addOptional(all map[string]bool, ad *netlink.AttributeDecoder) {
	var name string
	var status *uint8
	for ad.Next() {
		switch ad.Type() {
		case attrStatHWName:
			name = ad.String()
		case attrStatHWDynamic:
			status = new(ad.Uint8())
		}
	}
	if status != nil {
		all[name] = *status != 0
	}
}
