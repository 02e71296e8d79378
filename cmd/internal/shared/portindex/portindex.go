// Package portindex finds the ports and switches of a routing by their addresses.
package portindex

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/route"
)

// An Index finds ports with a LID by their addresses.
type Index struct {
	routing *route.Routing
	names   *fabric.NameMap
	tracer  *route.Tracer
	guids   map[ib.GUID]*route.Port
	words   map[string][]*route.Node // by name and by the first word of the name
}

// New returns the index of a routing.
func New(r *route.Routing, names *fabric.NameMap) *Index {
	x := &Index{routing: r, names: names, tracer: route.NewTracer(r), guids: map[ib.GUID]*route.Port{}, words: map[string][]*route.Node{}}
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
func (x *Index) Port(a *resolve.Address) (*route.Port, ib.LID, error) {
	var p *route.Port
	switch a.Kind {
	case resolve.LID:
		if err := resolve.CheckPort(a.First); err != nil {
			return nil, 0, fmt.Errorf("find LID %s: %w", a.Text, err)
		}
		if p = x.tracer.Port(a.First); p != nil {
			return p, a.First, nil
		}
	case resolve.GUID:
		p = x.guids[a.GUID]
	case resolve.GID:
		if p = x.guids[a.GID.GUID()]; p != nil && p.GUID != a.GID.GUID() {
			p = nil // the GUID of a node
		}
	case resolve.Route:
		p = x.first(x.routing.Nodes, "", func(n *route.Node) bool { return a.First == 0 && n.Route == a.Route })
	default:
		p = x.named(a.Name)
	}
	if p == nil {
		if err := x.missingPort(a); err != nil {
			return nil, 0, err
		}
		return nil, 0, x.withSimilar(fmt.Errorf("find %s: no port with a LID has this address", a.Text), a)
	}
	return p, p.LID, nil
}

// missingPort returns the error for NAME/9 if a node has the name, but no such port.
func (x *Index) missingPort(a *resolve.Address) error {
	name, text, _ := strings.Cut(a.Name, "/")
	number, err := strconv.Atoi(text)
	if a.Kind != resolve.Name || err != nil || len(x.words[name]) == 0 {
		return nil
	}
	if n := x.words[name][0]; number < 0 || number >= len(n.Ports) {
		return fabric.NoPortError(name, number, len(n.Ports)-1)
	}
	return nil
}

// withSimilar adds a hint with similar names to an error.
func (x *Index) withSimilar(err error, a *resolve.Address) error {
	if a.Kind != resolve.Name {
		return err
	}
	return cmdutil.WithHint(err, resolve.SimilarHint(resolve.Similar(a.Name, slices.Sorted(maps.Keys(x.words)))))
}

// named returns the first port of a node with a name, which may be a pattern. NAME/2 is
// port 2.
func (x *Index) named(text string) *route.Port {
	name, number, _ := strings.Cut(text, "/")
	if !strings.ContainsAny(name, `*?[\`) {
		return x.first(x.words[name], number, func(*route.Node) bool { return true })
	}
	return x.first(x.routing.Nodes, number, func(n *route.Node) bool { return x.matches(n, name) })
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
	a, err := resolve.Parse(text)
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	var found []*route.Node // of any type
	if a.Kind == resolve.Name {
		for _, n := range x.routing.Nodes {
			if x.matches(n, a.Name) {
				found = append(found, n)
			}
		}
	} else if p, _, err := x.Port(&a); err == nil {
		found = append(found, p.Node)
	} else if _, ok := errors.AsType[*resolve.LIDError](err); ok {
		return nil, err
	}
	switches := slices.DeleteFunc(slices.Clone(found), func(n *route.Node) bool { return !n.IsSwitch() })
	switch {
	case len(found) == 0:
		return nil, x.withSimilar(fmt.Errorf("find %s: no switch has this address", text), &a)
	case len(switches) == 0:
		return nil, fmt.Errorf("find %s: got %v, want a switch", text, found[0].Type)
	}
	return switches, nil
}

// first returns the first port with a LID of some nodes. number is that of the port;
// "": any.
func (x *Index) first(nodes []*route.Node, number string, matches func(*route.Node) bool) *route.Port {
	wanted, err := strconv.ParseUint(number, 10, 8)
	if err != nil && number != "" {
		return nil
	}
	for _, n := range nodes {
		if !matches(n) {
			continue
		}
		for i := range n.Ports {
			if p := &n.Ports[i]; p.LID != 0 && (number == "" || uint8(wanted) == p.Number) {
				return p
			}
		}
	}
	return nil
}
