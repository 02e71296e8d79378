package fabric

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ibkit/ibkit/mad"
)

// WriteCache writes the fabric as a cache for [ParseCache] and libibnetdisc's tools.
// The cache omits ports that did not respond or have an invalid number, and their
// links. The format cannot store failures, conflicts, FDR10 and statistics. A trailer,
// which libibnetdisc ignores, marks partial fabrics. The records are in the order in
// which libibnetdisc writes them. WriteCache returns an error if nodes or ports share a
// GUID, because the format identifies them by GUID.
func (f *Fabric) WriteCache(w io.Writer) error {
	if f.Start == nil {
		return errors.New("write cache: the fabric has no nodes")
	}
	c := cacheWriter{seen: make(map[cacheKey]bool), written: make(map[*Port]bool)}
	order := f.Replay(nil)
	for _, n := range order.Nodes {
		c.node(n)
	}
	for _, p := range order.ports {
		if p.cacheable() {
			c.port(p)
		}
	}
	for _, n := range order.Nodes {
		for _, p := range n.Ports {
			if p.cacheable() && !c.written[p] {
				c.port(p)
			}
		}
	}
	header := c.append(nil, cacheHeader{
		Magic:   cacheMagic,
		Version: cacheVersion,
		Nodes:   uint32(len(f.Nodes)),
		Ports:   uint32(len(c.seen)),
		Start:   f.Start.GUID,
		MaxHops: uint32(order.MaxHops),
	})
	if c.err != nil {
		return fmt.Errorf("write cache: %w", c.err)
	}
	if _, err := w.Write(slices.Concat(header, c.nodes, c.ports, c.trailer(f))); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	return nil
}

// trailer returns the trailer for a partial or bounded fabric, nil for others.
func (c *cacheWriter) trailer(f *Fabric) []byte {
	t := cacheTrailer{Magic: trailerMagic, Unanswered: uint32(len(f.Failures) + f.Unanswered)}
	if f.Aborted != nil {
		t.Flags |= trailerAborted
	}
	if f.Bounded {
		t.Flags |= trailerBounded
	}
	if t.Flags == 0 && t.Unanswered == 0 {
		return nil
	}
	return c.append(nil, t)
}

// A cacheWriter builds the two record lists.
type cacheWriter struct {
	nodes, ports []byte
	seen         map[cacheKey]bool
	written      map[*Port]bool
	err          error // the first error
}

func (c *cacheWriter) node(n *Node) {
	stored := slices.DeleteFunc(slices.Clone(n.Ports), func(p *Port) bool { return !p.cacheable() })
	switch {
	case n.Duplicate:
		c.fail("several nodes have GUID 0x%016x, by which the format identifies nodes", n.GUID)
	case len(stored) > 255:
		c.fail("node 0x%016x has %d ports, the maximum of the format is 255", n.GUID, len(stored))
	}
	r := cacheNode{
		GUID:     n.GUID,
		Type:     uint8(n.Info.NodeType),
		NumPorts: n.Info.NumPorts,
		Info:     c.wire(&n.Info),
		Desc:     n.Desc,
		Stored:   uint8(len(stored)),
	}
	if n.IsSwitch() {
		if p0 := n.Ports[0]; p0.cacheable() {
			r.LID, r.LMC = p0.Info.LID, p0.Info.LMC
		}
		if n.Switch != nil {
			r.Switch = c.wire(n.Switch)
			r.EnhancedPort0 = n.Switch.EnhancedPort0
		}
	}
	c.nodes = c.append(c.nodes, r)
	for _, p := range stored {
		c.nodes = c.append(c.nodes, p.cacheKey())
	}
}

// hashOrder sorts ports in the order in libibnetdisc's port hash table: by bucket, and
// within a bucket the port added last first.
func hashOrder(ports []*Port) []*Port {
	const buckets = 137
	var table [buckets][]*Port
	for _, p := range ports {
		if p.cacheable() {
			hash := uint32(p.GUID)*101 ^ uint32(p.GUID>>32)*103
			table[hash%buckets] = append(table[hash%buckets], p)
		}
	}
	sorted := make([]*Port, 0, len(ports))
	for _, bucket := range table {
		slices.Reverse(bucket)
		sorted = append(sorted, bucket...)
	}
	return sorted
}

func (c *cacheWriter) port(p *Port) {
	r := cachePort{
		Key:      p.cacheKey(),
		External: uint8(p.External),
		Info:     c.wire(p.Info),
		Node:     p.Node.GUID,
	}
	if base := p.Caps(); base != nil {
		r.LID, r.LMC = base.LID, base.LMC
	}
	if p.linkable() && p.Peer.cacheable() && p.Peer.linkable() {
		r.Linked, r.Peer = 1, p.Peer.cacheKey()
	}
	if c.seen[r.Key] {
		c.fail("two ports %d have GUID 0x%016x, by which the format identifies ports", p.Number, p.GUID)
	}
	c.seen[r.Key], c.written[p] = true, true
	c.ports = c.append(c.ports, r)
}

// cacheable reports whether a port has a record: a port with a PortInfo and a
// valid number.
func (p *Port) cacheable() bool {
	return p != nil && p.Info != nil && (p.linkable() || p.IsManagement())
}

func (p *Port) cacheKey() cacheKey { return cacheKey{p.GUID, p.Number} }

// wire returns the encoded attribute.
func (c *cacheWriter) wire(a mad.Attribute) (b [mad.DataSize]byte) {
	if err := mad.Encode(a, b[:]); err != nil && c.err == nil {
		c.err = err
	}
	return b
}

func (c *cacheWriter) append(b []byte, record any) []byte {
	b, err := binary.Append(b, binary.LittleEndian, record)
	if err != nil && c.err == nil {
		c.err = err
	}
	return b
}

func (c *cacheWriter) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}
