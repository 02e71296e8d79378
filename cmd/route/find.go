package route

import (
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/shared/portindex"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/route"
)

// find returns the ports of pairs, or the pairs of one port and all others. Pairs of a file
// with an unknown port are omitted, unless all have one.
func (c *command) find(r *route.Routing, pairs []pair) (ends []route.Pair, err error) {
	x := portindex.New(r, c.names, c.gid)
	if c.toAll {
		from, lid, err := x.Port(&pairs[0].from)
		if err != nil {
			return nil, err
		}
		return toOthers(r, from, lid), nil
	}
	failures := c.fabric.Failures(c.env, "warning")
	for i := range pairs {
		e, err := c.findPair(x, &pairs[i])
		switch {
		case err == nil:
			ends = append(ends, e)
		case pairs[i].line == 0:
			return nil, err
		default:
			c.partial = true
			c.fail("", &textfile.Error{File: c.pairsName(), Line: pairs[i].line, Err: err})
			failures.Print(&textfile.Error{File: c.pairsName(), Line: pairs[i].line, Err: err})
		}
	}
	c.unknown = failures.Close()
	if len(ends) == 0 {
		return nil, fmt.Errorf("find pairs: no pair of %s has two known ports", c.pairsName())
	}
	return ends, nil
}

// findPair returns the ports of a pair. With --unknown-lid, a LID need not be that of a port.
func (c *command) findPair(x *portindex.Index, p *pair) (e route.Pair, err error) {
	if e.From, e.FromLID, err = x.Port(&p.from); err != nil {
		return e, err
	}
	e.To, e.ToLID, err = x.Port(&p.to)
	switch {
	case err == nil || p.to.Kind != lookup.LID || lookup.CheckPort(p.to.First) != nil:
		return e, err
	case c.force:
		e.ToLID = p.to.First
		return e, nil
	}
	return e, cmdutil.WithHint(err, "--unknown-lid follows the tables to a LID that no known port has")
}

// toOthers returns the pairs of a port and all other end ports.
func toOthers(r *route.Routing, from *route.Port, lid ib.LID) (ends []route.Pair) {
	for _, n := range r.Nodes {
		for i := range n.Ports {
			if to := &n.Ports[i]; to.LID != 0 && to != from && !n.IsSwitch() {
				ends = append(ends, route.Pair{From: from, To: to, FromLID: lid, ToLID: to.LID})
			}
		}
	}
	return ends
}
