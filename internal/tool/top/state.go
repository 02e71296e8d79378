package top

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// An Order is a value by which links are sorted, the largest value first.
type Order uint8

// The orders.
const (
	BySeverity Order = iota // of the worst finding, then by errors and by waiting
	ByErrors
	ByUtilization
	ByWait
	ByFindings
	ByName
)

// Orders are the order names.
var Orders = []string{"severity", "errors", "util", "wait", "findings", "name"}

// String returns the order's name.
func (o Order) String() string { return Orders[o] }

// maxHistory limits the memory for samples and for the layouts before the last layout, in
// bytes.
const maxHistory = 64 << 20

// A State is a monitor's samples, and the selection that it shows.
type State struct {
	Order    Order
	Reverse  bool // the smallest value first
	Filter   string
	Problems bool // only links with findings or errors

	limit   int // sample count
	samples []*Sample
	at      int // sample that is shown
	paused  bool

	rows  []int32 // links in screen order, for key
	key   rowsKey
	keyed []keyedLink // for reuse
}

// rowsKey identifies the rows that were computed.
type rowsKey struct {
	sample   *Sample
	order    Order
	reverse  bool
	filter   string
	problems bool
}

type keyedLink struct {
	value  float32
	second float32 // with BySeverity, for equal values
	link   int32
}

// NewState returns a state that keeps a number of samples.
func NewState(limit int) *State { return &State{limit: max(limit, 2)} }

// Add adds a sample and removes the oldest samples. The screen moves to it unless it is
// paused.
func (s *State) Add(sample *Sample) {
	s.samples = append(s.samples, sample)
	if !s.paused {
		s.at = len(s.samples) - 1
	}
	for len(s.samples) > s.limit || len(s.samples) > 2 && s.size() > maxHistory {
		s.samples[0] = nil
		s.samples = s.samples[1:]
		s.at = max(s.at-1, 0)
	}
}

// size returns the samples' memory in bytes. The last layout does not count: it is in use
// anyway.
func (s *State) size() (size int) {
	counted := s.samples[len(s.samples)-1].Layout
	for i := len(s.samples) - 1; i >= 0; i-- {
		sample := s.samples[i]
		size += sample.size()
		if sample.Layout != counted {
			counted = sample.Layout
			size += counted.size()
		}
	}
	return size
}

// Sample returns the sample that is shown, nil before the first sample.
func (s *State) Sample() *Sample {
	if len(s.samples) == 0 {
		return nil
	}
	return s.samples[s.at]
}

// Position returns the sample's place among the samples kept, from 1.
func (s *State) Position() (at, of int) { return s.at + 1, len(s.samples) }

// Paused reports whether new samples do not change the screen.
func (s *State) Paused() bool { return s.paused }

// Pause stops at the current sample, or returns to the last sample.
func (s *State) Pause() {
	s.paused = !s.paused
	if !s.paused {
		s.at = max(len(s.samples)-1, 0)
	}
}

// Move shows an earlier or later sample and pauses. The step after the last sample ends the
// pause.
func (s *State) Move(by int) {
	if at := s.at + by; by > 0 && at >= len(s.samples) {
		s.paused, s.at = false, max(len(s.samples)-1, 0)
		return
	}
	s.paused = true
	s.at = max(s.at+by, 0)
}

// Rows returns the links to show, in order.
func (s *State) Rows() []int32 {
	sample := s.Sample()
	if sample == nil {
		return nil
	}
	key := rowsKey{sample, s.Order, s.Reverse, s.Filter, s.Problems}
	if s.key == key {
		return s.rows
	}
	s.key = key
	s.sort(sample, s.selected(sample))
	return s.rows
}

