package resolve

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/mad"
)

// findName finds the ports of the nodes with a name.
func (r *Resolver) findName(ctx context.Context, a Address) ([]*Port, error) {
	all, by, err := r.everything(ctx)
	if err != nil {
		return nil, err
	}
	if ports := r.named(all, a.Name); len(ports) > 0 {
		return ports, nil
	}
	if name, number, found := cutPort(a.Name); found {
		ports := r.named(all, name)
		ports = slices.DeleteFunc(ports, func(p *Port) bool {
			n, _ := p.Number()
			return n != number
		})
		if len(ports) > 0 {
			return ports, nil
		}
	}
	return nil, &NotFoundError{Address: a, By: by, Similar: r.similar(all, a.Name)}
}

// everything returns all ports, from whoever is to be asked.
func (r *Resolver) everything(ctx context.Context) ([]*Port, Source, error) {
	if r.opts.Ask != AskNodes {
		err := r.nodes(ctx)
		if err == nil {
			return r.fromTable(func(*known) bool { return true }), FromSA, nil
		}
		if r.opts.Ask == AskSA || ctx.Err() != nil {
			return nil, FromSA, err
		}
	}
	f, err := r.scan(ctx)
	if err != nil {
		return nil, FromScan, err
	}
	var all []*Port
	for _, n := range f.Nodes {
		all = append(all, scannedPorts(n)...)
	}
	return all, FromScan, nil
}

// named returns the ports of the nodes with a name: the one in the map, or the
// one that the node gives itself, or the first word of that. An adapter calls
// itself by its host and its device.
func (r *Resolver) named(all []*Port, name string) []*Port {
	var exact, first []*Port
	for _, p := range all {
		switch own := p.Description.Clean(); {
		case name == own, name == r.opts.Names.NameOf(p.Node.NodeGUID, *p.Description):
			exact = append(exact, p)
		case strings.HasPrefix(own, name+" "):
			first = append(first, p)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return first
}

// cutPort takes the number of a port off a name, as in "node07/1".
func cutPort(name string) (node string, port uint8, found bool) {
	i := strings.LastIndexByte(name, '/')
	if i <= 0 {
		return name, 0, false
	}
	n, err := strconv.ParseUint(name[i+1:], 10, 8)
	return name[:i], uint8(n), err == nil
}

// maxSimilar is how many names are told in place of one that there is not.
const maxSimilar = 3

// similar returns names that have the one that was asked for in them, in any
// case.
func (r *Resolver) similar(all []*Port, name string) []string {
	name, _, _ = cutPort(strings.ToLower(name))
	var similar []string
	for _, p := range all {
		for _, other := range []string{r.opts.Names.NameOf(p.Node.NodeGUID, *p.Description), p.Description.Clean()} {
			if strings.Contains(strings.ToLower(other), name) && !slices.Contains(similar, other) {
				similar = append(similar, other)
			}
		}
	}
	slices.Sort(similar)
	return similar[:min(len(similar), maxSimilar)]
}

// Siblings returns all ports of the nodes that ports belong to, those that were
// given first, as far as they are known. Only InfiniBand's have any.
func (r *Resolver) Siblings(ctx context.Context, ports []*Port) ([]*Port, error) {
	all := slices.Clone(ports)
	seen := map[uint64]bool{}
	for _, p := range ports {
		if p.Node == nil || p.Node.NodeType == mad.NodeTypeSwitch || seen[p.Node.NodeGUID] {
			continue
		}
		seen[p.Node.NodeGUID] = true
		others, err := r.portsOf(ctx, p.Node.NodeGUID)
		if err != nil {
			return all, err
		}
		for _, other := range others {
			if !slices.ContainsFunc(all, func(p *Port) bool { return p.Node != nil && p.Node.PortGUID == other.Node.PortGUID }) {
				all = append(all, other)
			}
		}
	}
	return all, nil
}

func (r *Resolver) portsOf(ctx context.Context, guid uint64) ([]*Port, error) {
	if r.opts.Ask != AskNodes {
		ports, err := r.ofNode(ctx, guid)
		if err == nil || r.opts.Ask == AskSA || ctx.Err() != nil {
			return ports, err
		}
	}
	f, err := r.scan(ctx)
	if err != nil {
		return nil, err
	}
	if n := f.NodeByGUID(guid); n != nil {
		return scannedPorts(n), nil
	}
	return nil, nil
}

// quoted writes names one behind the other.
func quoted(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, strconv.Quote(n))
	}
	return strings.Join(all, ", ")
}
