package fabric

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// ParseCache parses a cache that [Fabric.WriteCache] or libibnetdisc wrote. data
// must be exactly one consistent cache: each port record belongs to at most one node, and
// each link has two ends. Otherwise the error is a [*CacheError]. If a part of such a cache
// is consistent, ParseCache returns that part together with the first error;
// [Fabric.Failures] has all errors.
//
// libibnetdisc before release 65 wrote references to ports that did not respond, without
// their records. These are no errors: [Fabric.Unanswered] counts them.
//
// Systems, routes and the node order are computed again. LIDs are taken from the
// PortInfos.
func ParseCache(data []byte) (*Fabric, error) {
	header, err := parseCacheHeader(data)
	if err != nil {
		return nil, err
	}
	c := cacheReader{
		data:  data,
		off:   cacheHeaderSize,
		ports: make(map[cacheKey]*readPort),
		nodes: make(map[ib.GUID]*Node),
	}
	f := &Fabric{MaxHops: int(min(header.MaxHops, mad.MaxHops))}
	c.reject(0, c.checkCounts(header))
	for i := uint32(0); i < header.Nodes && !c.ended; i++ {
		n, err := c.node()
		if err == nil {
			f.Nodes = append(f.Nodes, n)
		}
		c.reject(0, err)
	}
	c.reject(0, c.trailer(f, int(header.Ports)))
	c.portRecords(int(header.Ports))
	c.link()
	f.Unanswered += c.missing
	f.Start = c.nodes[header.Start]
	if f.Start == nil {
		c.reject(0, cacheErrorf(16, "got 0x%016x, want the GUID of a node in the file", header.Start))
	}
	if len(c.failures) > 0 {
		return c.damaged(f)
	}
	f.StartPort = entryPort(f.Start)
	f.store(int(header.MaxHops))
	f.finish()
	return f, nil
}

// damaged returns the fabric in a cache with errors, nil without any node, and the first
// error.
func (c *cacheReader) damaged(f *Fabric) (*Fabric, error) {
	err := c.failures[0].Err
	if len(f.Nodes) == 0 {
		return nil, err
	}
	if f.Start == nil {
		f.Start = f.Nodes[0]
	}
	f.StartPort = entryPort(f.Start)
	f.finish()
	f.Failures = c.failures
	return f, err
}

// reject adds an error; nil is ignored. node is 0 if it is unknown.
func (c *cacheReader) reject(node ib.GUID, err error) {
	if err != nil {
		c.failures = append(c.failures, Failure{NodeGUID: node, Err: err})
	}
}

// entryPort returns the first node's port through which the scan's packets arrived. The
// format does not store the port, so if the local port has no link, the first port with
// a link is used.
func entryPort(start *Node) uint8 {
	local := start.Info.LocalPort
	if start.IsSwitch() {
		return local
	}
	if int(local) < len(start.Ports) && start.Ports[local] != nil && start.Ports[local].Peer != nil {
		return local
	}
	for _, p := range start.Ports {
		if p != nil && p.Peer != nil {
			return p.Number
		}
	}
	return local
}

func parseCacheHeader(data []byte) (cacheHeader, error) {
	var h cacheHeader
	if _, err := binary.Decode(data, binary.LittleEndian, &h); err != nil {
		return h, cacheErrorf(0, "header: got %d of %d bytes", len(data), cacheHeaderSize)
	}
	switch {
	case h.Magic != cacheMagic:
		return h, &CacheError{Err: ErrNotCache}
	case h.Version != cacheVersion:
		return h, cacheErrorf(4, "got version %d, want %d", h.Version, cacheVersion)
	}
	return h, nil
}

// A cacheReader reads the records and resolves references between them at the end.
type cacheReader struct {
	data  []byte
	off   int // next record's offset
	nodes map[ib.GUID]*Node
	ports map[cacheKey]*readPort
	keys  []*readPort // in node order

	failures []Failure
	missing  int  // ports without a record, and records that belong to no node
	ended    bool // the data ended too early
}

// A readPort is a port that a node lists.
type readPort struct {
	key    cacheKey
	keyOff int
	node   *Node

	port   *Port // nil until the record was read
	off    int   // record's offset
	linked bool
	peer   cacheKey
}

// checkCounts compares the counts with the data size, so that the work is limited by
// the file size.
func (c *cacheReader) checkCounts(h cacheHeader) error {
	rest := uint64(len(c.data) - c.off)
	need := uint64(h.Nodes)*cacheNodeSize + uint64(h.Ports)*(cacheKeySize+cachePortSize)
	if need > rest {
		return cacheErrorf(8, "got %d bytes, want at least %d for %d nodes and %d ports", rest, need, h.Nodes, h.Ports)
	}
	return nil
}

func (c *cacheReader) node() (*Node, error) {
	var r cacheNode
	start := c.off
	if err := c.next(&r, "a node record"); err != nil {
		return nil, err
	}
	keys := c.off
	c.off += int(r.Stored) * cacheKeySize
	n := &Node{GUID: r.GUID, Desc: r.Desc, Ports: make([]*Port, int(r.NumPorts)+1)}
	if err := mad.Decode(&n.Info, r.Info[:]); err != nil {
		return nil, cacheErrorf(start, "%w", err)
	}
	switch {
	case c.nodes[r.GUID] != nil:
		return nil, cacheErrorf(start, "got 0x%016x again, want each node once", r.GUID)
	case uint8(n.Info.NodeType) != r.Type, n.Info.NumPorts != r.NumPorts:
		return nil, cacheErrorf(start, "got a NodeInfo of type %d with %d ports, want type %d, %d ports",
			uint8(n.Info.NodeType), n.Info.NumPorts, r.Type, r.NumPorts)
	}
	isSwitch := n.IsSwitch()
	if isSwitch && r.Switch != [mad.DataSize]byte{} {
		n.Switch = new(mad.SwitchInfo)
		if err := mad.Decode(n.Switch, r.Switch[:]); err != nil {
			return nil, cacheErrorf(start, "%w", err)
		}
	}
	c.nodes[r.GUID] = n
	c.off = keys
	for range r.Stored {
		p := &readPort{keyOff: c.off, node: n}
		if err := c.next(&p.key, "a port key"); err != nil {
			c.reject(n.GUID, err)
			break
		}
		c.reject(n.GUID, c.addKey(p))
	}
	return n, nil
}

