// Package mesh judges measurements between many hosts: which host, cable or switch port
// makes a cluster slow.
//
// [Read] imports results, [NewWiring] prepares the fabric with its forwarding tables, and
// [Analyze] blames the directed path elements that explain the slow flows. [NewPlan]
// predicts a schedule's link sharing, and [Simulate] calculates results from a model with
// planted faults.
package mesh

import (
	"math"
	"strings"
	"unicode"
)

// A Flow is a measurement from one endpoint to another, or a loopback: from an endpoint to
// itself. A figure that was not measured is not a number.
type Flow struct {
	From, To int32   // in [Results.Names]
	Gbps     float32 // bandwidth in 10^9 bits per second
	Micros   float32 // latency in microseconds
}

// none is a figure that was not measured.
var none = float32(math.NaN())

// isNone reports whether a figure was not measured.
func isNone(v float32) bool { return v != v }

// Failed reports whether the flow was attempted without a figure.
func (f Flow) Failed() bool { return isNone(f.Gbps) && isNone(f.Micros) }

// addPart adds a flow by its part in a schedule.
func (r *Results) addPart(part Part, f Flow) {
	switch part {
	case Plain:
		r.add(f)
	case Loaded:
		r.Loaded = append(r.Loaded, f)
	}
}

func (f Flow) isLoopback() bool { return f.From == f.To }

// A Format is a results format.
type Format string

// The formats that [Read] recognizes by the content.
const (
	CSV        Format = "csv"
	JSON       Format = "json" // of [WriteJSON]
	ClusterKit Format = "clusterkit"
	MPIGraph   Format = "mpigraph"
	SuperBench Format = "superbench"
)

// Results are flows between named endpoints.
type Results struct {
	Format Format
	Names  []string // printable, in the order of their first use
	Flows  []Flow
	Loaded []Flow // victims of congestors, which have a flow without them as well

	// Mutual reports that a figure is for both directions at the same time. Each pair
	// then has a single flow.
	Mutual bool

	// Damage has the first errors of parts that could not be read, Damaged their count.
	Damage  []error
	Damaged int

	index   map[string]int32
	reasons map[[2]string]string // of failed flows, by the names of their ends
	leaves  map[string]string    // leaf switches by name, without a fabric
	counts  map[[2]string]Count  // of flows with probes, by the names of their ends
}

// Explain stores why a flow between two names failed.
func (r *Results) Explain(from, to int, reason string) {
	if r.reasons == nil {
		r.reasons = map[[2]string]string{}
	}
	r.reasons[[2]string{r.Names[from], r.Names[to]}] = reason
}

// maxDamage limits the errors that results keep.
const maxDamage = 100

// reject stores that a part could not be read.
func (r *Results) reject(err error) {
	if r.Damaged++; len(r.Damage) < maxDamage {
		r.Damage = append(r.Damage, err)
	}
}

// Number returns the number of an endpoint's name, which is added if it is new.
func (r *Results) Number(name string) int32 { return r.name([]byte(name)) }

// name is Number for a name in a buffer.
func (r *Results) name(text []byte) int32 {
	if i, ok := r.index[string(text)]; ok {
		return i
	}
	if r.index == nil {
		r.index = map[string]int32{}
	}
	i := int32(len(r.Names))
	r.index[string(text)] = i
	r.Names = append(r.Names, printable(string(text)))
	return i
}

// printable replaces characters that could control a terminal.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) || c == unicode.ReplacementChar {
			return '?'
		}
		return c
	}, strings.TrimSpace(text))
}

// add adds a flow. The diagonals of other programs' matrices are no loopbacks.
func (r *Results) add(f Flow) {
	if f.isLoopback() && r.Format != CSV && r.Format != JSON {
		return
	}
	r.Flows = append(r.Flows, f)
}
