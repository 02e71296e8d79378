package exporter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/standing"
)

// PingPath is where the exporter serves the last windows of standing probes.
const PingPath = "/api/ping"

// maxPings is the maximum size of a standing probe's window in bytes.
const maxPings = 4 << 20

// CheckPings checks the patterns and the file of standing probes. Empty ones are none.
func CheckPings(patterns []string, hosts string) error {
	for _, pattern := range patterns {
		if _, err := filepath.Match(pattern, ""); err != nil {
			return fmt.Errorf("invalid pattern %q: %w", pattern, err)
		}
	}
	if hosts == "" {
		return nil
	}
	_, err := readPingHosts(hosts)
	return err
}

// readPings reads the windows of standing probes on this host, by file patterns.
func readPings(patterns []string) (all []*standing.Document, failed []error) {
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			failed = append(failed, fmt.Errorf("find %s: %w", pattern, err))
		}
		for _, path := range paths {
			d, err := readPing(path)
			if err != nil {
				failed = append(failed, fmt.Errorf("read %s: %w", path, err))
				continue
			}
			all = append(all, d)
		}
	}
	return all, failed
}

func readPing(path string) (*standing.Document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parsePing(text)
}

func parsePing(text []byte) (*standing.Document, error) {
	d := &standing.Document{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, err
	}
	return d, d.Check()
}

// servePings returns the windows of standing probes on this host, one per line.
func (e *Exporter) servePings(w http.ResponseWriter, _ *http.Request) {
	all, failed := readPings(e.opts.Pings)
	if len(failed) > 0 {
		e.opts.Log.Error("windows of standing probes", "err", failed[0])
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	to := json.NewEncoder(w)
	for _, d := range all {
		if to.Encode(d) != nil {
			return // the client went away
		}
	}
}

// A pingCollector collects the totals of standing probes on this host.
type pingCollector struct{ e *Exporter }

// The metrics of standing probes.
var (
	pingRTT   = prometheus.NewDesc("ibkit_ping_rtt_seconds", "Round-trip times of a standing probe (ibkit ping --mesh) by the place of the peers.", []string{"source", "class"}, nil)
	pingSent  = prometheus.NewDesc("ibkit_ping_sent_total", "Probes that a standing probe sent and that have ended.", []string{"source", "class"}, nil)
	pingLost  = prometheus.NewDesc("ibkit_ping_lost_total", "Probes of a standing probe without a valid reply in time.", []string{"source", "class"}, nil)
	pingPeers = prometheus.NewDesc("ibkit_ping_peers", "Peers of a standing probe, or paths to them.", []string{"source", "class"}, nil)
	pingRate  = prometheus.NewDesc("ibkit_ping_rate_limit", "Packets per second that a standing probe sends at most.", []string{"source"}, nil)
	pingTime  = prometheus.NewDesc("ibkit_ping_window_timestamp_seconds", "End of the last window of a standing probe.", []string{"source"}, nil)
	pingPeer  = prometheus.NewDesc("ibkit_ping_peer_loss_ratio", "Lost part of the probes to a peer in the last window, for the peers that lost most.", []string{"source", "peer"}, nil)
	pingFiles = prometheus.NewDesc("ibkit_ping_unreadable_files", "Files of standing probes that could not be read.", nil, nil)
)

// maxLossyPeers limits the series of peers.
const maxLossyPeers = 16

// Describe implements [prometheus.Collector].
func (c pingCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{pingRTT, pingSent, pingLost, pingPeers, pingRate, pingTime, pingPeer, pingFiles} {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (c pingCollector) Collect(out chan<- prometheus.Metric) {
	all, failed := readPings(c.e.opts.Pings)
	emit := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	emit(pingFiles, prometheus.GaugeValue, float64(len(failed)))
	seen := map[string]bool{}
	for _, d := range all {
		if seen[d.Source] {
			continue // two files of a port would be equal series
		}
		seen[d.Source] = true
		emit(pingRate, prometheus.GaugeValue, d.Rate, d.Source)
		emit(pingTime, prometheus.GaugeValue, float64(d.End().UnixNano())/float64(time.Second), d.Source)
		for i := range d.Classes {
			k := &d.Classes[i]
			buckets := map[float64]uint64{}
			for n, bound := range standing.Bounds {
				buckets[bound] = k.Buckets[n]
			}
			class := string(k.Class)
			out <- prometheus.MustNewConstHistogram(pingRTT, k.Received, k.Sum, buckets, d.Source, class)
			emit(pingSent, prometheus.CounterValue, float64(k.Sent), d.Source, class)
			emit(pingLost, prometheus.CounterValue, float64(k.Lost), d.Source, class)
			emit(pingPeers, prometheus.GaugeValue, float64(k.Peers), d.Source, class)
		}
		for _, f := range lossy(d.Flows) {
			emit(pingPeer, prometheus.GaugeValue, lossOf(&f), d.Source, f.Destination)
		}
	}
}

func lossOf(f *mesh.ReportFlow) float64 { return float64(*f.Lost) / float64(*f.Sent) }

// lossy returns the flows that lost most.
func lossy(flows []mesh.ReportFlow) []mesh.ReportFlow {
	flows = slices.DeleteFunc(slices.Clone(flows), func(f mesh.ReportFlow) bool { return *f.Lost == 0 })
	slices.SortStableFunc(flows, func(a, b mesh.ReportFlow) int { return cmp.Compare(lossOf(&b), lossOf(&a)) })
	return flows[:min(len(flows), maxLossyPeers)]
}
