package roce

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/ibkit/ibkit/internal/rdmanl"
	"github.com/ibkit/ibkit/internal/sysfs"
)

// Counters reads the counters of a port: sysfs counters by their names, and the statistics of
// its network devices that [Verdicts] uses, with [StatisticPrefix]. Statistics of a bond are
// sums.
func (h Host) Counters(s *PortSettings) (map[string]uint64, []error) {
	h = h.withDefaults()
	var problems []error
	all := map[string]uint64{}
	device := sysfs.FS(h.Sysfs).Dir(&problems, "class/infiniband", s.Device)
	port := device.Sub("ports").Sub(strconv.Itoa(s.Number))
	for _, d := range []sysfs.Dir{device.Sub("hw_counters"), port.Sub("counters"), port.Sub("hw_counters")} {
		maps.Copy(all, d.Counters())
	}
	problems = append(problems, h.AddOptional(all, s)...)
	for _, l := range s.Links {
		maps.Copy(all, netdevCounters(sysfs.FS(h.Sysfs).Dir(&problems, "class/net", l.Netdev, "statistics")))
		problems = append(problems, h.AddStatistics(all, l.Netdev)...)
	}
	return all, problems
}

// netdevCounters returns the packet counts of a network device.
func netdevCounters(d sysfs.Dir) map[string]uint64 {
	all := map[string]uint64{}
	for _, name := range []string{"rx_packets", "tx_packets"} {
		if v := d.Uint(name, 64); v != nil {
			all["netdev_"+name] = *v
		}
	}
	return all
}

// AddOptional adds the optional counters of a port that are enabled to counters.
func (h Host) AddOptional(all map[string]uint64, s *PortSettings) []error {
	h = h.withDefaults()
	if h.PortCounters == nil || s.index == nil || len(s.EnabledOptional()) == 0 {
		return nil
	}
	values, err := h.PortCounters(*s.index, uint32(s.Number))
	if err != nil {
		return []error{fmt.Errorf("query optional counters of %s: %w", s.Name(), err)}
	}
	for name, v := range values {
		if s.Optional[name] {
			all[name] = v
		}
	}
	return nil
}

// AddStatistics adds the statistics of a network device to counters.
func (h Host) AddStatistics(all map[string]uint64, netdev string) []error {
	h = h.withDefaults()
	if h.Statistics == nil {
		return nil
	}
	statistics, err := h.Statistics(netdev)
	if err != nil {
		return []error{err}
	}
	for name, v := range statistics {
		if name = StatisticPrefix + name; Judges(name) {
			all[name] += v
		}
	}
	return nil
}

// Increase returns the increases of counters since an earlier reading. Counters that were
// cleared are omitted.
func Increase(before, now map[string]uint64) map[string]uint64 {
	all := map[string]uint64{}
	for name, v := range now {
		if was, ok := before[name]; ok && v >= was {
			all[name] = v - was
		}
	}
	return all
}

// optionalCounters and portCounters query the kernel.
func optionalCounters(device, port uint32) (map[string]bool, error) {
	return queryKernel(func(c *rdmanl.Conn) (map[string]bool, error) { return c.OptionalCounters(device, port) })
}

func portCounters(device, port uint32) (map[string]uint64, error) {
	return queryKernel(func(c *rdmanl.Conn) (map[string]uint64, error) {
		s, err := c.PortStatistic(device, port)
		if s == nil {
			return nil, err
		}
		return s.Counters, err
	})
}

func queryKernel[T any](query func(*rdmanl.Conn) (T, error)) (v T, err error) {
	c, err := rdmanl.Dial()
	if err != nil {
		return v, err
	}
	defer c.Close()
	return query(c)
}
