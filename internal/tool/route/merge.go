package route

import "cmp"

// merge adds another part's analysis.
func (a *Analysis) merge(b *Analysis) {
	a.Switches += b.Switches
	a.EndPorts += b.EndPorts
	a.Destinations += b.Destinations
	a.Paths += b.Paths
	a.Reached += b.Reached
	for cause, n := range b.Lost {
		a.Lost[cause] += n
	}
	for links, n := range b.Hops {
		for len(a.Hops) <= links {
			a.Hops = append(a.Hops, 0)
		}
		a.Hops[links] += n
	}
	a.Faults = append(a.Faults, b.Faults...)
	a.Loops = append(a.Loops, b.Loops...)
	a.CreditLoops = append(a.CreditLoops, b.CreditLoops...)
	a.Inactive = append(a.Inactive, b.Inactive...)
	a.Links = append(a.Links, b.Links...)
	a.Groups = append(a.Groups, b.Groups...)
	a.Balance = append(a.Balance, b.Balance...)
	a.Trees = append(a.Trees, b.Trees...)
	a.Excess = append(a.Excess, b.Excess...)
	a.Duplicates = append(a.Duplicates, b.Duplicates...)
	a.AdaptiveFaults = append(a.AdaptiveFaults, b.AdaptiveFaults...)
	a.layered = a.layered && b.layered
	a.Lanes = mergedLanes(a.Lanes, b.Lanes)
	a.Disjoint = a.Disjoint.merged(b.Disjoint)
	for i := range a.Congestion {
		a.Congestion[i].merge(b.Congestion[i])
	}
	a.sortFaults()
	a.sortInactive()
	a.sortBalance()
}

// mergedLanes returns the knowledge about two parts' lanes.
func mergedLanes(a, b LaneKnowledge) LaneKnowledge {
	if a == LanesUnknown || b == LanesUnknown {
		return LanesUnknown
	}
	return max(a, b)
}

// merged returns the sum of two parts.
func (d *Disjoint) merged(e *Disjoint) *Disjoint {
	if d == nil || e == nil {
		return cmp.Or(d, e)
	}
	d.Groups += e.Groups
	d.Separate += e.Separate
	d.Partly += e.Partly
	d.Same += e.Same
	if d.From == nil {
		d.From, d.To = e.From, e.To
	}
	return d
}

// merge keeps the part with more flows on a link: the parts carry the pattern at the same
// time.
func (c *Congestion) merge(d Congestion) {
	if d.Worst > c.Worst {
		*c = d
	}
}
