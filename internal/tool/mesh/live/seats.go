package live

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/report"
)

// A Fleet is the rails of all workers, in the order of the workers.
type Fleet struct {
	Seats    []Seat
	Rails    []crew.Rail    // by seat
	Adapters []mesh.Adapter // by seat, for a wiring without a fabric
	// Findings are workers without a rail, Failures ports that cannot be used.
	Findings []report.Finding
	Failures []report.Failure
}

// Muster collects the rails that the members offer.
func Muster(c *crew.Crew) *Fleet {
	f := &Fleet{}
	for _, name := range c.Members() {
		offer := c.Offer(name)
		switch {
		case len(offer.Rails) == 0:
			f.Findings = append(f.Findings, about(name, report.MissingHost, name, mesh.CannotMeasure+": "+offer.Error))
		case offer.Error != "":
			f.Failures = append(f.Failures, report.Failure{Subject: name, Error: offer.Error})
		}
		for i, rail := range offer.Rails {
			a := mesh.Adapter{Host: name, Gbps: rail.Gbps}
			if len(offer.Rails) > 1 {
				if a.Device = rail.Device; rail.Port > 1 {
					a.Device = fmt.Sprintf("%s/%d", rail.Device, rail.Port)
				}
			}
			f.Seats, f.Rails, f.Adapters = append(f.Seats, Seat{name, i}), append(f.Rails, rail), append(f.Adapters, a)
		}
	}
	return f
}

// about returns a finding about a worker.
func about(worker string, kind report.Kind, subject, detail string) report.Finding {
	f := report.New(kind, subject, detail)
	f.Hint = f.Kind.HintFor(f)
	f.Data = mesh.NewHostData(nodeOf(worker))
	return f
}

// nodes returns the nodes of the workers by the names of their hosts.
func (o Options) nodes() map[string]string {
	nodes := map[string]string{}
	for i, host := range o.Course.Hosts() {
		nodes[host] = nodeOf(o.Seats[i].Worker)
	}
	return nodes
}

// nodeOf returns the node of a worker: its name without a task number.
func nodeOf(worker string) string {
	if node, _, ok := strings.Cut(worker, ":"); ok && strings.Count(worker, ":") == 1 {
		return node
	}
	return worker
}

// IsInfiniBand reports whether all rails are InfiniBand ports, which a fabric has.
func (f *Fleet) IsInfiniBand() bool {
	for _, r := range f.Rails {
		if r.Link != "InfiniBand" {
			return false
		}
	}
	return len(f.Rails) > 0
}

// IsMultiRail reports whether a worker has several rails.
func (f *Fleet) IsMultiRail() bool {
	for _, s := range f.Seats {
		if s.Rail > 0 {
			return true
		}
	}
	return false
}

// Place returns the course of the rails, with the seats by host. w is the fabric; nil: it is
// not known. Rails that the fabric does not have are findings.
func (f *Fleet) Place(w *mesh.Wiring, schedule mesh.Schedule) (*mesh.Wiring, *mesh.Course, []Seat, error) {
	names, byName := mesh.Names(f.Adapters), map[string]Seat{}
	if w == nil {
		w = mesh.NewUnwired(f.Adapters)
	} else {
		names = f.find(w)
	}
	var found []string
	for i, name := range names {
		if name != "" {
			found = append(found, name)
			byName[name] = f.Seats[i]
		}
	}
	if found == nil {
		found = []string{} // none, not all
	}
	c, err := mesh.NewCourse(w, found, 0, schedule)
	if err != nil {
		return nil, nil, nil, err
	}
	var ordered []Seat
	for _, name := range c.Hosts() {
		ordered = append(ordered, byName[name])
	}
	return w, c, ordered, nil
}

// find returns the names of the rails' ports in the fabric, "" for others.
func (f *Fleet) find(w *mesh.Wiring) (names []string) {
	for i, rail := range f.Rails {
		name, ok := w.NameOf(rail.GUID)
		if !ok {
			host := f.Adapters[i].Host
			f.Findings = append(f.Findings, about(host, report.MissingHost, host, fmt.Sprintf("%s: the fabric does not have port GUID %v of %s/%d", mesh.CannotMeasure, rail.GUID, rail.Device, rail.Port)))
		}
		names = append(names, name)
	}
	return names
}
