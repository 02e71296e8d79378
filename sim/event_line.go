package sim

import (
	"strconv"
	"strings"
	"time"
)

// An eventLine is a line in an event script or on the console.
type eventLine struct{ netLine }

// isBare reports whether a name with this byte needs no quotation marks.
func isBare(c byte) bool { return c > ' ' && c != '"' && c != '[' && c != ']' && c != '#' && c != 0x7f }

// name reads a name, with or without quotation marks.
func (l *eventLine) name(what string) (string, error) {
	l.blanks()
	if strings.HasPrefix(l.rest(), `"`) {
		return l.quoted(what)
	}
	if word := l.run(isBare); word != "" {
		return word, nil
	}
	return "", l.expected(what)
}

// node reads a node ID or description.
func (l *eventLine) node(f *Fabric) (*Node, error) {
	l.blanks()
	start := l.at
	name, err := l.name("a node")
	if err != nil {
		return nil, err
	}
	n := f.named(name)
	if n == nil {
		l.at = start
		return nil, l.errorf("unknown node %q", name)
	}
	return n, nil
}

// port reads NODE[NUMBER].
func (l *eventLine) port(f *Fabric) (*Port, error) {
	n, err := l.node(f)
	if err != nil {
		return nil, err
	}
	return l.portOf(n)
}

// ports reads NODE or NODE[NUMBER], and returns the node's ports from a number on, or the
// selected port.
func (l *eventLine) ports(f *Fabric, from int) ([]Port, error) {
	n, err := l.node(f)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(l.rest(), "[") {
		return n.Ports[from:], nil
	}
	p, err := l.portOf(n)
	if err != nil {
		return nil, err
	}
	return n.Ports[p.Number:][:1], nil
}

// portOf reads a port number in brackets.
func (l *eventLine) portOf(n *Node) (*Port, error) {
	start := l.at
	number, err := l.bracketed()
	if err != nil {
		return nil, err
	}
	if number >= len(n.Ports) {
		l.at = start
		return nil, l.errorf("want a port of node %q, from 1 to %d", n.ID, len(n.Ports)-1)
	}
	return &n.Ports[number], nil
}

// more skips blanks and reports whether another argument follows.
func (l *eventLine) more() bool {
	l.blanks()
	return l.rest() != ""
}

// duration reads a duration, for example 1.5s or 20us.
func (l *eventLine) duration(what string) (time.Duration, error) {
	l.blanks()
	start := l.at
	d, err := time.ParseDuration(l.run(isBare))
	if err != nil || d < 0 {
		l.at = start
		return 0, l.expected(what + ", for example 1.5s or 20us")
	}
	return d, nil
}

// integer skips blanks and reads a number.
func (l *eventLine) integer(what string, most uint64) (uint64, error) {
	l.blanks()
	return l.netLine.integer(what, most)
}

// when reads an event time: a duration, or @ and a packet count.
func (l *eventLine) when(e *Event) (err error) {
	l.blanks()
	start := l.at
	if !l.accept("@") {
		e.After, err = l.duration("a time")
		return err
	}
	if e.Packets, err = strconv.ParseUint(l.run(isDigit), 10, 63); err != nil || e.Packets == 0 {
		l.at = start
		return l.expected("a time, for example 1.5s, or @ and a number of packets from 1")
	}
	return nil
}