// selected returns the links that the filter accepts, with the values to sort by.
func (s *State) selected(sample *Sample) []keyedLink {
	filter := strings.ToLower(s.Filter)
	all := s.keyed[:0]
	for i := range sample.Links {
		l := &sample.Links[i]
		if filter != "" && !strings.Contains(l.lower, filter) {
			continue
		}
		v := sample.Link(int32(i))
		if s.Problems && l.Problems == 0 && !(v.Errors > 0) && len(sample.Findings[l.Near]) == 0 && len(sample.Findings[l.Far]) == 0 {
			continue
		}
		k := keyedLink{value: s.value(sample, l, v), link: int32(i)}
		if s.Order == BySeverity {
			k.second = trouble(v)
		}
		all = append(all, k)
	}
	s.keyed = all
	return all
}

// value returns the value by which a link is sorted.
func (s *State) value(sample *Sample, l *Link, v Value) float32 {
	switch s.Order {
	case BySeverity:
		return float32(sample.severity(l, v))
	case ByErrors:
		return v.Errors
	case ByUtilization:
		return larger(v.Xmit, v.Rcv)
	case ByWait:
		return v.Wait
	case ByFindings:
		n := float32(l.Problems + len(sample.Findings[l.Near]))
		if l.Far >= 0 {
			n += float32(len(sample.Findings[l.Far]))
		}
		return n
	}
	return -float32(l.rank) // from a to z
}

// trouble orders links with findings of one severity: links with errors by their number, then
// links without by waiting.
func trouble(v Value) float32 {
	switch {
	case v.Errors > 0:
		return 1 + v.Errors
	case v.Wait > 0:
		return v.Wait
	}
	return 0
}

// The ranks of links by their worst finding.
const (
	rankNone = iota
	rankInfo
	rankWarning // or errors below the thresholds
	rankError
)

// Severity returns the severity of a link's worst finding, a warning for errors below the
// thresholds, "" without both.
func (s *Sample) Severity(link int32) report.Severity {
	l := &s.Links[link]
	return [...]report.Severity{"", report.Info, report.Warning, report.Error}[s.severity(l, s.Link(link))]
}

// severity returns the rank of a link.
func (s *Sample) severity(l *Link, v Value) int {
	worst := rankNone
	if v.Errors > 0 {
		worst = rankWarning
	}
	for _, end := range []int32{l.Near, l.Far} {
		if end < 0 {
			continue
		}
		for _, f := range s.Ports[end].Findings {
			worst = max(worst, rank(f.Severity))
		}
		for _, f := range s.Findings[end] {
			worst = max(worst, rank(f.Severity()))
		}
	}
	return worst
}

func rank(s report.Severity) int {
	switch s {
	case report.Error:
		return rankError
	case report.Warning, report.Unknown:
		return rankWarning
	}
	return rankInfo
}

// sort sorts links by value; links with the same value by findings and then in scan order.
// Links with an unknown value are last.
func (s *State) sort(sample *Sample, all []keyedLink) {
	slices.SortFunc(all, func(a, b keyedLink) int {
		aKnown, bKnown := a.value == a.value, b.value == b.value
		switch {
		case aKnown != bKnown:
			if aKnown {
				return -1
			}
			return 1
		case aKnown && a.value != b.value:
			if s.Reverse {
				return cmp.Compare(a.value, b.value)
			}
			return cmp.Compare(b.value, a.value)
		case a.second != b.second:
			if s.Reverse {
				return cmp.Compare(a.second, b.second)
			}
			return cmp.Compare(b.second, a.second)
		}
		if p, q := sample.Links[a.link].Problems, sample.Links[b.link].Problems; p != q {
			return cmp.Compare(q, p)
		}
		return cmp.Compare(a.link, b.link)
	})
	s.rows = s.rows[:0]
	for _, k := range all {
		s.rows = append(s.rows, k.link)
	}
}

// A Point is a port's values in a sample.
type Point struct {
	Time time.Time
	Value
}

// History returns a port's values in all samples, the oldest first.
func (s *State) History(guid ib.GUID, number uint8) []Point {
	points := make([]Point, 0, len(s.samples))
	for _, sample := range s.samples {
		p := Point{sample.Time, Value{unknown, unknown, unknown, unknown}}
		if i := sample.Port(guid, number); i >= 0 {
			p.Value = sample.Values[i]
		}
		points = append(points, p)
	}
	return points
}
