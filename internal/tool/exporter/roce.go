package exporter

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// A rocePort is a RoCE or EFA port with its counters, and the verdicts since the sweep before.
type rocePort struct {
	settings *roce.PortSettings
	counters map[string]uint64
	findings []report.Finding
}

// addRoCE reads a RoCE or EFA port, and judges it if the sweep before has it.
func (s *localSweep) addRoCE(h roce.Host, d *devinfo.Device, p *devinfo.Port, before *localSweep) {
	if !roce.Judged(d, p) {
		return
	}
	r := &rocePort{}
	r.settings, _ = h.Port(d, p)
	var problems []error
	r.counters, problems = h.Counters(r.settings)
	s.partial = s.partial || len(problems) > 0
	if before != nil {
		if was := before.roce[r.settings.Name()]; was != nil {
			r.findings = roce.Verdicts(r.settings, roce.Increase(was.counters, r.counters), s.read.Sub(before.read).Seconds())
		}
	}
	s.roce[r.settings.Name()] = r
}

// labels returns the port's labels with another.
func (r *rocePort) labels(name, value string) labels {
	return newLabels("device", r.settings.Device, "port", strconv.Itoa(r.settings.Number), name, value)
}

// newLocalSweep returns a sweep without ports.
func newLocalSweep() *localSweep { return &localSweep{read: time.Now(), roce: map[string]*rocePort{}} }

// writeRoCE writes the statistics of network devices and the verdicts.
func (s *localSweep) writeRoCE(e *encoder) {
	if len(s.roce) == 0 {
		return
	}
	each := func(do func(*rocePort)) {
		for _, name := range slices.Sorted(maps.Keys(s.roce)) {
			do(s.roce[name])
		}
	}
	e.counter("ibkit_roce_statistic_total", "Statistics of the network device of a RoCE port, as ethtool -S prints them: pauses, drops, packets.", func(emit func(labels, float64)) {
		each(func(r *rocePort) {
			for _, name := range slices.Sorted(maps.Keys(r.counters)) {
				if statistic, is := strings.CutPrefix(name, roce.StatisticPrefix); is {
					emit(r.labels("name", statistic), float64(r.counters[name]))
				}
			}
		})
	})
	e.gauge("ibkit_roce_finding", "1 for each finding of ibkit doctor --only traffic since the sweep before.", func(emit func(labels, float64)) {
		each(func(r *rocePort) {
			for _, kind := range slices.Compact(slices.Sorted(slices.Values(report.KindsOf(r.findings)))) {
				emit(r.labels("kind", string(kind)), 1)
			}
		})
	})
}
