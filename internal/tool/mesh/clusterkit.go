package mesh

import (
	"fmt"
	"strings"
)

// megabyteGbps converts ClusterKit's MB/s.
const megabyteGbps = 8e6 / 1e9

// A clusterKitReader collects ClusterKit's figures. NVIDIA documents that a test writes a
// JSON file, its units (MB/s and µs), that pairs are tested once and in both directions by
// default, but not the members. The reader therefore finds figures by their shape.
type clusterKitReader struct {
	*document
	nodes []string // the names that matrices refer to
	pairs map[[2]int32]*[2]Flow
	order [][2]int32
	unit  float64 // Gbit/s per unit of bandwidth
}

// clusterKit adds the flows in ClusterKit's JSON: a matrix of bandwidths or latencies
// beside a list of names, or objects with the names of two nodes and a figure.
func (d *document) clusterKit(values []value) {
	c := &clusterKitReader{document: d, pairs: map[[2]int32]*[2]Flow{}, unit: megabyteGbps}
	for i := range values {
		c.findNames(&values[i])
	}
	for i := range values {
		c.walk(&values[i], metricOf(d.name))
	}
	mutual := true
	for _, key := range c.order {
		p := c.pairs[key]
		mutual = mutual && (p[1].Failed() || p[0].Gbps == p[1].Gbps && !isNone(p[0].Gbps) || p[0].Micros == p[1].Micros && !isNone(p[0].Micros))
	}
	d.results.Mutual = mutual
	for _, key := range c.order {
		p := c.pairs[key]
		d.results.add(p[0])
		if !mutual && !p[1].Failed() {
			d.results.add(p[1])
		}
	}
}

// A metric is a kind of figure.
type metric uint8

const (
	noMetric metric = iota
	bandwidth
	latency
	loss // of probes, without a figure per flow
)

// metricOf returns the metric that a member's name contains.
func metricOf(name string) metric {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "bandwidth"), strings.Contains(name, "bw"):
		return bandwidth
	case strings.Contains(name, "latency"), strings.HasPrefix(name, "lat"), strings.Contains(name, "_lat"):
		return latency
	}
	return noMetric
}

// findNames finds the list of node names, the longest list of texts, and the unit.
func (c *clusterKitReader) findNames(v *value) {
	var names []string
	for i := range v.items {
		item := &v.items[i]
		if text, ok := item.str(); ok && v.isList {
			names = append(names, text)
		} else if ok && strings.Contains(strings.ToLower(v.keys[i]), "unit") {
			c.readUnit(text)
		} else if item.isTable || item.isList {
			c.findNames(item)
		}
	}
	if len(names) == len(v.items) && len(names) > len(c.nodes) {
		c.nodes = names
	}
}

// readUnit reads a unit other than MB/s.
func (c *clusterKitReader) readUnit(text string) {
	switch {
	case strings.Contains(text, "Gb"):
		c.unit = 1
	case strings.Contains(text, "GB"):
		c.unit = gigabyteGbps
	}
}

// walk adds the matrices and pairs in a value.
func (c *clusterKitReader) walk(v *value, m metric) {
	switch {
	case v.isList && len(v.items) > 0 && isRow(&v.items[0]) && m != noMetric:
		c.addMatrix(v, m)
		return
	case v.isTable && c.addPair(v, m):
		return
	}
	for i := range v.items {
		inner := m
		if v.isTable {
			if named := metricOf(v.keys[i]); named != noMetric {
				inner = named
			}
		}
		if item := &v.items[i]; item.isTable || item.isList {
			c.walk(item, inner)
		}
	}
}

// isRow reports whether a value is a list of numbers, or of null for pairs without a figure.
func isRow(v *value) bool {
	if !v.isList || len(v.items) == 0 {
		return false
	}
	for i := range v.items {
		if _, ok := v.items[i].number(); !ok && (v.items[i].scalar != nil || v.items[i].isList || v.items[i].isTable) {
			return false
		}
	}
	return true
}

// addMatrix adds a matrix, in which a figure of 0 was not measured.
func (c *clusterKitReader) addMatrix(v *value, m metric) {
	if len(v.items) > len(c.nodes) {
		c.reject(v.offset, fmt.Errorf("got a matrix with %d rows, but %d node names", len(v.items), len(c.nodes)))
	}
	for i := range min(len(v.items), len(c.nodes)) {
		row := &v.items[i]
		if len(row.items) != len(c.nodes) {
			c.reject(row.offset, fmt.Errorf("got a row with %d figures, want %d", len(row.items), len(c.nodes)))
		}
		for k := range min(len(row.items), len(c.nodes)) {
			if n, ok := row.items[k].number(); ok && n != 0 && i != k {
				c.addFigure(c.nodes[i], c.nodes[k], n, m, row.items[k].offset)
			}
		}
	}
}

// The members that name a pair's nodes and its figure, without other characters than
// letters and digits.
var (
	firstNames  = []string{"node1", "src", "source", "from", "host1", "nodea", "client", "rank0", "first"}
	secondNames = []string{"node2", "dst", "destination", "dest", "to", "host2", "nodeb", "server", "rank1", "second"}
)

// addPair adds an object with two node names and a figure.
func (c *clusterKitReader) addPair(v *value, m metric) bool {
	var nodes [2]string
	for i, key := range v.keys {
		text, ok := v.items[i].str()
		if !ok {
			continue
		}
		for side, names := range [][]string{firstNames, secondNames} {
			for _, name := range names {
				if plainKey(key) == name {
					nodes[side] = text
				}
			}
		}
	}
	if nodes[0] == "" || nodes[1] == "" {
		return false
	}
	for i, key := range v.keys {
		n, ok := v.items[i].number()
		kind := metricOf(key)
		if plainKey(key) == "value" || plainKey(key) == "result" {
			kind = m
		}
		if ok && kind != noMetric {
			c.addFigure(nodes[0], nodes[1], n, kind, v.items[i].offset)
		}
	}
	return true
}

// plainKey returns a member's name without separators, in lower case.
func plainKey(key string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(key))
}

// addFigure adds a figure to the pair's flow.
func (c *clusterKitReader) addFigure(from, to string, n float64, m metric, offset int64) {
	if m == bandwidth {
		n *= c.unit
	}
	figure, err := checkFigure(n)
	if err != nil {
		c.reject(offset, err)
	}
	a, b := c.results.name([]byte(from)), c.results.name([]byte(to))
	key, side := [2]int32{a, b}, 0
	if a > b {
		key, side = [2]int32{b, a}, 1
	}
	p := c.pairs[key]
	if p == nil {
		p = &[2]Flow{{key[0], key[1], none, none}, {key[1], key[0], none, none}}
		c.pairs[key] = p
		c.order = append(c.order, key)
	}
	if m == bandwidth {
		p[side].Gbps = figure
	} else {
		p[side].Micros = figure
	}
}
