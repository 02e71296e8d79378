package route

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// ReadOptions are the [Read] options. The zero value reads the unicast tables.
type ReadOptions struct {
	// Multicast reads the multicast forwarding tables, too.
	Multicast bool

	// LIDs limits the read to the blocks for some LIDs, unicast or multicast; nil: all
	// blocks.
	LIDs []ib.LID

	// Switches limits the read to some switches' tables; nil: all.
	Switches []*Node

	// Progress, if not nil, is called during the read with the count of blocks that
	// were read and the count of queued blocks, by the goroutine that called Read.
	Progress func(read, waiting int)
}

// Read reads the forwarding tables of r's switches by their directed routes. All switches
// are read at the same time. Blocks without a valid response are added to r.Failures; a
// switch without a response to its first and last block costs two requests.
//
// A switch is read again if its SwitchInfo changed during the read, and added to
// r.Changing if it still changes after three reads. Read returns an error if ctx ends
// or the local port fails. The client must not be used by another goroutine.
func Read(ctx context.Context, c *umad.Client, r *Routing, o ReadOptions) (err error) {
	t := &tableReader{client: c, routing: r, opts: o}
	r.Changing, err = t.readAll(ctx, o.switches(r))
	return err
}

// switches returns the switches with tables that are read.
func (o *ReadOptions) switches(r *Routing) []*Node {
	if o.Switches != nil {
		return o.Switches
	}
	return r.Switches()
}

// maxReads limits how many times a changing switch is read.
const maxReads = 3

// readAll reads switches' tables, and again the tables of switches with a SwitchInfo
// that changed meanwhile. It returns the switches that still change.
func (t *tableReader) readAll(ctx context.Context, nodes []*Node) (changing []*Node, err error) {
	for range maxReads {
		if err := t.read(ctx, nodes); err != nil {
			return nil, err
		}
		if nodes, err = t.changed(ctx, nodes); err != nil || len(nodes) == 0 {
			return nil, err
		}
	}
	return nodes, nil
}

// Switches returns the switches with tables.
func (r *Routing) Switches() []*Node {
	var switches []*Node
	for _, n := range r.Nodes {
		if n.Tables != nil {
			switches = append(switches, n)
		}
	}
	return switches
}

// A tableReader reads tables. Only the goroutine that runs the client uses it.
type tableReader struct {
	client  *umad.Client
	routing *Routing
	opts    ReadOptions

	queue            []blocks // switches with blocks that were not queried yet
	free             []*blockQuery
	answered, queued int
}

// blocks are a table's blocks that are still to be queried.
type blocks struct {
	node *Node
	attr mad.AttrID
	next uint32
	end  uint32 // block count
}

// A blockQuery is a block's request.
type blockQuery struct {
	req    umad.Request
	reader *tableReader
	node   *Node
	probe  *probe // nil: an ordinary query
}

// A probe is the first requests to a switch: its first and last block. If both time
// out, the switch is assumed to be silent, and its other blocks are not queried.
type probe struct {
	waiting  int
	answered bool
}

// maxQueued limits the waiting request count. It is well above any window.
const maxQueued = 1024

// read reads switches' tables.
func (t *tableReader) read(ctx context.Context, nodes []*Node) error {
	for _, n := range nodes {
		n.Tables.Missing, n.Tables.MFT = nil, nil
		n.Tables.LFT = make([]uint8, (int(min(n.Tables.Top, ib.MaxUnicastLID))/lftBlock+1)*lftBlock)
		for i := range n.Tables.LFT {
			n.Tables.LFT[i] = NoRoute
		}
		if t.opts.LIDs == nil {
			p := &probe{waiting: 1}
			if last := uint32(len(n.Tables.LFT)/lftBlock - 1); last > 0 {
				p.waiting++
				t.submit(n, mad.AttrLinearForwardingTable, last, p)
			}
			t.submit(n, mad.AttrLinearForwardingTable, 0, p)
			continue
		}
		for _, block := range t.wanted(lftBlock, 0, ib.MaxUnicastLID) {
			if int(block)*lftBlock < len(n.Tables.LFT) {
				t.submit(n, mad.AttrLinearForwardingTable, block, nil)
			}
		}
		groups := n.multicastGroups()
		for _, block := range t.wanted(mftBlock, ib.MinMulticastLID, ib.MaxMulticastLID) {
			for group := block * groups; group < min((block+1)*groups, n.multicastBlocks()); group++ {
				t.submit(n, mad.AttrMulticastForwardingTable, n.multicastModifier(group), nil)
			}
		}
	}
	t.fill()
	if err := t.client.Run(ctx); err != nil {
		return fmt.Errorf("read forwarding tables: %w", err)
	}
	return nil
}

