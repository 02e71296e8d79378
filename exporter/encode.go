package exporter

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// Labels are the labels of a series, in the order of their names.
type labels []*dto.LabelPair

// newLabels returns labels from names and values in turn. Values are text of the fabric:
// they may have any characters, but must be UTF-8.
func newLabels(pairs ...string) labels {
	all := make([]dto.LabelPair, len(pairs)/2)
	l := make(labels, len(all))
	for i := range all {
		value := strings.ToValidUTF8(pairs[2*i+1], "\uFFFD")
		all[i].Name, all[i].Value = &pairs[2*i], &value
		l[i] = &all[i]
	}
	slices.SortFunc(l, func(a, b *dto.LabelPair) int { return strings.Compare(*a.Name, *b.Name) })
	return l
}

// An encoder writes metric families in the text format of Prometheus. The encoding is that
// of client_golang. Unlike its registry, an encoder holds one family in memory at a time:
// the sweep of a large fabric has millions of series.
type encoder struct {
	out     *bufio.Writer
	family  dto.MetricFamily
	metrics []*dto.Metric // for reuse
	written int64
	err     error
}

func newEncoder(w io.Writer) *encoder {
	return &encoder{out: bufio.NewWriterSize(w, 64<<10)}
}

// counter writes the counters that add passes to its argument.
func (e *encoder) counter(name, help string, add func(func(labels, float64))) {
	e.write(name, help, dto.MetricType_COUNTER, add)
}

// gauge writes the gauges that add passes to its argument.
func (e *encoder) gauge(name, help string, add func(func(labels, float64))) {
	e.write(name, help, dto.MetricType_GAUGE, add)
}

// value writes a gauge without labels.
func (e *encoder) value(name, help string, v float64) {
	e.gauge(name, help, func(emit func(labels, float64)) { emit(nil, v) })
}

// write writes a family. A family without series is omitted.
func (e *encoder) write(name, help string, kind dto.MetricType, add func(func(labels, float64))) {
	n := 0
	add(func(l labels, v float64) {
		if n == len(e.metrics) {
			e.grow()
		}
		m := e.metrics[n]
		n++
		m.Label = l
		if kind == dto.MetricType_COUNTER {
			*m.Counter.Value = v
		} else {
			*m.Gauge.Value = v
		}
	})
	if n == 0 {
		return
	}
	e.family.Name, e.family.Help, e.family.Type, e.family.Metric = &name, &help, &kind, e.metrics[:n]
	e.encode(&e.family)
}

// grow adds metrics for reuse. Each has a counter and a gauge; the type of the family
// selects one.
func (e *encoder) grow() {
	const block = 1024
	all := make([]struct {
		metric  dto.Metric
		counter dto.Counter
		gauge   dto.Gauge
		value   float64
	}, block)
	for i := range all {
		m := &all[i]
		m.counter.Value, m.gauge.Value = &m.value, &m.value
		m.metric.Counter, m.metric.Gauge = &m.counter, &m.gauge
		e.metrics = append(e.metrics, &m.metric)
	}
}

func (e *encoder) encode(f *dto.MetricFamily) {
	if e.err != nil {
		return
	}
	n, err := expfmt.MetricFamilyToText(e.out, f)
	e.written += int64(n)
	e.err = err
}

// flush writes the rest, and returns the first error.
func (e *encoder) flush() error {
	if e.err != nil {
		return e.err
	}
	return e.out.Flush()
}

// A page is the metrics of a sweep, compressed: plain text takes 10 to 20 times the memory.
type page struct {
	info sweepInfo
	at   time.Time // end of the sweep
	gzip []byte    // a complete gzip member
	size int64     // of the text
}

// compressors are compressors for reuse. Each has a megabyte of tables.
var compressors = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return z
}}

func newGzip(w io.Writer) *gzip.Writer {
	z, _ := compressors.Get().(*gzip.Writer)
	z.Reset(w)
	return z
}

// newPage encodes a sweep, which took some time.
func newPage(s sweep, took time.Duration) (*page, error) {
	p := &page{info: s.info(), at: time.Now()}
	p.info.took = took
	var b bytes.Buffer
	z := newGzip(&b)
	defer compressors.Put(z)
	e := newEncoder(z)
	s.write(e)
	p.writeInfo(e)
	if err := e.flush(); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	p.gzip, p.size = bytes.Clone(b.Bytes()), e.written
	return p, nil
}

// writeInfo writes the metrics of the sweep itself.
func (p *page) writeInfo(e *encoder) {
	i := &p.info
	e.value("ibkit_sweep_timestamp_seconds", "Time of the end of the last sweep.", float64(p.at.UnixNano())/1e9)
	e.value("ibkit_sweep_duration_seconds", "Duration of the last sweep.", i.took.Seconds())
	e.value("ibkit_sweep_partial", "1 if a request of the last sweep had no valid response, else 0.", number(i.partial))
	e.value("ibkit_sweep_nodes", "Nodes of the last sweep.", float64(i.nodes))
	e.value("ibkit_sweep_ports", "Ports whose counters the last sweep read.", float64(i.ports))
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// writeText writes the text of the page.
func (p *page) writeText(w io.Writer) error {
	z, err := gzip.NewReader(bytes.NewReader(p.gzip))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, z)
	return err
}
