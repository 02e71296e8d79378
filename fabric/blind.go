package fabric

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// The [Fabric.Blind] errors: a blind scan has the first error, and the second too if it did
// not leave the local port's node.
var (
	ErrBlind    = errors.New("no other node was found")
	ErrLinkDown = errors.New("the link of the local port is down")
)

var errDamaged = errors.New("parts of the file could not be read")

// Blind returns the reason why a scan from the local port found no other node: its link is
// down, or its peer does not respond. Such a fabric is partial and says nothing about the
// subnet. Blind returns nil for a fabric that is not from a scan.
func (f *Fabric) Blind() error { return f.blind }

// Incomplete returns the reason why a fabric is partial, nil if it is not.
func (f *Fabric) Incomplete() error {
	switch n := len(f.Failures) + f.Unanswered; {
	case f.blind != nil:
		return f.blind
	case f.Damaged():
		return errDamaged
	case f.Aborted != nil:
		return f.Aborted
	case n > 0:
		return fmt.Errorf("%s without a reply", plural.Count(n, "request", "requests"))
	}
	return nil
}

// checkBlind sets the reason why the scan found only the local port's node. A link that is
// down becomes a failure: no request was sent through it.
func (s *scan) checkBlind() {
	f := s.fabric
	if len(s.order) > 1 || s.opts.From != (umad.Target{}) || f.Aborted != nil {
		return
	}
	if f.blind = f.noLink(); f.blind != nil {
		f.Failures = append(f.Failures, Failure{Route: f.Start.Route, NodeGUID: f.Start.GUID, Port: f.StartPort, Attr: mad.AttrNodeInfo, Err: f.blind})
	} else if i := slices.IndexFunc(f.Failures, isNodeInfo); i >= 0 {
		f.blind = fmt.Errorf("%w: %w", ErrBlind, f.Failures[i].Err)
	} else if len(f.Failures) > 0 {
		f.blind = fmt.Errorf("%w: %w", ErrBlind, f.Failures[0].Err)
	}
}

// isNodeInfo reports whether a failure's request was to an unknown node.
func isNodeInfo(f Failure) bool { return f.Attr == mad.AttrNodeInfo }

// noLink returns a scan's error if its start has no link, nil if the start has a link.
func (f *Fabric) noLink() error {
	n := f.Start
	if n.IsSwitch() {
		for _, p := range n.Ports {
			if p != nil && (p.Peer != nil || p.Number > 0 && p.Info != nil && p.Info.PhysState == ib.PhysLinkUp) {
				return nil
			}
		}
		return fmt.Errorf("no port of the switch has a link: %w: %w", ErrLinkDown, ErrBlind)
	}
	p := n.PortAt(f.StartPort)
	if p == nil || p.Info == nil || p.Info.PhysState == ib.PhysLinkUp {
		return nil
	}
	return fmt.Errorf("%w (%v): %w", ErrLinkDown, p.Info.PhysState, ErrBlind)
}
