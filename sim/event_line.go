package sim

import (
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/internal/netfile"
)

// An eventLine is a line in an event script or on the console.
type eventLine struct{ netfile.Line }

// isBare reports whether a name with this byte needs no quotation marks.
func isBare(c byte) bool { return c > ' ' && c != '"' && c != '[' && c != ']' && c != '#' && c != 0x7f }

// name reads a name, with or without quotation marks.
func (l *eventLine) name(what string) (string, error) {
	l.Blanks()
	if strings.HasPrefix(l.Rest(), `"`) {
		return l.Quoted(what)
	}
	if word := l.Run(isBare); word != "" {
		return word, nil
	}
	return "", l.Expected(what)
}

// node reads a node ID or description.
func (l *eventLine) node(f *Fabric) (*Node, error) {
	l.Blanks()
	start := l.At
	name, err := l.name("a node")
	if err != nil {
		return nil, err
	}
	n := f.named(name)
	if n == nil {
		l.At = start
		return nil, l.Errorf("unknown node %q", name)
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
	if !strings.HasPrefix(l.Rest(), "[") {
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
	start := l.At
	number, err := l.Bracketed()
	if err != nil {
		return nil, err
	}
	if number >= len(n.Ports) {
		l.At = start
		return nil, l.Errorf("want a port of node %q, from 1 to %d", n.ID, len(n.Ports)-1)
	}
	return &n.Ports[number], nil
}

// more skips blanks and reports whether another argument follows.
func (l *eventLine) more() bool {
	l.Blanks()
	return l.Rest() != ""
}

// duration reads a duration, for example 1.5s or 20us.
func (l *eventLine) duration(what string) (time.Duration, error) {
	l.Blanks()
	start := l.At
	d, err := time.ParseDuration(l.Run(isBare))
	if err != nil || d < 0 {
		l.At = start
		return 0, l.Expected(what + ", for example 1.5s or 20us")
	}
	return d, nil
}

// integer skips blanks and reads a number.
func (l *eventLine) integer(what string, most uint64) (uint64, error) {
	l.Blanks()
	return l.Line.Integer(what, most)
}

// when reads an event time: a duration, or @ and a packet count.
func (l *eventLine) when(e *Event) (err error) {
	l.Blanks()
	start := l.At
	if !l.Accept("@") {
		e.After, err = l.duration("a time")
		return err
	}
	if e.Packets, err = strconv.ParseUint(l.Run(netfile.IsDigit), 10, 63); err != nil || e.Packets == 0 {
		l.At = start
		return l.Expected("a time, for example 1.5s, or @ and a number of packets from 1")
	}
	return nil
}
