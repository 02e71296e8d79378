package lookup

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/similar"
)

// findName finds the ports on nodes with a name. It compares the name with the node
// name map, with node descriptions, and with the first words of node descriptions,
// which for an adapter is the host name. If no name is equal, a number in brackets or
// after a slash selects a port, and otherwise the name is a [path.Match] pattern.
func (r *Resolver) findName(ctx context.Context, a Address) ([]*Port, error) {
	names := r.byName
	var listErr error // ended the name list early
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
	node, number, hasNumber := fabric.CutPort(a.Name)
	if ports := names.equal(a.Name); len(ports) > 0 {
		return copies(ports), nil
	}
	if ports := names.equal(node); hasNumber && len(ports) > 0 {
		return numbered(a, node, number, ports, listErr)
	}
	if ports := names.match(a.Name); len(ports) > 0 {
		r.missed = r.missed || names.from == FromScan && r.scanned.Partial()
		return copies(ports), nil
	}
	if ports := names.match(node); hasNumber && len(ports) > 0 {
		r.missed = r.missed || names.from == FromScan && r.scanned.Partial()
		return numbered(a, node, number, ports, listErr)
	}
	if listErr != nil {
		return nil, listErr
	}
	not := &NotFoundError{Address: a, By: names.from, Similar: similarTo(a.Name, names.sorted)}
	if names.from == FromScan {
		return nil, r.notFoundIn(r.scanned, not)
	}
	return nil, not
}

// Missed returns the scan's failed requests if it may have missed ports for the addresses so
// far: for patterns, and for addresses that it did not find. Otherwise it returns nil: an
// address that was found does not depend on the rest of the scan.
func (r *Resolver) Missed() []error {
	if !r.missed {
		return nil
	}
	return r.scanned.FailureErrors(r.opts.Names)
}

// A PortError reports an address with a node's name and a port number that has no
// address.
type PortError struct {
	Address Address
	Node    string // the address part before the number
	Number  int

	// External reports that the port is a switch port other than port 0, which has the
	// switch's addresses.
	External bool

	NumPorts int // of the node
}

func (e *PortError) Error() string {
	switch {
	case e.External:
		return fmt.Sprintf("find %s: a port of a switch has no address of its own", fabric.PortName(e.Node, e.Number))
	case e.Number > 0 && e.Number <= e.NumPorts:
		return fmt.Sprintf("find %s: the port is down or did not respond", fabric.PortName(e.Node, e.Number))
	}
	return fabric.NoPortError(e.Node, e.Number, e.NumPorts).Error()
}

// Hint suggests a remedy.
func (e *PortError) Hint() string {
	if e.External {
		return "the switch has the address " + e.Node
	}
	return ""
}

// numbered returns copies of the ports with a number. listErr ended the port list
// early, or is nil.
func numbered(a Address, node string, number int, ports []*Port, listErr error) ([]*Port, error) {
	var found []*Port
	failed := &PortError{Address: a, Node: node, Number: number}
	for _, p := range ports {
		n, _ := p.Number()
		switch {
		case int(n) == number:
			found = append(found, p)
		case number > 0 && number <= int(p.Node.NumPorts) && p.Node.IsSwitch():
			failed.External = true
		}
		failed.NumPorts = max(failed.NumPorts, int(p.Node.NumPorts))
	}
	switch {
	case len(found) > 0:
		return copies(found), nil
	case listErr != nil && !failed.External && number <= failed.NumPorts:
		return nil, listErr
	}
	return nil, failed
}

func copies(ports []*Port) []*Port {
	all := make([]*Port, len(ports))
	for i, p := range ports {
		all[i] = new(*p)
	}
	return all
}

// everything returns all ports, from subnet administration or a scan. If the scan
// ends early, it returns the ports found so far and the error.
func (r *Resolver) everything(ctx context.Context) ([]*Port, Source, error) {
	if r.opts.Mode != ModeNodes {
		err := r.nodes(ctx)
		if err == nil {
			return r.fromTable(func(*known) bool { return true }), FromSA, nil
		}
		if r.opts.Mode == ModeSA || ctx.Err() != nil {
			return nil, FromSA, err
		}
	}
	f, err := r.scan(ctx)
	if f == nil {
		return nil, FromScan, err
	}
	var all []*Port
	for _, n := range f.Nodes {
		all = append(all, PortsOf(n)...)
	}
	return all, FromScan, err
}

// nameIndex maps names to their nodes' ports.
type nameIndex struct {
	from   Source
	whole  map[string][]*Port
	first  map[string][]*Port // by the node description's first word
	guids  map[ib.GUID][]*Port
	sorted []string // all whole names
}

func newNameIndex(all []*Port, from Source, names *fabric.NameMap) *nameIndex {
	x := &nameIndex{from: from, whole: map[string][]*Port{}, first: map[string][]*Port{}, guids: map[ib.GUID][]*Port{}}
	for _, p := range all {
		x.guids[p.Node.NodeGUID] = append(x.guids[p.Node.NodeGUID], p)
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

// equal returns the ports on nodes with a name, or else with it as their first word or
// as their GUID.
func (x *nameIndex) equal(name string) []*Port {
	if found := x.whole[name]; len(found) > 0 {
		return found
	}
	if found := x.first[name]; len(found) > 0 || !strings.HasPrefix(name, "0x") {
		return found
	}
	guid, err := ib.ParseGUID(name)
	if err != nil {
		return nil
	}
	return x.guids[guid]
}

// match returns the ports with names that match a pattern, in name order.
func (x *nameIndex) match(pattern string) []*Port {
	if !strings.ContainsAny(pattern, "*?[") {
		return nil
	}
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

// similarTo returns names of nodes that resemble a name. NAME:1 is a common mistake for
// port 1 of a node, NAME,NAME for two nodes, and LID7 for LID 7.
func similarTo(name string, names []string) []string {
	if lid, found := strings.CutPrefix(strings.ToLower(name), "lid"); found && lid != "" && isMadeOf(lid, digits) {
		return []string{"lid:" + lid}
	}
	node, number, found := strings.Cut(name, ":")
	list := strings.Split(name, ",")
	switch {
	case len(list) > 1 && !slices.ContainsFunc(list, func(n string) bool { return !slices.Contains(names, n) }):
		return list
	case !found || number == "" || !isMadeOf(number, digits):
		node, _, _ = fabric.CutPort(name)
	case slices.Contains(names, node):
		return []string{node + "/" + number}
	}
	return similar.To(node, names)
}

// Siblings returns ports and, after them, the other known ports on the same nodes.
// Ports on Ethernet have no siblings.
func (r *Resolver) Siblings(ctx context.Context, ports []*Port) ([]*Port, error) {
	all := slices.Clone(ports)
	seen := map[ib.GUID]bool{}
	for _, p := range ports {
		if p.Node == nil || p.Node.IsSwitch() || seen[p.Node.NodeGUID] {
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
	if r.opts.Mode != ModeNodes {
		ports, err := r.ofNode(ctx, guid)
		if err == nil || r.opts.Mode == ModeSA || ctx.Err() != nil {
			return ports, err
		}
	}
	f, err := r.scan(ctx)
	if f == nil {
		return nil, err
	}
	if n := f.NodeByGUID(guid); n != nil {
		return PortsOf(n), nil
	}
	return nil, err
}
