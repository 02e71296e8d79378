package counters

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// A Baseline contains a fabric's counters at a point in time.
type Baseline struct {
	ports map[baselineKey]*Sample
	Began time.Time // first sample

	// Partial reports that counters on selected ports are missing.
	Partial bool

	// Simulation is the time from which a simulated fabric's counters increase, if the
	// fabric ended with the process that wrote the baseline; zero otherwise.
	Simulation time.Time

	// Damage has an error for each line that could not be read, a [*textfile.Error]. The
	// baseline is then partial, and ports without their line have no earlier sample.
	Damage []error
}

type baselineKey struct {
	node ib.GUID
	port uint8
}

// baselineHeader is the first line in a baseline with the current version.
const baselineHeader = "ibkit counters baseline "

// baselineVersion is the version that this package writes and reads.
const baselineVersion = 1

// partialLine follows the header of a partial baseline, and the line that begins with
// simulationWord follows it for a fabric that the process simulated.
const (
	partialLine    = "partial"
	simulationWord = "simulation"
)

// WriteBaseline writes ports' last samples. The format is text, one line per port;
// docs/counters.md describes it. The line "partial" is missing in a complete baseline:
//
//	ibkit counters baseline 1
//	partial
//	simulation 1763999990.123456789
//	node 0x0002c9030010a1b2 caps 0x1200 caps2 0x2 "leaf1"
//	port 1 basic 1764000000.123456789 0 17 0 ...
//	port 1 extended 1764000000.123456789 5 0 ...
//	end 2
func WriteBaseline(w io.Writer, nodes []*Node, partial bool) error {
	return writeBaseline(w, nodes, partial, time.Time{})
}

func writeBaseline(w io.Writer, nodes []*Node, partial bool, simulation time.Time) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s%d\n", baselineHeader, baselineVersion)
	if partial {
		fmt.Fprintln(out, partialLine)
	}
	if !simulation.IsZero() {
		fmt.Fprintf(out, "%s %d.%09d\n", simulationWord, simulation.Unix(), simulation.Nanosecond())
	}
	count := 0
	var line []byte
	for _, n := range nodes {
		began := false
		for _, p := range n.Ports {
			if p.Now == nil {
				continue
			}
			if !began {
				fmt.Fprintf(out, "node %v caps 0x%x caps2 0x%x %q\n", n.GUID, uint16(n.Caps), uint32(n.Caps2), n.Desc.String())
				began = true
			}
			if p.Now.Basic != nil {
				line = appendValues(line[:0], p.Number, "basic", p.Now.BasicAt, p.Now.Basic)
				out.Write(line)
				count++
			}
			if x := p.Now.Extended(); x != nil {
				line = appendValues(line[:0], p.Number, "extended", p.Now.ExtendedAt, x)
				out.Write(line)
				count++
			}
		}
	}
	fmt.Fprintf(out, "end %d\n", count)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write baseline: %w", err)
	}
	return nil
}

// WriteBaselineFile replaces a file as a whole by a result's last samples. simulation is as
// in [Baseline].
func WriteBaselineFile(path string, r *Result, simulation time.Time) error {
	return fileout.Write(path, func(w io.Writer) error { return writeBaseline(w, r.Nodes, !r.Complete(), simulation) })
}

// appendValues appends a line with an attribute's fields, in their order in the classic
// dump, without the selection.
func appendValues(b []byte, port uint8, kind string, at time.Time, a mad.Attribute) []byte {
	b = fmt.Appendf(b, "port %d %s %d.%09d", port, kind, at.Unix(), at.Nanosecond())
	mad.Visit(a, func(name string, _ int, v uint64) uint64 {
		if !isSelection(name) {
			b = strconv.AppendUint(append(b, ' '), v, 10)
		}
		return v
	})
	return append(b, '\n')
}

func isSelection(name string) bool {
	return name == "PortSelect" || name == "CounterSelect" || name == "CounterSelect2"
}

