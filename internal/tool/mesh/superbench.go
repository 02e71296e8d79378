package mesh

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/internal/lazyregexp"
)

var (
	// superBenchKey is in the files that superBench reads.
	superBenchKey = lazyregexp.New(`ib-traffic|"ib_(?:write|read|send)_(?:bw|lat)`)

	// A metric names the program, further parameters, the line and the pair, then the
	// server and the client (SuperBench, micro-benchmarks, ib-traffic):
	// "ib-traffic/ib_write_bw_8388608_0_1:host1_host2:0". Old versions name ranks in
	// place of hosts: "ib-traffic/0-1,2".
	superBenchMetric = lazyregexp.New(`^(?:ib-traffic[^/]*/)?ib_(write|read|send)_(bw|lat)[^:]*:(.+?)(?::\d+)?$`)
	superBenchRanks  = lazyregexp.New(`^(?:ib-traffic[^/]*/)?\d+-(\d+),(\d+)(?::\d+)?$`)
)

// gigabyteGbps converts SuperBench's GB/s.
const gigabyteGbps = 8

// superBench adds the flows in metrics. The figure -1 stands for a pair without a result.
func (d *document) superBench(values []value) {
	for i := range values {
		d.superBenchObject(&values[i])
	}
}

func (d *document) superBenchObject(v *value) {
	for i := range v.items {
		item := &v.items[i]
		if !v.isTable {
			d.superBenchObject(item)
			continue
		}
		key := v.keys[i]
		if item.isTable {
			d.superBenchObject(item)
			continue
		}
		if item.isList && len(item.items) > 0 { // a value for each repetition
			item = &item.items[len(item.items)-1]
		}
		if err := d.superBenchMetric(key, item); err != nil {
			d.reject(item.offset, err)
		}
	}
}

// superBenchMetric adds a metric's flow. Other metrics are ignored.
func (d *document) superBenchMetric(key string, v *value) error {
	verb, kind, server, client := "write", "bw", "", ""
	if m := superBenchMetric.FindStringSubmatch(key); m != nil {
		verb, kind = m[1], m[2]
		var ok bool
		if server, client, ok = cutHosts(m[3]); !ok {
			return fmt.Errorf("got the metric %q, want SERVER_CLIENT after the colon", printable(key))
		}
	} else if m := superBenchRanks.FindStringSubmatch(key); m != nil {
		server, client = m[1], m[2]
	} else {
		return nil
	}
	n, ok := v.number()
	if !ok {
		return fmt.Errorf("metric %q: got no number", printable(key))
	}
	from, to := client, server
	if verb == "read" {
		from, to = to, from
	}
	f := Flow{d.results.name([]byte(from)), d.results.name([]byte(to)), none, none}
	if n != -1 {
		scale, figure := 1.0, &f.Micros
		if kind == "bw" {
			scale, figure = gigabyteGbps, &f.Gbps
		}
		var err error
		if *figure, err = checkFigure(n * scale); err != nil {
			return fmt.Errorf("metric %q: %w", printable(key), err)
		}
	}
	d.results.add(f)
	return nil
}

// cutHosts splits "SERVER_CLIENT" at its underscore, the middle one if names contain them.
func cutHosts(text string) (server, client string, ok bool) {
	parts := strings.Split(text, "_")
	if len(parts)%2 != 0 {
		return "", "", false
	}
	half := len(parts) / 2
	server, client = strings.Join(parts[:half], "_"), strings.Join(parts[half:], "_")
	return server, client, server != "" && client != ""
}
