package rdmanl

import (
	"errors"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// A Statistic is a counter set that the driver keeps.
type Statistic struct {
	Port      uint32
	CounterID *uint32 // for counters bound to queue pairs; nil for port counters
	Mode      *uint32 // for bound counters: 1 automatic, 2 manual (enum rdma_nl_counter_mode)
	QPType    *uint8  // for automatically bound counters
	QPs       []QPRange
	MRN       *uint32 // memory region with the counters, or nil
	Counters  map[string]uint64
}

// PortStatistic returns the port counters; nil if the driver does not count.
func (c *Conn) PortStatistic(device, port uint32) (*Statistic, error) {
	messages, err := c.execute(cmdStatGet, 0, func(e *netlink.AttributeEncoder) {
		e.Uint32(attrDevIndex, device)
		e.Uint32(attrPortIndex, port)
	})
	if errors.Is(err, unix.EINVAL) || err == nil && len(messages) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s Statistic
	err = parse(messages[0].Data, s.set)
	return &s, err
}

// BoundStatistics returns the counters that are bound to objects of a kind, [QPs] or
// [MRs]. The list is empty if the driver or the kernel does not support them.
func (c *Conn) BoundStatistics(device uint32, kind ResourceKind) ([]Statistic, error) {
	table := resourceKinds[kind].table
	messages, err := c.execute(cmdStatGet, netlink.Dump, func(e *netlink.AttributeEncoder) {
		e.Uint32(attrDevIndex, device)
		e.Uint32(attrStatResource, uint32(table))
	})
	if errors.Is(err, unix.EINVAL) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if kind == QPs {
		table = attrStatCounter
	}
	var all []Statistic
	for _, m := range messages {
		some, err := parseStatistics(m.Data, table)
		if err != nil {
			return all, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// parseStatistics parses the counter sets in a table. Objects without counters are omitted.
func parseStatistics(b []byte, table uint16) ([]Statistic, error) {
	all, err := parseTable(b, table, func(ad *netlink.AttributeDecoder) (s Statistic) {
		for ad.Next() {
			s.set(ad)
		}
		return s
	})
	var some []Statistic
	for _, s := range all {
		if s.Counters != nil {
			some = append(some, s)
		}
	}
	return some, err
}

// set sets the field for the current attribute.
func (s *Statistic) set(ad *netlink.AttributeDecoder) {
	switch ad.Type() {
	case attrPortIndex:
		s.Port = ad.Uint32()
	case attrStatCounterID:
		s.CounterID = new(ad.Uint32())
	case attrStatMode:
		s.Mode = new(ad.Uint32())
	case attrResType:
		s.QPType = new(ad.Uint8())
	case attrResQP:
		s.QPs = parseQPs(ad)
	case attrResMRN:
		s.MRN = new(ad.Uint32())
	case attrStatHWCounters:
		s.Counters = map[string]uint64{}
		entries(ad, func(ad *netlink.AttributeDecoder) (none struct{}) {
			var name string
			var value uint64
			for ad.Next() {
				switch ad.Type() {
				case attrStatHWName:
					name = ad.String()
				case attrStatHWValue:
					value = ad.Uint64()
				}
			}
			s.Counters[name] = value
			return none
		})
	}
}