// ReadBaseline reads output from [WriteBaseline]. name is used in errors, which have type
// [*textfile.Error]. A file without any valid port line but with damage is an error.
func ReadBaseline(r io.Reader, name string) (*Baseline, error) {
	b := &Baseline{ports: map[baselineKey]*Sample{}}
	lines := textfile.NewReader(r, name)
	if !lines.Next() {
		return nil, headError(lines, name)
	}
	if err := header(lines.Text()); err != nil {
		return nil, lines.At(err)
	}
	p := baselineParser{b: b}
	for lines.Next() {
		if err := p.line(lines.Text()); err != nil {
			lines.Reject(err)
			b.Damage = append(b.Damage, lines.At(err))
		}
	}
	if err := lines.End(); err != nil {
		b.Damage = append(b.Damage, err)
	} else if !p.ended {
		b.Damage = append(b.Damage, &textfile.Error{File: name, Line: lines.Line() + 1, Err: errTruncated})
	}
	if len(b.Damage) > 0 {
		b.Partial = true
		if len(b.ports) == 0 {
			return nil, b.Damage[0]
		}
	}
	return b, nil
}

var errTruncated = errors.New("the file is truncated: the line \"end\" is missing")

// headError returns the error of a file without a first line.
func headError(lines *textfile.Reader, name string) error {
	err := lines.End()
	switch {
	case err == nil:
		err = errTruncated
	case errors.Is(err, textfile.ErrTooLong):
		err = errNotBaseline
	default:
		return err
	}
	return &textfile.Error{File: name, Line: 1, Err: err}
}

// ReadBaselineFile reads a file. See [ReadBaseline].
func ReadBaselineFile(path string) (*Baseline, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	defer file.Close()
	b, err := ReadBaseline(file, path)
	if err != nil {
		return nil, fmt.Errorf("read baseline: %w", err)
	}
	return b, nil
}

// A baselineParser parses a baseline's lines.
type baselineParser struct {
	b     *Baseline
	ended bool
	count int // of port lines, also invalid ones

	node  ib.GUID
	isIn  bool // a node line was read
	lost  bool // the last node line is invalid: its ports are unknown
	caps  mad.PerfCapMask
	caps2 mad.PerfCapMask2
}

func (p *baselineParser) line(text string) (err error) {
	if p.ended {
		return errors.New("unexpected line after \"end\"")
	}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case partialLine:
		p.b.Partial = true
		return nil
	case simulationWord:
		p.b.Simulation, err = parseTime(rest)
		return err
	case "node":
		err = p.nodeLine(rest)
		p.lost = err != nil
		return err
	case "port":
		p.count++
		if p.lost {
			return nil
		}
		return p.portLine(strings.Fields(rest))
	case "end":
		p.ended = true
		if n, err := strconv.Atoi(rest); err != nil || n != p.count {
			return fmt.Errorf("number of port lines: got %d, want %s", p.count, textfile.Quote(rest))
		}
		return nil
	}
	return fmt.Errorf("got %s, want a line \"node\", \"port\" or \"end\"", textfile.Quote(text))
}

// errNotBaseline reports a file in another format. It does not contain the file's text,
// which may be binary.
var errNotBaseline = fmt.Errorf("not a baseline of ibkit counters: the first line is not %q with a version", baselineHeader)

// header checks the first line.
func header(text string) error {
	version, ok := strings.CutPrefix(text, baselineHeader)
	n, err := strconv.Atoi(version)
	switch {
	case !ok || err != nil:
		return errNotBaseline
	case n != baselineVersion:
		return fmt.Errorf("version: got %d, want %d", n, baselineVersion)
	}
	return nil
}

// nodeLine parses "GUID caps MASK caps2 MASK NAME".
func (p *baselineParser) nodeLine(text string) error {
	f := strings.SplitN(text, " ", 6)
	if len(f) != 6 || f[1] != "caps" || f[3] != "caps2" {
		return errors.New("got another form, want node GUID caps MASK caps2 MASK NAME")
	}
	guid, err := ib.ParseGUID(f[0])
	if err != nil {
		return err
	}
	caps, err := parseNumber("capability mask", f[2], 0, 16)
	if err != nil {
		return err
	}
	caps2, err := parseNumber("second capability mask", f[4], 0, 27)
	if err != nil {
		return err
	}
	p.node, p.isIn, p.caps, p.caps2 = guid, true, mad.PerfCapMask(caps), mad.PerfCapMask2(caps2)
	return nil
}

