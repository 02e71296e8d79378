package exporter

import (
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/ibkit/ibkit/umad"
)

// A sweepInfo summarizes a sweep.
type sweepInfo struct {
	nodes, ports int
	partial      bool
	blind        error         // see [fabric.Fabric.Blind]
	missing      []missingNode // by the time since when
	failures     []error       // with node names
	stats        umad.Stats
	took         time.Duration

	// Nodes without valid responses by collector: errors and timeouts.
	failed map[string]failedNodes
}

type failedNodes struct{ errors, timeouts int }

// Sweep results.
const (
	resultComplete  = "complete"
	resultPartial   = "partial"   // a request had no valid response
	resultFailed    = "failed"    // without a result
	resultAbandoned = "abandoned" // did not end in time
	resultSkipped   = "skipped"   // did not begin, because abandoned sweeps have not ended
)

// self is the exporter's metrics, in client_golang registries.
type self struct {
	sweeps  *prometheus.CounterVec
	sent    prometheus.Counter
	retries prometheus.Counter
	losses  prometheus.Counter

	writeErrors prometheus.Counter // nil without a text file

	// From SckyzO's exporter; nil with other names.
	nodeErrors, nodeTimeouts, nodeRetries *prometheus.CounterVec

	sweepMetrics *prometheus.Registry // of sweeps
	process      *prometheus.Registry // of the program
}

func newSelf(e *Exporter) *self {
	s := &self{
		sweeps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ibkit_sweeps_total",
			Help: "Sweeps by result: complete, partial, failed, abandoned (did not end in time), skipped (abandoned sweeps have not ended).",
		}, []string{"result"}),
		sent:    newCounter("ibkit_mads_sent_total", "Management datagrams sent by sweeps, including retries."),
		retries: newCounter("ibkit_mad_retries_total", "Management datagrams sent again after a timeout."),
		losses:  newCounter("ibkit_mad_timeouts_total", "Management datagrams without a reply."),

		sweepMetrics: prometheus.NewRegistry(),
		process:      prometheus.NewRegistry(),
	}
	for _, result := range []string{resultComplete, resultPartial, resultFailed, resultAbandoned, resultSkipped} {
		s.sweeps.WithLabelValues(result)
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "ibkit_build_info", Help: "1; the labels have the version of ibkit.",
		ConstLabels: prometheus.Labels{"version": e.opts.Version, "commit": e.opts.Commit},
	})
	build.Set(1)
	s.sweepMetrics.MustRegister(s.sweeps, s.sent, s.retries, s.losses, build, &ageCollector{e})
	if len(e.opts.Pings) > 0 {
		s.sweepMetrics.MustRegister(pingCollector{e})
	}
	if e.opts.Textfile {
		s.writeErrors = newCounter("ibkit_textfile_write_errors_total", "Sweeps with metrics that were not written to the text file.")
		s.sweepMetrics.MustRegister(s.writeErrors)
	}
	if e.opts.Names == Treydock {
		s.registerTreydock(e.opts)
	}
	s.process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return s
}

// registries returns the registries with all exporter metrics.
func (s *self) registries() []*prometheus.Registry {
	return []*prometheus.Registry{s.sweepMetrics, s.process}
}

// registerTreydock adds the counters in SckyzO's exporter that continue over sweeps.
func (s *self) registerTreydock(o Options) {
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "infiniband_exporter_build_info", Help: "1; the labels have the version of ibkit.",
		ConstLabels: prometheus.Labels{"version": o.Version, "revision": o.Commit, "branch": "", "build_user": "", "build_date": ""},
	})
	build.Set(1)
	s.sweepMetrics.MustRegister(build)
	for _, c := range []struct {
		to         **prometheus.CounterVec
		name, help string
	}{
		{&s.nodeErrors, "infiniband_exporter_collect_errors_total", "Nodes with a failed request other than a timeout, added up over sweeps."},
		{&s.nodeTimeouts, "infiniband_exporter_collect_timeouts_total", "Nodes with a request without a reply, added up over sweeps."},
		{&s.nodeRetries, "infiniband_exporter_collect_retries_total", "Requests sent again after a timeout."},
	} {
		*c.to = prometheus.NewCounterVec(prometheus.CounterOpts{Name: c.name, Help: c.help}, []string{"collector"})
		s.sweepMetrics.MustRegister(*c.to)
		for _, collector := range allCollectors {
			(*c.to).WithLabelValues(collector)
		}
	}
}

func newCounter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

// swept counts a sweep.
func (s *self) swept(result string, i *sweepInfo) {
	s.sweeps.WithLabelValues(result).Inc()
	if i == nil {
		return
	}
	if s.nodeErrors != nil {
		for collector, f := range i.failed {
			s.nodeErrors.WithLabelValues(collector).Add(float64(f.errors))
			s.nodeTimeouts.WithLabelValues(collector).Add(float64(f.timeouts))
		}
		s.nodeRetries.WithLabelValues(collectScan).Add(float64(i.stats.Retries))
	}
	s.sent.Add(float64(i.stats.Sent))
	s.retries.Add(float64(i.stats.Retries))
	s.losses.Add(float64(i.stats.Timeouts))
}

// An ageCollector collects the last sweep's time and age, which are absent before the
// first. They remain when the sweep is too old to be exported: rules compare them.
type ageCollector struct{ e *Exporter }

var timeDesc = prometheus.NewDesc("ibkit_sweep_timestamp_seconds", "Time of the end of the last sweep.", nil, nil)

var ageDesc = prometheus.NewDesc("ibkit_sweep_age_seconds", "Time since the end of the last sweep.", nil, nil)

// Describe implements [prometheus.Collector].
func (c *ageCollector) Describe(out chan<- *prometheus.Desc) {
	out <- timeDesc
	out <- ageDesc
}

// Collect implements [prometheus.Collector].
func (c *ageCollector) Collect(out chan<- prometheus.Metric) {
	if p := c.e.last.Load(); p != nil {
		out <- prometheus.MustNewConstMetric(timeDesc, prometheus.GaugeValue, float64(p.at.UnixNano())/1e9)
		out <- prometheus.MustNewConstMetric(ageDesc, prometheus.GaugeValue, time.Since(p.at).Seconds())
	}
}

// write writes a registry's metrics.
func write(w io.Writer, r *prometheus.Registry) error {
	families, err := r.Gather()
	if err != nil {
		return err
	}
	e := newEncoder(w)
	for _, f := range families {
		e.encode(f)
	}
	return e.flush()
}

// current returns the last sweep's page, or nil before the first sweep and if it is too
// old.
func (e *Exporter) current() *page {
	if p := e.last.Load(); p != nil && time.Since(p.at) <= e.opts.MaxAge {
		return p
	}
	return nil
}

// CountWriteError counts a sweep with metrics that were not written to the text file.
func (e *Exporter) CountWriteError() {
	if e.self.writeErrors != nil {
		e.self.writeErrors.Inc()
	}
}

// WriteText writes the last sweep's metrics without the process metrics, which
// node_exporter's textfile collector has already.
func (e *Exporter) WriteText(w io.Writer) error {
	if p := e.current(); p != nil {
		if err := p.writeText(w); err != nil {
			return err
		}
	}
	return write(w, e.self.sweepMetrics)
}
