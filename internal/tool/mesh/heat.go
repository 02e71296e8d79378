package mesh

import (
	"cmp"
	"math"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/report"
)

// A Heat is a matrix of relative speeds between hosts, ordered by leaf switch.
type Heat struct {
	Rows   []string // hosts; senders are rows, receivers columns
	Leaves []Leaf
	cells  []float32 // by row and column; not a number: not measured; 0: failed
	marks  map[int][]report.Finding
}

// A Leaf is the rows of the hosts at a switch.
type Leaf struct {
	Name        string
	First, Last int
	Marks       []report.Finding // about the switch or its ports
}

// Share returns the relative speed of the flow from one row to another: of the slowest
// adapter, of the bandwidth, or of the latency if there is no bandwidth. Not a number:
// not measured; 0: the flow failed.
func (h *Heat) Share(from, to int) float32 { return h.cells[from*len(h.Rows)+to] }

// Marks returns the findings about a row's host.
func (h *Heat) Marks(row int) []report.Finding { return h.marks[row] }

// Heat returns the matrix of a result.
func (r *Result) Heat() *Heat {
	j := r.judge
	h := &Heat{marks: map[int][]report.Finding{}}
	rows := j.heatRows(h)
	h.cells = make([]float32, len(h.Rows)*len(h.Rows))
	for i := range h.cells {
		h.cells[i] = none
	}
	for i := range j.results.Flows {
		f := &j.results.Flows[i]
		cell := &h.cells[int(rows[f.From])*len(h.Rows)+int(rows[f.To])]
		if share := j.share(f, j.classOf(int32(i))); isNone(*cell) || share < *cell {
			*cell = share
		}
		if j.results.Mutual {
			h.cells[int(rows[f.To])*len(h.Rows)+int(rows[f.From])] = *cell
		}
	}
	for _, f := range r.Findings {
		if row, ok := j.rowOf(f, rows); ok {
			h.marks[row] = append(h.marks[row], f)
		} else {
			h.markLeaf(f)
		}
	}
	return h
}

// markLeaf marks the leaf switch that a finding is about.
func (h *Heat) markLeaf(f report.Finding) {
	name := f.Subject
	if node, _, ok := fabric.CutPort(name); ok {
		name = node
	}
	for i := range h.Leaves {
		if l := &h.Leaves[i]; l.Name == name && f.Severity.IsProblem() {
			l.Marks = append(l.Marks, f)
		}
	}
}

// share returns a flow's relative speed, at most 1.
func (j *judge) share(f *Flow, k *class) float32 {
	share := 0.0
	switch {
	case !isNone(f.Gbps):
		share = k.levels[0].speed(f.Gbps, bandwidth)
	case !isNone(f.Micros):
		share = k.levels[1].speed(f.Micros, latency)
	}
	return float32(min(share, 1))
}

// heatRows names the rows, and returns the row of each endpoint. Endpoints without a place
// in the fabric follow the others.
func (j *judge) heatRows(h *Heat) []int32 {
	w := j.elements.wiring
	order := make([]int32, len(j.elements.at))
	for i := range order {
		order[i] = int32(i)
	}
	rank := map[int32]int{}
	for i, end := range newMembers(w, nil).ends {
		rank[end] = i + 1
	}
	position := func(i int32) int {
		if at := j.elements.at[i]; at >= 0 && rank[at] > 0 {
			return rank[at]
		}
		return math.MaxInt
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(position(a), position(b)) })
	rows, byHost := make([]int32, len(order)), map[int32]int32{}
	for _, i := range order {
		at, leaf := j.elements.at[i], ""
		if at < 0 {
			rows[i] = h.addRow(j.endpoints[i], leaf)
			continue
		}
		e := &w.ends[at]
		row, ok := byHost[e.host]
		if !ok {
			leaf = w.nodeName(w.channels.Switches()[w.channels.At(int(at))])
			row = h.addRow(w.hosts[e.host].name, leaf)
			byHost[e.host] = row
		}
		rows[i] = row
	}
	return rows
}

// addRow adds a row at a leaf switch.
func (h *Heat) addRow(name, leaf string) int32 {
	row := len(h.Rows)
	h.Rows = append(h.Rows, name)
	if last := len(h.Leaves) - 1; last >= 0 && h.Leaves[last].Name == leaf {
		h.Leaves[last].Last = row
	} else {
		h.Leaves = append(h.Leaves, Leaf{Name: leaf, First: row, Last: row})
	}
	return int32(row)
}

// rowOf returns the row of a host with a finding.
func (j *judge) rowOf(f report.Finding, rows []int32) (int, bool) {
	if !f.Severity.IsProblem() || f.Kind == report.SlowPair || f.Kind == report.Congested {
		return 0, false
	}
	for i := range j.endpoints {
		at := j.elements.at[i]
		if f.Subject == j.endpoint(int32(i)) ||
			at >= 0 && (f.Subject == j.elements.wiring.hosts[j.elements.wiring.ends[at].host].name || f.Subject == j.elements.wiring.portName(j.elements.wiring.ends[at].port.Peer)) {
			return int(rows[i]), true
		}
	}
	return 0, false
}
