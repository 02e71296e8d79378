// Package portindex finds the ports and switches of a routing by their addresses. It is no
// part of package lookup, which searches a fabric and queries its ports: a routing may be from
// a file of saved routes, which has no fabric.
package portindex

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/similar"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/mad"
)

// Parse parses the address of one port for [Index.Port].
func Parse(text string) (lookup.Address, error) {
	a, err := lookup.Parse(text)
	switch {
	case err != nil:
		return a, err
	case a.Kind == lookup.LID && a.First != a.Last:
		return a, fmt.Errorf("find LID %s: want a single LID", text)
	}
	return a, nil
}

// An Index finds ports with a LID by their addresses.
type Index struct {
	routing *route.Routing
	names   *fabric.NameMap
	gid     func(netip.Addr) (ib.GID, error)
	tracer  *route.Tracer
	guids   map[ib.GUID]*route.Port
	words   map[string][]*route.Node // by name and by the first word of the name
}

// New returns the index of a routing. gid returns the GID of the port with an IP address.
func New(r *route.Routing, names *fabric.NameMap, gid func(netip.Addr) (ib.GID, error)) *Index {
	x := &Index{routing: r, names: names, gid: gid, tracer: route.NewTracer(r), guids: map[ib.GUID]*route.Port{}, words: map[string][]*route.Node{}}
	for _, n := range r.Nodes {
		full := names.NameOf(n.GUID, n.Desc)
		first, _, _ := strings.Cut(full, " ")
		x.words[full] = append(x.words[full], n)
		if first != full {
			x.words[first] = append(x.words[first], n)
		}
		for i := range n.Ports {
			if p := &n.Ports[i]; p.LID != 0 {
				x.add(p.GUID, p)
				x.add(n.GUID, p)
			}
		}
	}
	return x
}

// add enters the first port with a GUID.
func (x *Index) add(guid ib.GUID, p *route.Port) {
	if x.guids[guid] == nil {
		x.guids[guid] = p
	}
}

// Port returns the port with an address and its LID: the given one, or else the first.
func (x *Index) Port(a *lookup.Address) (*route.Port, ib.LID, error) {
	var p *route.Port
	switch a.Kind {
	case lookup.LID:
		if a.First != a.Last {
			return nil, 0, fmt.Errorf("find LID %s: want a single LID", a.Text)
		}
		if err := lookup.CheckPort(a.First); err != nil {
			return nil, 0, fmt.Errorf("find LID %s: %w", a.Text, err)
		}
		if p = x.tracer.Port(a.First); p != nil {
			return p, a.First, nil
		}
	case lookup.GUID:
		p = x.guids[a.GUID]
	case lookup.GID:
		p = x.byGID(a.GID)
	case lookup.IP:
		gid, err := x.gid(a.IP)
		if err != nil {
			return nil, 0, fmt.Errorf("find IP %s: %w", a.Text, err)
		}
		p = x.byGID(gid)
	case lookup.Route:
		p = x.first(x.routing.Nodes, anyPort, func(n *route.Node) bool { return a.First == 0 && n.Route == a.Route })
	default:
		if names := x.matching(a.Name); len(names) > 1 {
			err := fmt.Errorf("find %s: got %d nodes, want 1", a.Text, len(names))
			return nil, 0, cmdutil.WithHint(err, "name a single node: "+strings.Join(names[:min(len(names), similar.Max)], ", ")+"; list all nodes: ibkit topology --nodes")
		}
		p = x.named(a.Name)
	}
	if p == nil {
		return nil, 0, x.notFound(a)
	}
	return p, p.LID, nil
}

// byGID returns the port with a GID, nil without any.
func (x *Index) byGID(gid ib.GID) *route.Port {
	if p := x.guids[gid.GUID()]; p != nil && p.GUID == gid.GUID() {
		return p
	}
	return nil // unknown, or the GUID of a node
}

// notFound returns the error for an address that no port has.
func (x *Index) notFound(a *lookup.Address) error {
	if a.Kind != lookup.Name {
		return x.missing(a, nil)
	}
	if named := x.equal(a.Name); len(named) > 0 {
		for _, f := range x.routing.Failures {
			if f.Attr == mad.AttrPortInfo.String() && slices.Contains(named, f.Node) {
				return fmt.Errorf("find name %s: the LID is unknown: %w", a.Text, f.Err)
			}
		}
		return fmt.Errorf("find name %s: the node has no LID", a.Text)
	}
	node, number, ok := fabric.CutPort(a.Name)
	if named := x.equal(node); ok && len(named) > 0 {
		n := named[0]
		last := len(n.Ports) - 1
		return &lookup.PortError{Address: *a, Node: node, Number: number, NumPorts: last, External: n.IsSwitch() && number > 0 && number <= last}
	}
	return x.missing(a, slices.Sorted(maps.Keys(x.words)))
}

