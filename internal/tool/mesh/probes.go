package mesh

import (
	"fmt"

	"github.com/ibkit/ibkit/ib"
)

// A PeerClass is where the peer of a standing probe is.
type PeerClass string

// The peer classes.
const (
	SameLeaf    PeerClass = "same-leaf"
	OtherLeaf   PeerClass = "other-leaf"
	OtherRail   PeerClass = "other-rail" // under any leaf switch
	UnknownLeaf PeerClass = "unknown"    // the network is not known
)

// A ProbedPort is a port that a standing probe pings.
type ProbedPort struct {
	Name  string // in results
	Class PeerClass
	LID   ib.LID
	GUID  ib.GUID
}

// Probes are the pairs of a standing probe. All hosts calculate the same from the same fabric.
type Probes struct {
	*coverage
	Plan
}

// PlanProbes returns the pairs of the schedule cover with a number of pairs over each leaf pair
// and link.
func (w *Wiring) PlanProbes(pairs int, nodes []string) *Probes {
	c := newCoverage(newMembers(w, func(e *end) bool { return w.selected(e, nodes) }), pairs)
	p := &Probes{coverage: c}
	p.Members, p.Paths, p.Flows = len(c.ends), w.Paths, len(c.pairs)
	t, leaves := newTraffic(c.members), newLeafPairs(c.members)
	total := make([]int, t.paths.count)
	for f := range c.pairs {
		leaves.add(f)
		for _, x := range t.links(f) {
			total[x]++
		}
	}
	for _, targets := range c.targets {
		p.Rounds = max(p.Rounds, len(targets))
	}
	p.cover(t, total)
	p.Coverage.LeafPairs, p.Coverage.UsedLeafPairs = leaves.count()
	return p
}

// UsedLinks returns how many directed links between switches routing uses.
func (p *Probes) UsedLinks() (n int) {
	for _, used := range p.used {
		if used {
			n++
		}
	}
	return n
}

// Of returns the peers of a port by its GUID, name or address, and its name in results.
func (p *Probes) Of(port string) (name string, peers []ProbedPort, err error) {
	w := p.wiring
	found := w.resolve(port)
	if len(found) != 1 {
		return "", nil, fmt.Errorf("find this host in the plan: %d ports fit %s, want one", len(found), port)
	}
	for i, end := range p.ends {
		if end != found[0] {
			continue
		}
		for _, to := range p.targets[i] {
			e := &w.ends[p.ends[to]]
			peers = append(peers, ProbedPort{Name: w.endName(p.ends[to]), Class: p.class(end, p.ends[to]), LID: e.port.LID, GUID: e.port.GUID})
		}
		return w.endName(end), peers, nil
	}
	return "", nil, fmt.Errorf("find this host in the plan: %s is not an adapter of a host", port)
}

func (p *Probes) class(a, b int32) PeerClass {
	w := p.wiring
	switch {
	case w.Paths == FromNames && !w.grouped:
		return UnknownLeaf
	case w.ends[a].rail != w.ends[b].rail:
		return OtherRail
	case w.channels.At(int(a)) == w.channels.At(int(b)):
		return SameLeaf
	}
	return OtherLeaf
}
