// Package standing records a standing probe: a host pings a few peers all the time, and stores
// the figures of each window for the exporter and for mesh analyze.
package standing

import (
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/report"
)

// A Document is the last window of a host, and the totals since the start.
type Document struct {
	report.Head                   // began: start of the window
	Source      string            `json:"source"`
	Leaf        string            `json:"leaf,omitempty"` // switch of the source, without a fabric
	Started     time.Time         `json:"started"`
	Seconds     float64           `json:"seconds"`           // of the window
	Rate        float64           `json:"probes_per_second"` // limit
	Peers       int               `json:"peers"`
	Classes     []Class           `json:"classes"`
	Flows       []mesh.ReportFlow `json:"flows"`
}

// A Class is the probes to peers of a class since the start.
type Class struct {
	Class    mesh.PeerClass `json:"class"`
	Peers    int            `json:"peers"`
	Sent     uint64         `json:"sent"`
	Lost     uint64         `json:"lost"`
	Received uint64         `json:"received"`
	Sum      float64        `json:"rtt_sum_seconds"`
	Buckets  []uint64       `json:"rtt_buckets"` // replies up to each bound, as in Prometheus
}

// Bounds are the bounds of Class.Buckets in seconds.
var Bounds = []float64{5e-6, 10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 100e-3}

// Options are the [New] options.
type Options struct {
	Source string            // name in results
	Leaf   string            // its switch if the list of hosts has it
	Peers  []mesh.ProbedPort // several may have a name: paths to the same port
	Window time.Duration     // of the figures
	Rate   float64           // probes per second
	Start  time.Time
}

// A Recorder records probes. It is not safe for concurrent use.
type Recorder struct {
	options Options
	began   time.Time // the window
	flows   []flow    // by name
	of      []int     // flow by peer
	class   []int     // by peer
	classes []Class
}

// A flow is the probes to a peer in the window.
type flow struct {
	name       string
	sent, lost int
	times      []time.Duration
}

// New returns a recorder for probes to peers.
func New(o Options) *Recorder {
	r := &Recorder{options: o, began: o.Start}
	for _, p := range o.Peers {
		f := slices.IndexFunc(r.flows, func(f flow) bool { return f.name == p.Name })
		if f < 0 {
			f = len(r.flows)
			r.flows = append(r.flows, flow{name: p.Name})
		}
		c := slices.IndexFunc(r.classes, func(c Class) bool { return c.Class == p.Class })
		if c < 0 {
			c = len(r.classes)
			r.classes = append(r.classes, Class{Class: p.Class, Buckets: make([]uint64, len(Bounds))})
		}
		r.of, r.class = append(r.of, f), append(r.class, c)
		r.classes[c].Peers++
	}
	return r
}

// Add adds a probe to a peer that ended at a time. At the end of a window it returns the
// document of the window, otherwise nil. Late and duplicated replies do not count.
func (r *Recorder) Add(peer int, o ping.Outcome, rtt time.Duration, at time.Time) *Document {
	var d *Document
	if end := r.began.Add(r.options.Window); !at.Before(end) {
		d = r.document(end)
		r.began = end
		for skipped := end.Add(r.options.Window); !at.Before(skipped); skipped = skipped.Add(r.options.Window) {
			r.began = skipped // a suspended host
		}
	}
	if o == ping.Late || o == ping.Duplicated {
		return d
	}
	f, c := &r.flows[r.of[peer]], &r.classes[r.class[peer]]
	f.sent++
	c.Sent++
	if o != ping.Received {
		f.lost++
		c.Lost++
		return d
	}
	f.times = append(f.times, rtt)
	c.Received++
	c.Sum += rtt.Seconds()
	for i, bound := range Bounds {
		if rtt.Seconds() <= bound {
			c.Buckets[i]++
		}
	}
	return d
}

// End returns the document of the window that has not ended, nil without probes.
func (r *Recorder) End(at time.Time) *Document {
	if !slices.ContainsFunc(r.flows, func(f flow) bool { return f.sent > 0 }) {
		return nil
	}
	return r.document(at)
}

// End returns the end of the window.
func (d *Document) End() time.Time {
	return d.Began.Add(time.Duration(d.Seconds * float64(time.Second)))
}

// Check returns an error if the content is not that of a window.
func (d *Document) Check() error {
	if d.Schema != mesh.PingSchema {
		return fmt.Errorf("got the schema %q, want %s", d.Schema, mesh.PingSchema)
	}
	for i := range d.Classes {
		if got := len(d.Classes[i].Buckets); got != len(Bounds) {
			return fmt.Errorf("got %d buckets, want %d", got, len(Bounds))
		}
	}
	for i := range d.Flows {
		if f := &d.Flows[i]; f.Sent == nil || f.Lost == nil || *f.Sent < 1 || *f.Lost < 0 || *f.Lost > *f.Sent {
			return fmt.Errorf("got the flow to %q without valid probes", f.Destination)
		}
	}
	return nil
}

// Sent returns the probe count of the window.
func (d *Document) Sent() (n int) {
	for _, f := range d.Flows {
		n += *f.Sent
	}
	return n
}

// Lost returns how many probes of the window had no valid reply.
func (d *Document) Lost() (n int) {
	for _, f := range d.Flows {
		n += *f.Lost
	}
	return n
}

// document returns the window that ends at a time, and begins the next.
func (r *Recorder) document(end time.Time) *Document {
	d := &Document{
		Head: report.NewHead(mesh.PingSchema, r.began), Source: r.options.Source, Leaf: r.options.Leaf, Started: r.options.Start,
		Seconds: end.Sub(r.began).Seconds(), Rate: r.options.Rate, Peers: len(r.flows), Flows: []mesh.ReportFlow{}, Classes: []Class{},
	}
	for _, c := range r.classes {
		c.Buckets = slices.Clone(c.Buckets)
		d.Classes = append(d.Classes, c)
	}
	for i := range r.flows {
		f := &r.flows[i]
		if f.sent > 0 {
			one := mesh.ReportFlow{Source: r.options.Source, Destination: f.name, Sent: new(f.sent), Lost: new(f.lost)}
			if len(f.times) > 0 {
				slices.Sort(f.times)
				one.Micros = new(float32(f.times[len(f.times)/2].Nanoseconds()) / 1e3)
			}
			d.Flows = append(d.Flows, one)
		}
		f.sent, f.lost, f.times = 0, 0, f.times[:0]
	}
	return d
}