// addKey adds a port that a node lists.
func (c *cacheReader) addKey(p *readPort) error {
	switch n := p.node; {
	case p.key.Number > n.Info.NumPorts:
		return cacheErrorf(p.keyOff, "got port number %d, want at most %d", p.key.Number, n.Info.NumPorts)
	case p.key.Number == 0 && !n.IsSwitch():
		return cacheErrorf(p.keyOff, "got port number 0, want at least 1, because node 0x%016x is not a switch", uint64(n.GUID))
	case c.ports[p.key] != nil:
		return cacheErrorf(p.keyOff, "got %v again, want each port once", p.key)
	}
	c.ports[p.key] = p
	c.keys = append(c.keys, p)
	return nil
}

// trailer reads the trailer, if it exists, and removes it from the data.
func (c *cacheReader) trailer(f *Fabric, ports int) error {
	start := c.off + ports*cachePortSize
	var t cacheTrailer
	if len(c.data) != start+trailerSize {
		return nil
	}
	if _, err := binary.Decode(c.data[start:], binary.LittleEndian, &t); err != nil {
		return cacheErrorf(start, "%w", err)
	}
	if t.Magic != trailerMagic || t.Flags&^(trailerAborted|trailerBounded) != 0 || t.Unanswered > math.MaxInt32 {
		return cacheErrorf(start, "want port records or the trailer of a partial fabric")
	}
	f.Unanswered, f.Bounded = int(t.Unanswered), t.Flags&trailerBounded != 0
	if t.Flags&trailerAborted != 0 {
		f.Aborted = ErrStoredAborted
	}
	c.data = c.data[:start]
	return nil
}

// portRecords reads the second list, which ends at the file's end.
func (c *cacheReader) portRecords(count int) {
	if c.ended {
		return
	}
	if rest := len(c.data) - c.off; rest != count*cachePortSize {
		c.reject(0, cacheErrorf(c.off, "got %d bytes, want %d port records of %d bytes", rest, count, cachePortSize))
		c.ended = rest < count*cachePortSize
		count = min(count, rest/cachePortSize)
	}
	for range count {
		c.reject(0, c.portRecord())
	}
}

func (c *cacheReader) portRecord() error {
	var r cachePort
	start := c.off
	if err := c.next(&r, "a port record"); err != nil {
		return err
	}
	p := c.ports[r.Key]
	switch {
	case p == nil:
		c.missing++
		return nil
	case p.node.Ports[r.Key.Number] != nil:
		return cacheErrorf(start, "got %v again, want a single record for each port", r.Key)
	case r.Node != p.node.GUID:
		return cacheErrorf(start, "node of %v: got 0x%016x, want 0x%016x, which lists the port", r.Key, r.Node, p.node.GUID)
	}
	port := &Port{Node: p.node, Number: r.Key.Number, GUID: r.Key.GUID, Info: new(mad.PortInfo)}
	if err := mad.Decode(port.Info, r.Info[:]); err != nil {
		return cacheErrorf(start, "%w", err)
	}
	p.port, p.off, p.linked, p.peer = port, start, r.Linked != 0, r.Peer
	p.node.Ports[r.Key.Number] = port
	return nil
}

// link joins link ends. In a cache that ended early, the missing records are a single error.
func (c *cacheReader) link() {
	for _, p := range c.keys {
		switch {
		case p.port == nil && !c.ended:
			c.missing++
		case p.port != nil && p.linked:
			c.reject(p.node.GUID, c.linkPort(p))
		}
	}
}

func (c *cacheReader) linkPort(p *readPort) error {
	peer := c.ports[p.peer]
	switch {
	case peer == nil:
		c.missing++
		return nil
	case peer.port == nil:
		return nil // counted by its key
	case !peer.linked || peer.peer != p.key:
		return cacheErrorf(p.off, "%v, the other end of %v, does not point back to it", p.peer, p.key)
	case p.key.Number == 0 || peer.key.Number == 0:
		return cacheErrorf(p.off, "got one to %v, want no link at a switch's port 0", p.peer)
	}
	p.port.Peer = peer.port
	return nil
}

// next decodes the record at the offset and advances the offset.
func (c *cacheReader) next(record any, what string) error {
	n, err := binary.Decode(c.data[min(c.off, len(c.data)):], binary.LittleEndian, record)
	if err != nil {
		c.ended = true
		return cacheErrorf(c.off, "%s: got %d of %d bytes", what, len(c.data)-c.off, binary.Size(record))
	}
	c.off += n
	return nil
}

// String returns the port's GUID and number.
func (k cacheKey) String() string { return fmt.Sprintf("port 0x%016x:%d", k.GUID, k.Number) }

func cacheErrorf(offset int, format string, args ...any) error {
	return &CacheError{Offset: offset, Err: fmt.Errorf(format, args...)}
}
