package resolve

import (
	"context"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// findName finds the ports of the nodes with a name. It compares the name with the
// node name map, with node descriptions, and with the first words of node
// descriptions, which for an adapter is the host name. If no name is equal, it treats
// the name as a pattern of [path.Match].
func (r *Resolver) findName(ctx context.Context, a Address) ([]*Port, error) {
	names := r.byName
	var listErr error // ended the list of names early
	if names == nil {
		var all []*Port
		var by Source
		if all, by, listErr = r.everything(ctx); len(all) == 0 && listErr != nil {
			return nil, listErr
		}
		names = newNameIndex(all, by, r.opts.Names)
		if listErr == nil {
			r.byName = names
		}
	}
	if ports := names.find(a.Name); len(ports) > 0 {
		return ports, nil
	}
	if name, number, found := cutPort(a.Name); found {
		ports := slices.DeleteFunc(names.find(name), func(p *Port) bool {
			n, _ := p.Number()
			return n != number
		})
		if len(ports) > 0 {
			return ports, nil
		}
	}
	if listErr != nil {
		return nil, listErr
	}
	incomplete := names.from == FromScan && r.scanned.Partial()
	return nil, &NotFoundError{Address: a, By: names.from, Similar: Similar(a.Name, names.sorted), Incomplete: incomplete}
}

// everything returns all ports, from subnet administration or a scan. If the scan
// ends early, it returns the ports found so far and the error.
func (r *Resolver) everything(ctx context.Context) ([]*Port, Source, error) {
	if r.opts.Mode != LookupNodes {
		err := r.nodes(ctx)
		if err == nil {
			return r.fromTable(func(*known) bool { return true }), FromSA, nil
		}
		if r.opts.Mode == LookupSA || ctx.Err() != nil {
			return nil, FromSA, err
		}
	}
	f, err := r.scan(ctx)
	if f == nil {
		return nil, FromScan, err
	}
	var all []*Port
	for _, n := range f.Nodes {
		all = append(all, scannedPorts(n)...)
	}
	return all, FromScan, err
}

// nameIndex maps names to the ports of their nodes.
type nameIndex struct {
	from   Source
	whole  map[string][]*Port
	first  map[string][]*Port // by the first word of the node description
	sorted []string           // all whole names
}

func newNameIndex(all []*Port, from Source, names *fabric.NameMap) *nameIndex {
	x := &nameIndex{from: from, whole: map[string][]*Port{}, first: map[string][]*Port{}}
	for _, p := range all {
		own := p.Description.Clean()
		x.whole[own] = append(x.whole[own], p)
		if mapped := names.NameOf(p.Node.NodeGUID, *p.Description); mapped != own {
			x.whole[mapped] = append(x.whole[mapped], p)
		}
		if word, _, found := strings.Cut(own, " "); found {
			x.first[word] = append(x.first[word], p)
		}
	}
	x.sorted = slices.Sorted(maps.Keys(x.whole))
	return x
}

// find returns copies of the ports with a name, or whose names match a pattern.
func (x *nameIndex) find(name string) []*Port {
	found := x.whole[name]
	if len(found) == 0 {
		found = x.first[name]
	}
	if len(found) == 0 && strings.ContainsAny(name, "*?[") {
		found = x.match(name)
	}
	ports := make([]*Port, len(found))
	for i, p := range found {
		ports[i] = new(*p)
	}
	return ports
}

// match returns the ports whose names match a pattern, in the order of the names.
func (x *nameIndex) match(pattern string) []*Port {
	var found []*Port
	seen := map[*Port]bool{}
	for _, name := range x.sorted {
		if ok, err := path.Match(pattern, name); !ok || err != nil {
			continue
		}
		for _, p := range x.whole[name] {
			if !seen[p] { // a port may have two names
				seen[p] = true
				found = append(found, p)
			}
		}
	}
	return found
}

// maxSimilar is the maximum number of names that an error suggests.
const maxSimilar = 3

// Similar returns names that contain a name, regardless of case: the first three.
func Similar(name string, names []string) []string {
	name, _, _ = cutPort(strings.ToLower(name))
	var similar []string
	for _, other := range names {
		if len(similar) < maxSimilar && strings.Contains(strings.ToLower(other), name) {
			similar = append(similar, other)
		}
	}
	return similar
}

// cutPort splits a name with a port number, such as "node07/1".
func cutPort(name string) (node string, port uint8, found bool) {
	i := strings.LastIndexByte(name, '/')
	if i <= 0 {
		return name, 0, false
	}
	n, err := strconv.ParseUint(name[i+1:], 10, 8)
	return name[:i], uint8(n), err == nil
}

// Siblings returns ports and, after them, the other known ports of the same nodes.
// Ports on Ethernet have none.
func (r *Resolver) Siblings(ctx context.Context, ports []*Port) ([]*Port, error) {
	all := slices.Clone(ports)
	seen := map[ib.GUID]bool{}
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

func (r *Resolver) portsOf(ctx context.Context, guid ib.GUID) ([]*Port, error) {
	if r.opts.Mode != LookupNodes {
		ports, err := r.ofNode(ctx, guid)
		if err == nil || r.opts.Mode == LookupSA || ctx.Err() != nil {
			return ports, err
		}
	}
	f, err := r.scan(ctx)
	if f == nil {
		return nil, err
	}
	if n := f.NodeByGUID(guid); n != nil {
		return scannedPorts(n), nil
	}
	return nil, err
}

// SimilarHint returns a hint with names that [Similar] found, "" for none.
func SimilarHint(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, strconv.Quote(n))
	}
	if len(all) == 0 {
		return ""
	}
	return "similar names: " + strings.Join(all, ", ")
}
