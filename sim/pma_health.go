package sim

import "time"

// addWear gives the demo the counters of a cluster that has been in operation for some
// time: a bad cable, a congested link, a host that was restarted many times.
func addWear(f *Fabric) {
	f.Model.Load, f.Model.Uptime = 0.2, 31*time.Hour

	cable := &f.Node("leaf1").Ports[1]
	f.mustCount(cable, map[string]uint64{
		"SymbolErrorCounter":       48213,
		"LinkErrorRecoveryCounter": 3,
		"LinkDownedCounter":        2,
		"PortRcvErrors":            127,
		"PortLocalPhysicalErrors":  119,
		"PortMalformedPktErrors":   8,
	})
	f.mustCount(cable.Peer, map[string]uint64{"SymbolErrorCounter": 1906, "LinkErrorRecoveryCounter": 3, "LinkDownedCounter": 2})
	f.mustGrow(cable, "SymbolErrorCounter", 2.5)
	f.mustGrow(cable.Peer, "SymbolErrorCounter", 0.1)
	// Packets that the bad cable damaged were marked and forwarded.
	f.mustCount(&f.Node("node02").Ports[1], map[string]uint64{"PortRcvRemotePhysicalErrors": 41})

	congested := f.Node("node14").Ports[1].Peer
	f.mustCount(congested, map[string]uint64{
		"PortXmitDiscards":               1822,
		"PortSwHOQLifetimeLimitDiscards": 1799,
		"PortSwLifetimeLimitDiscards":    23,
		"PortXmitWait":                   91_338_402,
	})
	f.mustGrow(congested, "PortXmitWait", 187.5e6) // 6 % of 200 Gb/s in 8-byte ticks

	f.mustCount(f.Node("node10").Ports[1].Peer, map[string]uint64{"LinkDownedCounter": 17, "LinkErrorRecoveryCounter": 1})
}

// mustCount sets counters on a preset port.
func (f *Fabric) mustCount(p *Port, values map[string]uint64) {
	for name, value := range values {
		if err := f.SetCounter(p, name, value); err != nil {
			panic(err)
		}
	}
}

func (f *Fabric) mustGrow(p *Port, name string, perSecond float64) {
	if err := f.SetCounterRate(p, name, perSecond); err != nil {
		panic(err)
	}
}
