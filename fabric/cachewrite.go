package fabric

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ibkit/ibkit/mad"
)

// WriteCache writes the fabric as a cache that [ParseCache] and libibnetdisc's
// tools can read. Ports that did not answer or have an invalid number are left
// out, and links to them with them. The format has no place for failures, conflicts, FDR10 and the
// costs of a discovery, and none for nodes or ports that share a GUID: such a
// fabric is refused.
func (f *Fabric) WriteCache(w io.Writer) error {
	if f.Start == nil {
		return errors.New("write cache: no node is known")
	}
	c := cacheWriter{seen: make(map[cacheKey]bool)}
	// libibnetdisc puts each node that it finds before the others and writes
	// that list, so its tools show the last record as the first found.
	for _, n := range slices.Backward(f.Nodes) {
		c.node(n)
	}
	header := c.append(nil, cacheHeader{
		Magic:   cacheMagic,
		Version: cacheVersion,
		Nodes:   uint32(len(f.Nodes)),
		Ports:   uint32(len(c.seen)),
		Start:   f.Start.GUID,
		MaxHops: uint32(f.MaxHops),
	})
	if c.err != nil {
		return fmt.Errorf("write cache: %w", c.err)
	}
	if _, err := w.Write(slices.Concat(header, c.nodes, c.ports)); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	return nil
}

// A cacheWriter collects the two lists of records.
type cacheWriter struct {
	nodes, ports []byte
	seen         map[cacheKey]bool
	err          error // the first
}

func (c *cacheWriter) node(n *Node) {
	stored := slices.DeleteFunc(slices.Clone(n.Ports), func(p *Port) bool { return !p.cacheable() })
	switch {
	case n.Duplicate:
		c.fail("several nodes have GUID 0x%016x, by which the format tells them apart", n.GUID)
	case len(stored) > 255:
		c.fail("node 0x%016x has %d ports, the format has room for 255", n.GUID, len(stored))
	}
	r := cacheNode{
		GUID:     n.GUID,
		Type:     uint8(n.Info.NodeType),
		NumPorts: n.Info.NumPorts,
		Info:     c.wire(&n.Info),
		Desc:     n.Desc,
		Stored:   uint8(len(stored)),
	}
	if n.Info.NodeType == mad.NodeTypeSwitch {
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
		c.port(p)
	}
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
		c.fail("two ports %d have GUID 0x%016x, by which the format tells them apart", p.Number, p.GUID)
	}
	c.seen[r.Key] = true
	c.ports = c.append(c.ports, r)
}

// cacheable reports whether a port can have a record: it has a PortInfo, and a
// number that libibnetdisc's tools expect.
func (p *Port) cacheable() bool {
	return p != nil && p.Info != nil && (p.linkable() || p.IsManagement())
}

func (p *Port) cacheKey() cacheKey { return cacheKey{p.GUID, p.Number} }

// wire returns the attribute's bytes.
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
