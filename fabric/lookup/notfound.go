package lookup

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/similar"
	"github.com/ibkit/ibkit/mad"
)

// A NotFoundError reports that a source does not contain an address.
type NotFoundError struct {
	Address Address
	By      Source
	Similar []string // names that resemble the requested name

	// Incomplete reports that not all nodes have replied to a scan.
	Incomplete bool

	gap Gap // if Incomplete
}

// A Gap is what a partial scan lacks. A complete scan has the zero value.
type Gap struct {
	Blind       error // no other node was found: see [fabric.Fabric.Blind]; or nil
	Failure     error // first request without a valid response
	Undescribed int   // nodes that did not give their description
	Description error // first request for any of these
}

// GapOf returns a scan's gap.
func GapOf(f *fabric.Fabric, names *fabric.NameMap) (g Gap) {
	if all := f.FailureErrors(names); len(all) > 0 {
		g.Failure = all[0]
	}
	g.Blind = f.Blind()
	for _, n := range f.Nodes {
		if !n.Described() {
			g.Undescribed++
		}
	}
	for _, failure := range f.Failures {
		if failure.Attr == mad.AttrNodeDescription {
			g.Description = f.FailureError(failure, names)
			break
		}
	}
	return g
}

func (e *NotFoundError) setGap(g Gap) { e.gap, e.Incomplete = g, g.Failure != nil }

// Unwrap returns the reason why the scan is blind.
func (e *NotFoundError) Unwrap() error { return e.gap.Blind }

func (e *NotFoundError) Error() string {
	if e.gap.Blind != nil {
		return e.gap.Blind.Error()
	}
	found := ""
	if e.Incomplete {
		found = "that replied "
	}
	switch e.Address.Kind {
	case Name:
		return "no node " + found + "has this name"
	case GUID:
		return "no node or port " + found + "has this GUID"
	case Route:
		return "the route leads to no node"
	}
	return "no port " + found + "has this " + e.Address.Kind.label()
}

// Hint suggests a remedy.
func (e *NotFoundError) Hint() string {
	switch g := e.gap; {
	case e.Address.Kind == Name && g.Undescribed > 0 && g.Description != nil:
		return fmt.Sprintf("%s did not give a description, and may have the name: %v", plural.Count(g.Undescribed, "node", "nodes"), g.Description)
	case lidOf(e.Address) != "":
		return "a port number follows a name, not a LID; find the name: ibkit addr " + lidOf(e.Address)
	case e.Incomplete:
		hint := fmt.Sprintf("not all nodes replied to the scan; the port may belong to such a node, or be connected through it: %v", g.Failure)
		if len(e.Similar) > 0 {
			hint += "; " + similar.Hint(e.Similar)
		}
		return hint
	case len(e.Similar) > 0:
		return similar.Hint(e.Similar)
	}
	return ""
}

// lidOf returns the LID of a name such as 7/1, 7[1] or 7:1, or "".
func lidOf(a Address) string {
	lid, number, found := strings.Cut(a.Name, ":")
	if !found {
		lid, _, found = fabric.CutPort(a.Name)
	}
	if _, err := parseLID(lid); err != nil || !found || !isMadeOf(number, digits) {
		return ""
	}
	return lid
}

// NotFound returns the error for an address that a fabric does not contain, as
// [Resolver.Find] returns it. names are all nodes' names, for the hint.
func NotFound(a Address, by Source, names []string, gap Gap) error {
	not := &NotFoundError{Address: a, By: by}
	if a.Kind == Name {
		not.Similar = similarTo(a.Name, names)
	}
	not.setGap(gap)
	return notFound(a, not)
}

// NotInScan returns the [NotFound] error for a name that none of the given scan nodes has.
func NotInScan(a Address, nodes []*fabric.Node, names *fabric.NameMap, gap Gap) error {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = names.Name(n)
	}
	return NotFound(a, FromScan, all, gap)
}

// notFound adds the address to the reason why it was not found.
func notFound(a Address, err error) error {
	return fmt.Errorf("find %s %s: %w", a.Kind.label(), a.bare(), err)
}
