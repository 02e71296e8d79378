package sim

import (
	"io"
	"strings"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// parseClear parses "clear PORT|NODE", which sets all counters to 0.
func parseClear(f *Fabric, l *eventLine) (action, error) {
	ports, err := l.ports(f, 0)
	return func(f *Fabric, _ io.Writer) error {
		for i := range ports {
			f.ClearCounters(&ports[i])
		}
		return nil
	}, err
}

// ClearCounters sets all port counters to 0. Their growth continues.
func (f *Fabric) ClearCounters(p *Port) {
	f.updateCounters(p)
	clear(p.counts.tables)
}

// perfFaults are the faults by their names in commands.
var perfFaults = map[string]perfFault{
	"ok": 0, "silent": perfSilent, "other-port": perfOtherPort, "rejected": perfRejected,
}

// parsePerfFault parses "pma NODE|all FAULT".
func parsePerfFault(f *Fabric, l *eventLine) (action, error) {
	nodes, err := l.nodes(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	start := l.At
	word := l.Run(isBare)
	fault, known := perfFaults[word]
	var late time.Duration
	if text, isLate := strings.CutPrefix(word, "late="); isLate {
		late, err = time.ParseDuration(text)
		known = err == nil && late >= 0
	}
	if !known {
		l.At = start
		return nil, l.Expected("ok, silent, other-port, rejected or late=TIME")
	}
	return func(*Fabric, io.Writer) error {
		for _, n := range nodes {
			n.perf.fault, n.perf.late = fault, late
		}
		return nil
	}, nil
}

// parseRedirect parses "redirect NODE PORT QPN [P_KEY]" and "redirectgid" with the same
// operands.
func parseRedirect(byGID bool) func(*Fabric, *eventLine) (action, error) {
	return func(f *Fabric, l *eventLine) (action, error) { return parseRedirectTo(f, l, byGID) }
}

func parseRedirectTo(f *Fabric, l *eventLine, byGID bool) (action, error) {
	n, err := l.node(f)
	if err != nil {
		return nil, err
	}
	to, err := l.port(f)
	if err != nil {
		return nil, err
	}
	l.Blanks()
	start := l.At
	qpn, err := l.integer("a number of a queue pair", 1<<24-1)
	if err == nil && qpn < 2 {
		l.At = start
		err = l.Expected("a number of a queue pair from 2")
	}
	if err != nil {
		return nil, err
	}
	key := uint64(0)
	if l.more() {
		if key, err = l.integer("a P_Key", 1<<16-1); err != nil {
			return nil, err
		}
	}
	return func(f *Fabric, _ io.Writer) error {
		f.SetPerfRedirect(n, to, uint32(qpn), mad.PKey(key), byGID)
		return nil
	}, nil
}

// parseFEC parses "fec PORT MODE".
func parseFEC(f *Fabric, l *eventLine) (action, error) {
	p, err := l.port(f)
	if err != nil {
		return nil, err
	}
	mode, err := l.integer("a mode from 0 to 3", uint64(mad.FECRSLowLatency))
	return func(*Fabric, io.Writer) error {
		p.SetFEC(uint16(mode))
		return nil
	}, err
}
