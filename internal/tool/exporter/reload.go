package exporter

// Reload makes later fabric sweeps use the options Fabric, NodeNames and CheckNodes from o.
// It may be called during a sweep. This host's ports have no such options.
func (e *Exporter) Reload(o Options) {
	if e.opts.Names != Node {
		e.reloaded.Store(e.newFabricSource(o))
	}
}

// newFabricSource returns a source with the options in o that may change.
func (e *Exporter) newFabricSource(o Options) *fabricSource {
	s := &fabricSource{options: o.Fabric, names: o.NodeNames, check: o.CheckNodes, write: writerOf[e.opts.Names], all: e.opts.AllMetrics}
	if o.PHY {
		s.registers = &registerSource{o.VendorKey, e.opts.Timeout / 2}
	}
	s.pings = e.newPingSource()
	return s
}

// newPingSource returns the source of standing probes on other hosts, or nil.
func (e *Exporter) newPingSource() *pingSource {
	if e.opts.PingHosts == "" {
		return nil
	}
	return &pingSource{list: e.opts.PingHosts, limit: e.opts.Timeout / 4, log: e.opts.Log}
}

// currentSource returns the next sweep's source.
func (e *Exporter) currentSource() source {
	if s := e.reloaded.Load(); s != nil {
		return s
	}
	return e.source
}
