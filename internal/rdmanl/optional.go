package rdmanl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// An optionalCounter counts only if it is enabled.
type optionalCounter struct {
	name    string
	index   uint32
	enabled bool
}

// OptionalCounters returns a port's counters that count only if they are enabled, and whether
// they are. The map is empty if the driver has no such counter, or if the kernel is older than
// 5.16.
func (c *Conn) OptionalCounters(device, port uint32) (map[string]bool, error) {
	list, err := c.optionalCounters(device, port)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, o := range list {
		all[o.name] = o.enabled
	}
	return all, nil
}

// SetOptionalCounters enables a port's optional counters with the names and disables all
// others. It requires CAP_NET_ADMIN.
func (c *Conn) SetOptionalCounters(device, port uint32, names []string) error {
	list, err := c.optionalCounters(device, port)
	if err != nil {
		return err
	}
	var indexes []uint32
	for _, name := range names {
		i := slices.IndexFunc(list, func(o optionalCounter) bool { return o.name == name })
		if i < 0 {
			return fmt.Errorf("enable counter %s: the port has no such optional counter", name)
		}
		indexes = append(indexes, list[i].index)
	}
	_, err = c.execute(cmdStatSet, netlink.Acknowledge, func(e *netlink.AttributeEncoder) {
		e.Uint32(attrDevIndex, device)
		e.Uint32(attrPortIndex, port)
		e.Nested(attrStatHWCounters, func(e *netlink.AttributeEncoder) error {
			for _, index := range indexes {
				e.Uint32(attrStatHWIndex, index)
			}
			return nil
		})
	})
	return err
}

func (c *Conn) optionalCounters(device, port uint32) (list []optionalCounter, _ error) {
	messages, err := c.execute(cmdStatStatus, 0, func(e *netlink.AttributeEncoder) {
		e.Uint32(attrDevIndex, device)
		e.Uint32(attrPortIndex, port)
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		if err := parse(m.Data, func(ad *netlink.AttributeDecoder) {
			if ad.Type() == attrStatHWCounters {
				entries(ad, func(ad *netlink.AttributeDecoder) (none struct{}) {
					if o, ok := parseOptional(ad); ok {
						list = append(list, o)
					}
					return none
				})
			}
		}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// parseOptional parses a counter. It reports whether it has a status, as only optional
// counters have.
func parseOptional(ad *netlink.AttributeDecoder) (o optionalCounter, ok bool) {
	for ad.Next() {
		switch ad.Type() {
		case attrStatHWName:
			o.name = ad.String()
		case attrStatHWIndex:
			o.index = ad.Uint32()
		case attrStatHWDynamic:
			o.enabled, ok = ad.Uint8() != 0, true
		}
	}
	return o, ok
}
