package pma

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// An Error is an operation for which perfquery ends: its function and its message.
type Error struct{ Function, Text string }

func (e *Error) Error() string { return e.Text }

func errorf(function, format string, args ...any) error {
	return &Error{function, fmt.Sprintf(format, args...)}
}

// An Agent is an agent of performance management as perfquery uses it. Its errors are of
// type [*Error].
type Agent struct {
	*Caller
	To    umad.Target
	Caps  mad.PerfCapMask
	Caps2 mad.PerfCapMask2
}

// Describe queries the capabilities. If the agent has no sums over all ports, port is
// mad.AllPorts and emulate is not set, it returns an error.
func (a *Agent) Describe(port int, emulate bool) error {
	var info mad.ClassPortInfo
	if a.Get(&a.To, port, &info) != nil {
		return errorf("main", "classportinfo query")
	}
	a.Caps, a.Caps2 = info.PerfCaps()
	if port == mad.AllPorts && !emulate && !a.Caps.Has(mad.PerfAllPortSelect) {
		return errorf("main", "%s", NoAllPortSelect)
	}
	return nil
}

// NoAllPortSelect is the message of perfquery about an agent that has no sums over all
// ports.
const NoAllPortSelect = "AllPortSelect not supported"

// Ports returns the ports of the node: with an enhanced port 0 from 0 on.
func (a *Agent) Ports() ([]int, error) {
	var node mad.NodeInfo
	if a.GetSMP(a.To, 0, &node) != nil {
		return nil, errorf("main", "smp query nodeinfo failed")
	}
	if node.NumPorts == 0 {
		return nil, errorf("main", "smp query nodeinfo: num ports invalid")
	}
	first := 1
	if node.IsSwitch() {
		var sw mad.SwitchInfo
		if a.GetSMP(a.To, 0, &sw) != nil {
			return nil, errorf("main", "smp query nodeinfo failed")
		}
		if sw.EnhancedPort0 != 0 {
			first = 0
		}
	}
	var ports []int
	for p := first; p <= int(node.NumPorts); p++ {
		ports = append(ports, p)
	}
	return ports, nil
}

// WarnEmulated prints the warning of perfquery that it adds up the counters of all ports
// itself.
func (a *Agent) WarnEmulated() {
	a.Warnf("main", "Emulating AllPortSelect by iterating through all ports")
}

// Read reads PortCounters.
func (a *Agent) Read(port int) (*mad.PortCounters, error) {
	c := &mad.PortCounters{}
	if a.Get(&a.To, port, c) != nil {
		return nil, errorf("dump_perfcounters", "perfquery")
	}
	return c, nil
}

// A Mask selects counters to reset.
type Mask struct {
	Given bool // by the user; otherwise all
	Bits  uint64
}

// ResetPorts resets the selected counters of ports, in PortCounters or in
// PortCountersExtended.
func (a *Agent) ResetPorts(ports []int, m Mask, extended bool) error {
	mask := m.Lowest32()
	if !m.Given || extended {
		mask |= a.optionalCounters(extended)
	}
	id, failure := mad.AttrPortCounters, "perf reset"
	if extended {
		id, failure = mad.AttrPortCountersExtended, "perf ext reset"
	}
	for _, p := range ports {
		if a.Reset(&a.To, id, Selection{Port: p, Counters: mask}) != nil {
			return errorf("reset_counters", "%s", failure)
		}
	}
	return nil
}

// Lowest32 returns the mask as perfquery passes it to the library.
func (m Mask) Lowest32() uint64 {
	if !m.Given {
		return 0xffff
	}
	return uint64(uint32(m.Bits))
}

// optionalCounters returns the mask of the counters beyond CounterSelect.
func (a *Agent) optionalCounters(extended bool) uint64 {
	const xmitWait, qp1Dropped = 1 << 16, 1 << 17
	const errors, extendedXmitWait, extendedQP1Dropped = 0xfff0000, 1 << 28, 1 << 29
	mask := uint64(0)
	for _, counter := range []struct {
		caps           mad.PerfCapMask
		normal, inWide uint64
	}{{0, 0, errors}, {mad.PerfXmitWait, xmitWait, extendedXmitWait}, {mad.PerfQP1Dropped, qp1Dropped, extendedQP1Dropped}} {
		switch {
		case !a.Caps.Has(counter.caps):
		case extended:
			mask |= counter.inWide
		default:
			mask |= counter.normal
		}
	}
	return mask
}