// missing returns an error for an address that is not in the routing. It reports that the
// routing is partial: the port may belong to a node that did not respond.
func (x *Index) missing(a *lookup.Address, names []string) error {
	return lookup.NotFound(*a, lookup.FromScan, names, x.gap())
}

// gap returns what the routing lacks.
func (x *Index) gap() (g lookup.Gap) {
	g.Blind = x.routing.Blind
	for _, f := range x.routing.Failures {
		err := f.Err
		if f.Node != nil {
			err = fmt.Errorf("%s: %w", x.names.LabelOf(f.Node.GUID, f.Node.Desc), err)
		}
		g.Failure = cmp.Or(g.Failure, err)
		if f.Attr == mad.AttrNodeDescription.String() {
			g.Description = cmp.Or(g.Description, err)
			g.Undescribed++
		}
	}
	return g
}

// equal returns the nodes with a name or a GUID.
func (x *Index) equal(name string) []*route.Node {
	if found := x.words[name]; len(found) > 0 || !strings.HasPrefix(name, "0x") {
		return found
	}
	guid, err := ib.ParseGUID(name)
	if p := x.guids[guid]; err == nil && p != nil && p.Node.GUID == guid {
		return []*route.Node{p.Node}
	}
	return nil
}

// anyPort stands for the first port.
const anyPort = -1

// matching returns the names of the nodes that a pattern matches, none for a name or a GUID.
func (x *Index) matching(text string) []string {
	node, _, ok := fabric.CutPort(text)
	if len(x.equal(text)) > 0 || ok && len(x.equal(node)) > 0 || !strings.ContainsAny(text, `*?[\`) {
		return nil
	}
	var full, prefix []string
	for _, n := range x.routing.Nodes {
		name := cmdutil.Visible(x.names.LabelOf(n.GUID, n.Desc))
		if x.matches(n, text) {
			full = append(full, name)
		}
		if ok && x.matches(n, node) {
			prefix = append(prefix, name)
		}
	}
	if full == nil {
		return prefix
	}
	return full
}

// named returns the first port of a node with a name, which may be a pattern. NAME[2] is
// port 2.
func (x *Index) named(text string) *route.Port {
	all := func(*route.Node) bool { return true }
	if nodes := x.equal(text); len(nodes) > 0 {
		return x.first(nodes, anyPort, all)
	}
	node, number, ok := fabric.CutPort(text)
	if nodes := x.equal(node); ok && len(nodes) > 0 {
		return x.first(nodes, number, all)
	}
	if !strings.ContainsAny(text, `*?[\`) {
		return nil
	}
	if p := x.first(x.routing.Nodes, anyPort, func(n *route.Node) bool { return x.matches(n, text) }); p != nil || !ok {
		return p
	}
	return x.first(x.routing.Nodes, number, func(n *route.Node) bool { return x.matches(n, node) })
}

// matches reports whether a pattern matches the name of a node or its first word.
func (x *Index) matches(n *route.Node, pattern string) bool {
	full := x.names.NameOf(n.GUID, n.Desc)
	first, _, _ := strings.Cut(full, " ")
	whole, _ := path.Match(pattern, full)
	word, _ := path.Match(pattern, first)
	return whole || word
}

// Switches returns the switches with an address, all those that a name pattern matches.
func (x *Index) Switches(text string) ([]*route.Node, error) {
	a, err := Parse(text)
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	var found []*route.Node // of any type
	if a.Kind == lookup.Name {
		for _, n := range x.routing.Nodes {
			if x.matches(n, a.Name) {
				found = append(found, n)
			}
		}
	} else if p, _, err := x.Port(&a); err == nil {
		found = append(found, p.Node)
	} else if _, ok := errors.AsType[*lookup.LIDError](err); ok {
		return nil, err
	}
	switches := slices.DeleteFunc(slices.Clone(found), func(n *route.Node) bool { return !n.IsSwitch() })
	switch {
	case len(found) == 0:
		return nil, x.missing(&a, slices.Sorted(maps.Keys(x.words)))
	case len(switches) == 0:
		err := fmt.Errorf("find %s: got %v, want a switch", text, found[0].Type)
		return nil, cmdutil.WithHint(err, "list all switches: ibkit topology --switches; a path between nodes: ibkit route SOURCE DESTINATION")
	}
	return switches, nil
}

// first returns the first port with a LID of some nodes that has a number.
func (x *Index) first(nodes []*route.Node, number int, matches func(*route.Node) bool) *route.Port {
	for _, n := range nodes {
		if !matches(n) {
			continue
		}
		for i := range n.Ports {
			if p := &n.Ports[i]; p.LID != 0 && (number == anyPort || number == int(p.Number)) {
				return p
			}
		}
	}
	return nil
}