// wanted returns the blocks for the options' LIDs from first to last, which have size LIDs
// each.
func (t *tableReader) wanted(size uint32, first, last ib.LID) []uint32 {
	var blocks []uint32
	for _, lid := range t.opts.LIDs {
		if lid < first || lid > last {
			continue
		}
		if block := uint32(lid-first) / size; !slices.Contains(blocks, block) {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// submit queries a block.
func (t *tableReader) submit(n *Node, attr mad.AttrID, modifier uint32, p *probe) {
	var q *blockQuery
	if last := len(t.free) - 1; last >= 0 {
		q, t.free = t.free[last], t.free[:last]
	} else {
		q = &blockQuery{reader: t}
		q.req.Done = q.done
	}
	q.req.To, q.req.Attr, q.req.Modifier, q.node = umad.Target{Route: n.Route}, attr, modifier, n
	q.probe = p
	t.queued++
	t.client.Submit(&q.req)
}

// fill queries more blocks if few requests wait.
func (t *tableReader) fill() {
	for t.queued < maxQueued && len(t.queue) > 0 {
		b := &t.queue[0]
		if b.next == b.end {
			t.queue = t.queue[1:]
			continue
		}
		modifier := b.next
		if b.attr == mad.AttrMulticastForwardingTable {
			modifier = b.node.multicastModifier(b.next)
		}
		b.next++
		t.submit(b.node, b.attr, modifier, nil)
	}
}

func (q *blockQuery) done(_ *umad.Request, reply *umad.Reply) {
	t := q.reader
	t.queued--
	t.answered++
	if errors.Is(reply.Err, umad.ErrDeviceRemoved) || errors.Is(reply.Err, context.Canceled) || errors.Is(reply.Err, context.DeadlineExceeded) {
		t.queue = nil // Run returns the reason
	} else {
		t.store(q, reply)
	}
	if t.opts.Progress != nil && t.answered%256 == 0 {
		t.opts.Progress(t.answered, t.queued)
	}
	t.free = append(t.free, q)
	t.fill()
}

// store enters a block into its table.
func (t *tableReader) store(q *blockQuery, reply *umad.Reply) {
	n, block := q.node, q.req.Modifier
	err := reply.Err
	if err == nil {
		switch q.req.Attr {
		case mad.AttrLinearForwardingTable:
			var table mad.LinearForwardingTable
			if err = reply.MAD.Decode(&table); err == nil {
				copy(n.Tables.LFT[block*lftBlock:], table.Ports[:])
			}
		default:
			var table mad.MulticastForwardingTable
			if err = reply.MAD.Decode(&table); err == nil {
				n.storeMulticast(block, &table)
			}
		}
	}
	if err != nil {
		t.fail(q, err)
	}
	if p := q.probe; p != nil {
		p.answered = p.answered || !errors.Is(err, umad.ErrTimeout)
		if p.waiting--; p.waiting == 0 {
			t.probed(n, p.answered)
		}
	}
}

// probed queues a switch's other blocks.
func (t *tableReader) probed(n *Node, answered bool) {
	last := uint32(len(n.Tables.LFT)/lftBlock - 1)
	if !answered {
		for b := uint32(1); b < last; b++ {
			n.Tables.Missing = append(n.Tables.Missing, uint16(b))
		}
		return
	}
	if last > 1 {
		t.queue = append(t.queue, blocks{node: n, attr: mad.AttrLinearForwardingTable, next: 1, end: last})
	}
	if count := n.multicastBlocks(); t.opts.Multicast && count > 0 {
		t.queue = append(t.queue, blocks{node: n, attr: mad.AttrMulticastForwardingTable, end: count})
	}
}

func (t *tableReader) fail(q *blockQuery, err error) {
	t.routing.Failures = append(t.routing.Failures, Failure{Node: q.node, Attr: q.req.Attr.String(), Modifier: q.req.Modifier, Err: err})
	if q.req.Attr == mad.AttrLinearForwardingTable {
		q.node.Tables.Missing = append(q.node.Tables.Missing, uint16(q.req.Modifier))
	}
}

// changed reads SwitchInfo again and returns the switches with a SwitchInfo that
// differs from before their tables were read.
func (t *tableReader) changed(ctx context.Context, nodes []*Node) ([]*Node, error) {
	var changed []*Node
	for _, n := range nodes {
		if len(n.Tables.Missing) > 0 {
			continue
		}
		var info mad.SwitchInfo
		t.client.SubmitGet(umad.Target{Route: n.Route}, &info, func(err error) {
			if err != nil {
				return // its tables have been read
			}
			if info.LinearFDBTop != n.Tables.Top || info.MulticastFDBTop != n.Tables.MulticastTop {
				n.Tables.Top, n.Tables.MulticastTop = info.LinearFDBTop, info.MulticastFDBTop
				changed = append(changed, n)
			}
		})
	}
	if err := t.client.Run(ctx); err != nil {
		return nil, fmt.Errorf("read forwarding tables: %w", err)
	}
	return changed, nil
}
