package sim

import (
	"io"
	"strconv"

	"github.com/ibkit/ibkit/mad"
)

// parseCounter parses "counter PORT NAME VALUE", which sets a counter.
func parseCounter(f *Fabric, l *eventLine) (action, error) {
	p, name, err := l.counter(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	value, err := l.integer("a value", 1<<64-1)
	return func(f *Fabric, _ io.Writer) error { return f.SetCounter(p, name, value) }, err
}

// parsePerfCaps parses "perfcaps NODE|all MASK [MASK2]", which sets capabilities.
func parsePerfCaps(f *Fabric, l *eventLine) (action, error) {
	nodes, err := l.nodes(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	caps, err := l.integer("a capability mask", 1<<16-1)
	if err != nil {
		return nil, err
	}
	caps2 := uint64(0)
	if l.more() {
		if caps2, err = l.integer("a second capability mask", 1<<27-1); err != nil {
			return nil, err
		}
	}
	return func(*Fabric, io.Writer) error {
		for _, n := range nodes {
			n.SetPerfCaps(mad.PerfCapMask(caps), mad.PerfCapMask2(caps2))
		}
		return nil
	}, nil
}

// nodes reads a node or "all".
func (l *eventLine) nodes(f *Fabric) ([]*Node, error) {
	l.Blanks()
	start := l.At
	if l.Run(isBare) == "all" {
		return f.Nodes, nil
	}
	l.At = start
	n, err := l.node(f)
	return []*Node{n}, err
}

// parseRate parses "rate PORT NAME PER-SECOND", which makes a counter grow.
func parseRate(f *Fabric, l *eventLine) (action, error) {
	p, name, err := l.counter(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	start := l.At
	perSecond, err := strconv.ParseFloat(l.Run(isBare), 64)
	if err != nil || !(perSecond >= 0 && perSecond <= maxRate) {
		l.At = start
		return nil, l.Expected("an increase per second")
	}
	return func(f *Fabric, _ io.Writer) error { return f.SetCounterRate(p, name, perSecond) }, nil
}

// counter reads a port and a counter name.
func (l *eventLine) counter(f *Fabric) (*Port, string, error) {
	p, err := l.port(f)
	if err != nil {
		return nil, "", err
	}
	l.Blanks()
	start := l.At
	name := l.Run(isBare)
	if _, err := placesOf(name); err != nil {
		l.At = start
		return nil, "", l.Expected("the name of a counter, for example SymbolErrorCounter")
	}
	return p, name, nil
}