// portLine parses "NUMBER KIND TIME VALUE...".
func (p *baselineParser) portLine(f []string) error {
	if !p.isIn {
		return errors.New("a port line precedes the first node line")
	}
	if len(f) < 3 {
		return errors.New("got a short line, want port NUMBER KIND TIME and values")
	}
	number, err := parseNumber("port number", f[0], 10, 8)
	if err != nil {
		return err
	}
	at, err := parseTime(f[2])
	if err != nil {
		return err
	}
	var values mad.Attribute
	switch f[1] {
	case "basic":
		values = &mad.PortCounters{}
	case "extended":
		values = &mad.PortCountersExtended{}
	default:
		return fmt.Errorf("attribute %s: unknown", textfile.Quote(f[1]))
	}
	if err := setValues(values, f[3:]); err != nil {
		return err
	}
	return p.add(baselineKey{p.node, uint8(number)}, values, at)
}

// add adds a port's attribute.
func (p *baselineParser) add(key baselineKey, values mad.Attribute, at time.Time) error {
	s := p.b.ports[key]
	if s == nil {
		s = &Sample{Caps: p.caps, Caps2: p.caps2}
		p.b.ports[key] = s
	}
	switch a := values.(type) {
	case *mad.PortCounters:
		if s.Basic != nil {
			return errors.New("attribute basic: repeated, the first counts")
		}
		s.Basic, s.BasicAt = a, at
	case *mad.PortCountersExtended:
		if s.extended != nil {
			return errors.New("attribute extended: repeated, the first counts")
		}
		s.SetExtended(a, at)
	}
	if p.b.Began.IsZero() || at.Before(p.b.Began) {
		p.b.Began = at
	}
	return nil
}

// parseNumber parses a number with a maximum bit count.
func parseNumber(name, text string, base, width int) (uint64, error) {
	n, err := strconv.ParseUint(text, base, width)
	if err != nil {
		return 0, fmt.Errorf("%s: got %s, want a number from 0 to %d", name, textfile.Quote(text), uint64(1)<<width-1)
	}
	return n, nil
}

// parseTime parses seconds with nine decimals.
func parseTime(s string) (time.Time, error) {
	whole, part, _ := strings.Cut(s, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	nanos, err2 := strconv.ParseUint(part, 10, 32)
	if err != nil || err2 != nil || len(part) != 9 || seconds < 0 {
		return time.Time{}, fmt.Errorf("time: got %s, want seconds with nine decimals", textfile.Quote(s))
	}
	return time.Unix(seconds, int64(nanos)), nil
}

// setValues sets an attribute's fields.
func setValues(a mad.Attribute, values []string) error {
	i, want := 0, 0
	var failed error
	mad.Visit(a, func(name string, width int, v uint64) uint64 {
		if isSelection(name) {
			return v
		}
		want++
		if i >= len(values) {
			return v
		}
		n, err := parseNumber(name, values[i], 10, width)
		if failed == nil {
			failed = err
		}
		i++
		return n
	})
	if failed == nil && len(values) != want {
		failed = fmt.Errorf("number of values: got %d, want %d", len(values), want)
	}
	return failed
}

// ErrOtherFabric reports a baseline without any port in the fabric.
var ErrOtherFabric = errors.New("the baseline has no port of this fabric")

// sample returns a port's sample, or nil.
func (b *Baseline) sample(node ib.GUID, port uint8) *Sample { return b.ports[baselineKey{node, port}] }

// check returns an error if the baseline has no such port.
func (b *Baseline) check(nodes []*Node) error {
	matched := func(p *Port) bool { return b.sample(p.node.GUID, p.Number) != nil }
	if len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n *Node) bool { return slices.ContainsFunc(n.Ports, matched) }) {
		return ErrOtherFabric
	}
	return nil
}

// A Missing port is in the baseline and not in the fabric.
type Missing struct {
	Node ib.GUID
	Port uint8
}

// missing returns the ports in the baseline with a node that is not in a fabric, in order.
func (b *Baseline) missing(f *fabric.Fabric) []Missing {
	var all []Missing
	for key := range b.ports {
		if f.NodeByGUID(key.node) == nil {
			all = append(all, Missing{key.node, key.port})
		}
	}
	slices.SortFunc(all, func(a, b Missing) int {
		if a.Node != b.Node {
			return cmp.Compare(a.Node, b.Node)
		}
		return int(a.Port) - int(b.Port)
	})
	return all
}
