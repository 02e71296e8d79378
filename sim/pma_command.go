package sim

import (
	"io"
	"strconv"
)

// parseCounter reads "counter PORT NAME VALUE", which sets a counter.
func parseCounter(f *Fabric, l *eventLine) (action, error) {
	p, name, err := l.counter(f)
	if err != nil {
		return nil, err
	}
	value, err := l.integer("a value", 1<<64-1)
	return func(f *Fabric, _ io.Writer) error { return f.SetCounter(p, name, value) }, err
}

// parseRate reads "rate PORT NAME PER-SECOND", which lets a counter grow.
func parseRate(f *Fabric, l *eventLine) (action, error) {
	p, name, err := l.counter(f)
	if err != nil {
		return nil, err
	}
	l.blanks()
	start := l.at
	perSecond, err := strconv.ParseFloat(l.run(isBare), 64)
	if err != nil || !(perSecond >= 0 && perSecond <= maxRate) {
		l.at = start
		return nil, l.expected("how much it grows in a second")
	}
	return func(f *Fabric, _ io.Writer) error { return f.SetCounterRate(p, name, perSecond) }, nil
}

// counter reads a port and the name of one of its counters.
func (l *eventLine) counter(f *Fabric) (*Port, string, error) {
	p, err := l.port(f)
	if err != nil {
		return nil, "", err
	}
	l.blanks()
	start := l.at
	name := l.run(isBare)
	if _, err := placesOf(name); err != nil {
		l.at = start
		return nil, "", l.expected("the name of a counter, such as SymbolErrorCounter")
	}
	return p, name, nil
}
