package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/report"
)

// A railPort is a port on a host with several adapters.
type railPort struct {
	port *fabric.Port
	rail string // adapter name, and the port number if it is not 1
}

// A railGroup is the hosts with the same adapters. Hosts with other adapters, such as
// storage, login or management nodes, may be cabled in another way.
type railGroup struct {
	hosts  map[string]bool
	leaves map[*fabric.Node][]railPort
	order  []*fabric.Node // of the leaf switches
}

// checkRails checks that each leaf switch connects the same adapter on all hosts with the
// same adapters. It applies to hosts with descriptions in the form "HOST ADAPTER" and
// several adapters, if most leaf switches connect a single adapter on most of these hosts.
func checkRails(_ context.Context, r *fabricRun) error {
	groups := railGroups(r.fabric)
	rails, leaves := map[string]bool{}, map[*fabric.Node]bool{}
	alone, mixed := 0, 0
	for _, g := range groups {
		main := g.rails()
		switch {
		case len(g.hosts) < 2:
			alone++
		case 2*len(main) <= len(g.order):
			mixed += len(g.hosts)
		default:
			r.compareRails(g, main, rails, leaves)
		}
	}
	r.comment("%s on %s%s", count(len(rails), "rail"), count(len(leaves), "leaf switch"), notCompared(alone, mixed))
	r.skippedIf(len(groups) == 0, "no hosts with several adapters")
	r.skippedIf(len(groups) > 0 && len(rails) == 0 && mixed == 0, "no hosts with the same adapters")
	r.skippedIf(len(rails) == 0 && mixed > 0, "not rail-optimized: leaf switches connect several adapters of a host")
	return nil
}

// compareRails reports the ports that are not on their rail, and adds the rails and leaf
// switches to sets.
func (r *fabricRun) compareRails(g *railGroup, main map[*fabric.Node]string, rails map[string]bool, leaves map[*fabric.Node]bool) {
	for _, leaf := range g.order {
		leaves[leaf] = true
		for _, p := range g.leaves[leaf] {
			rails[p.rail] = true
			if rail := main[leaf]; rail != "" && p.rail != rail {
				r.add(r.portFinding(report.WrongRail, p.port, "%s is connected to %s, which has %s of most hosts with the same adapters", p.rail, r.names.PortName(p.port.Peer), rail))
			}
		}
	}
}

// notCompared describes the hosts that the check leaves out.
func notCompared(alone, mixed int) string {
	var parts []string
	if alone > 0 {
		parts = append(parts, count(alone, "host")+" with adapters that no other host has")
	}
	if mixed > 0 {
		parts = append(parts, count(mixed, "host")+" without rails")
	}
	if parts == nil {
		return ""
	}
	return "; not compared: " + strings.Join(parts, ", ")
}

// railGroups returns the hosts with several adapters by their adapters, in node order.
func railGroups(f *fabric.Fabric) []*railGroup {
	names := fabric.HostNames(f, nil)
	adapters := map[string][]string{} // by host
	for _, n := range f.Nodes {
		if h := names[n]; h.Host != "" && h.Device != "" {
			adapters[h.Host] = append(adapters[h.Host], h.Device)
		}
	}
	bySet := map[string]*railGroup{}
	var groups []*railGroup
	for _, n := range f.Nodes {
		host := names[n].Host
		if names[n].Device == "" || len(adapters[host]) < 2 {
			continue
		}
		slices.Sort(adapters[host])
		set := strings.Join(adapters[host], " ")
		if bySet[set] == nil {
			bySet[set] = &railGroup{hosts: map[string]bool{}, leaves: map[*fabric.Node][]railPort{}}
			groups = append(groups, bySet[set])
		}
		bySet[set].add(n, host, names[n].Device)
	}
	return groups
}

// add adds an adapter's links to switches.
func (g *railGroup) add(n *fabric.Node, host, device string) {
	g.hosts[host] = true
	for _, p := range n.Ports {
		if p == nil || p.Peer == nil || !p.Peer.Node.IsSwitch() {
			continue
		}
		rail := device
		if p.Number > 1 {
			rail = fmt.Sprintf("%s/%d", device, p.Number)
		}
		leaf := p.Peer.Node
		if g.leaves[leaf] == nil {
			g.order = append(g.order, leaf)
		}
		g.leaves[leaf] = append(g.leaves[leaf], railPort{p, rail})
	}
}

// rails returns the rail that a leaf switch has for more than half of its ports, if there is
// one.
func (g *railGroup) rails() map[*fabric.Node]string {
	main := map[*fabric.Node]string{}
	for leaf, ports := range g.leaves {
		counts := map[string]int{}
		for _, p := range ports {
			if counts[p.rail]++; 2*counts[p.rail] > len(ports) {
				main[leaf] = p.rail
			}
		}
	}
	return main
}
