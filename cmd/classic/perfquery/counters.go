package perfquery

import (
	"fmt"
	"math"
	"os"

	"github.com/ibkit/ibkit/mad"
)

// show prints port counters, or their sums.
func (c *command) show(ports []int, sum bool) error {
	if !c.extended {
		total := &mad.PortCounters{}
		for _, p := range ports {
			a, err := c.readCounters(p)
			if err != nil {
				return err
			}
			if sum {
				addCounters(total, a)
			} else if err := c.print(p, a); err != nil {
				return err
			}
		}
		if sum {
			return c.print(allPorts, total)
		}
		return nil
	}
	total := &mad.PortCountersExtended{}
	for _, p := range ports {
		a := &mad.PortCountersExtended{}
		if err := c.readExtended(p, a); err != nil {
			return err
		}
		if sum {
			addCounters(total, a)
		} else if err := c.printExtended(p, a); err != nil {
			return err
		}
	}
	if sum {
		return c.printExtended(allPorts, total)
	}
	return nil
}

func (c *command) readCounters(port int) (*mad.PortCounters, error) {
	a, err := c.agent.Read(port)
	if err != nil {
		return nil, err
	}
	if !c.agent.Caps.Has(mad.PerfXmitWait) {
		if c.Verbose > 0 {
			fmt.Fprintf(c.out, "[%d] dump_perfcounters: PortXmitWait not indicated so ignore this counter\n", os.Getpid())
		}
		a.XmitWait = 0
	}
	return a, nil
}

func (c *command) readExtended(port int, a *mad.PortCountersExtended) error {
	if !c.agent.Caps.HasExtended() {
		c.agent.Warnf("dump_perfcounters", "PerfMgt ClassPortInfo CapMask 0x%02X; No extended counter support indicated\n", uint16(c.agent.Caps))
	}
	if c.agent.Get(&c.agent.To, port, a) != nil {
		return c.fail("dump_perfcounters", "perfextquery")
	}
	return nil
}

func (c *command) print(port int, a *mad.PortCounters) error {
	fmt.Fprintf(c.out, "# Port counters: %v port %d (CapMask: 0x%02X)\n", c.agent.To, port, uint16(c.agent.Caps))
	return mad.Dump(c.out, a)
}

func (c *command) printExtended(port int, a *mad.PortCountersExtended) error {
	fmt.Fprintf(c.out, "# Port extended counters: %v port %d (CapMask: 0x%02X CapMask2: 0x%07X)\n", c.agent.To, port, uint16(c.agent.Caps), uint32(c.agent.Caps2))
	return a.DumpSupported(c.out, c.agent.Caps, c.agent.Caps2)
}

// addCounters adds a port's counters to total, up to each field's largest value. The
// masks in total come from the last port.
func addCounters(total, a mad.Attribute) {
	var values []uint64
	mad.Visit(a, func(_ string, _ int, v uint64) uint64 {
		values = append(values, v)
		return v
	})
	i := 0
	mad.Visit(total, func(name string, width int, v uint64) uint64 {
		more := values[i]
		i++
		switch name {
		case "PortSelect":
			return allPorts
		case "CounterSelect", "CounterSelect2":
			return more
		}
		limit := uint64(math.MaxUint64) >> (64 - width)
		if more > limit-v {
			return limit
		}
		return v + more
	})
}
