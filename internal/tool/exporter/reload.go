package exporter

// Reload makes later sweeps of a fabric use the options Fabric, NodeNames and CheckNodes of o.
// It may be called during a sweep. The ports of this host have no such options.
func (e *Exporter) Reload(o Options) {
	if e.opts.Names != Node {
		e.reloaded.Store(e.newFabricSource(o))
	}
}

// newFabricSource returns a source with the options of o that may change.
func (e *Exporter) newFabricSource(o Options) *fabricSource {
	return &fabricSource{options: o.Fabric, names: o.NodeNames, check: o.CheckNodes, write: writerOf[e.opts.Names], all: e.opts.AllMetrics}
}

// currentSource returns the source of the next sweep.
func (e *Exporter) currentSource() source {
	if s := e.reloaded.Load(); s != nil {
		return s
	}
	return e.source
}
