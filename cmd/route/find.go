package route

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/route"
)

// find returns the ports of pairs, or the pairs of one port and all others.
func (c *command) find(r *route.Routing, pairs []pair) (ends []endPair, err error) {
	if !c.toAll {
		for _, p := range pairs {
			var e endPair
			if e.from, err = c.port(r, p.from); err != nil {
				return nil, err
			}
			if e.to, err = c.port(r, p.to); err != nil {
				return nil, err
			}
			ends = append(ends, e)
		}
		return ends, nil
	}
	from, err := c.port(r, c.from)
	if err != nil {
		return nil, err
	}
	for _, n := range r.Nodes {
		for i := range n.Ports {
			if to := &n.Ports[i]; to.LID != 0 && to != from && !n.IsSwitch() {
				ends = append(ends, endPair{from, to})
			}
		}
	}
	return ends, nil
}

// port returns the port with an address.
func (c *command) port(r *route.Routing, text string) (*route.Port, error) {
	a, err := resolve.Parse(text)
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	switch a.Kind {
	case resolve.IP:
		return nil, cmdutil.UsageErrorf("find %s: IP addresses are not supported", text)
	case resolve.LID:
		if a.First != a.Last {
			return nil, cmdutil.UsageErrorf("find %s: want one LID", text)
		}
	}
	for _, n := range r.Nodes {
		for i := range n.Ports {
			p := &n.Ports[i]
			if p.LID != 0 && c.matches(&a, p) {
				return p, nil
			}
		}
	}
	return nil, fmt.Errorf("find %s: no port with a LID has this address", text)
}

// matches reports whether a port with a LID has an address.
func (c *command) matches(a *resolve.Address, p *route.Port) bool {
	n := p.Node
	switch a.Kind {
	case resolve.LID:
		return p.Has(a.First)
	case resolve.GUID:
		return p.GUID == a.GUID || n.GUID == a.GUID
	case resolve.GID:
		return p.GUID == a.GID.GUID()
	case resolve.Route:
		return a.First == 0 && n.Route == a.Route
	}
	name, number, numbered := strings.Cut(a.Name, "/")
	if numbered {
		if k, err := strconv.ParseUint(number, 10, 8); err != nil || uint8(k) != p.Number {
			return false
		}
	}
	full := c.names.NameOf(n.GUID, n.Desc)
	first, _, _ := strings.Cut(full, " ")
	whole, _ := path.Match(name, full)
	word, _ := path.Match(name, first)
	return whole || word || full == a.Name
}
