package exporter

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// Labels are a series' labels as text: {name="value",...}, in name order.
type labels string

// newLabels returns labels from names and values in turn. Values are text from the fabric:
// they may have any characters, but must be UTF-8.
func newLabels(pairs ...string) labels {
	order := make([]int, 0, 8)
	size := len("{}")
	for i := 0; i < len(pairs); i += 2 {
		order = append(order, i)
		size += len(pairs[i]) + len(pairs[i+1]) + len(`="",`)
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(pairs[a], pairs[b]) })
	b := make([]byte, 0, size)
	for _, i := range order {
		b = append(b, ',')
		b = append(b, pairs[i]...)
		b = append(b, `="`...)
		b = appendEscaped(b, strings.ToValidUTF8(pairs[i+1], "\uFFFD"), true)
		b = append(b, '"')
	}
	if len(b) == 0 {
		return ""
	}
	b[0] = '{'
	return labels(append(b, '}'))
}

// appendEscaped appends text with the text format's escape sequences: for a label value, or
// for a help text, in which quotes are not escaped.
func appendEscaped(b []byte, text string, label bool) []byte {
	for i := range len(text) {
		switch c := text[i]; {
		case c == '\\':
			b = append(b, `\\`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '"' && label:
			b = append(b, `\"`...)
		default:
			b = append(b, c)
		}
	}
	return b
}

// An encoder writes metric families in Prometheus' text format
// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format). Unlike
// expfmt, it writes a port's labels, which all its counters share, as they are: a sweep
// over a large fabric has millions of series.
type encoder struct {
	w       io.Writer
	buf     []byte
	written int64
	err     error
}

// bufferSize is the size from which an encoder writes its buffer.
const bufferSize = 64 << 10

func newEncoder(w io.Writer) *encoder {
	return &encoder{w: w, buf: make([]byte, 0, bufferSize+4<<10)}
}

// counter writes the counters that add passes to its argument.
func (e *encoder) counter(name, help string, add func(func(labels, float64))) {
	e.family(name, help, "counter", add)
}

// gauge writes the gauges that add passes to its argument.
func (e *encoder) gauge(name, help string, add func(func(labels, float64))) {
	e.family(name, help, "gauge", add)
}

// value writes a gauge without labels.
func (e *encoder) value(name, help string, v float64) {
	e.gauge(name, help, func(emit func(labels, float64)) { emit("", v) })
}

// family writes a family. A family without series is omitted.
func (e *encoder) family(name, help, kind string, add func(func(labels, float64))) {
	begun := false
	add(func(l labels, v float64) {
		b := e.buf
		if !begun {
			begun = true
			b = append(append(append(b, "# HELP "...), name...), ' ')
			b = append(appendEscaped(b, help, false), "\n# TYPE "...)
			b = append(append(append(append(b, name...), ' '), kind...), '\n')
		}
		b = append(append(append(b, name...), l...), ' ')
		e.buf = append(appendFloat(b, v), '\n')
		if len(e.buf) >= bufferSize {
			e.writeBuffer()
		}
	})
}

// appendFloat appends a value as expfmt and node_exporter write it: integers from 1,000,000
// have an exponent.
func appendFloat(b []byte, v float64) []byte {
	const exponentFrom = 1e6
	if i := int64(v); float64(i) == v && -exponentFrom < v && v < exponentFrom {
		return strconv.AppendInt(b, i, 10)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

func (e *encoder) writeBuffer() {
	if e.err == nil {
		n, err := e.w.Write(e.buf)
		e.written += int64(n)
		e.err = err
	}
	e.buf = e.buf[:0]
}

// encode writes a client_golang family.
func (e *encoder) encode(f *dto.MetricFamily) {
	e.writeBuffer()
	if e.err != nil {
		return
	}
	n, err := expfmt.MetricFamilyToText(e.w, f)
	e.written += int64(n)
	e.err = err
}

// flush writes the rest, and returns the first error.
func (e *encoder) flush() error {
	e.writeBuffer()
	return e.err
}

// A page is a sweep's metrics, compressed: plain text takes 10 to 20 times the memory.
type page struct {
	info  sweepInfo
	at    time.Time // the sweep's end
	gzip  []byte    // a complete gzip member
	size  int64     // of the text
	sweep sweep     // instead of gzip, if the metrics are encoded when they are written
}

// compressors are compressors for reuse. Each has a megabyte of tables.
var compressors = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return z
}}

// NewGzip returns a fast compressor. FreeGzip makes it available again.
func NewGzip(w io.Writer) *gzip.Writer {
	z, _ := compressors.Get().(*gzip.Writer)
	z.Reset(w)
	return z
}

// FreeGzip ends the use of a compressor.
func FreeGzip(z *gzip.Writer) { compressors.Put(z) }

// newPage returns a sweep's page, which took some time. It is compressed unless its text is
// written once.
func newPage(s sweep, took time.Duration, once bool) (*page, error) {
	p := &page{info: s.info(), at: time.Now()}
	p.info.took = took
	if once {
		p.sweep = s
		return p, nil
	}
	var b bytes.Buffer
	z := NewGzip(&b)
	defer FreeGzip(z)
	e := newEncoder(z)
	if err := p.write(e, s); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	p.gzip, p.size = bytes.Clone(b.Bytes()), e.written
	return p, nil
}

// write writes the metrics for a page's sweep.
func (p *page) write(e *encoder, s sweep) error {
	s.write(e)
	p.writeInfo(e)
	return e.flush()
}

// writeInfo writes the sweep's own metrics.
func (p *page) writeInfo(e *encoder) {
	i := &p.info
	e.value("ibkit_sweep_duration_seconds", "Duration of the last sweep.", i.took.Seconds())
	e.value("ibkit_sweep_partial", "1 if a request of the last sweep had no valid response, else 0.", number(i.partial))
	e.value("ibkit_sweep_nodes", "Nodes of the last sweep.", float64(i.nodes))
	e.value("ibkit_sweep_ports", "Ports with counters that the last sweep read.", float64(i.ports))
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// writeText writes the page's text.
func (p *page) writeText(w io.Writer) error {
	if p.sweep != nil {
		return p.write(newEncoder(w), p.sweep)
	}
	z, err := gzip.NewReader(bytes.NewReader(p.gzip))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, z)
	return err
}
