package counters

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// maxRedirects bounds the redirections of one request.
const maxRedirects = 2

// defaultPKey is the base of the default partition key, which has index 0.
const defaultPKey = 0x7fff

// redirects reports whether a ClassPortInfo has an address to which requests must be
// sent (InfiniBand Architecture, Volume 1, 13.5.2).
func redirects(i *mad.ClassPortInfo) bool {
	return i.RedirectQP != 0 && (i.RedirectLID != 0 || i.RedirectGID != [16]uint8{})
}

// A redirected request waits for the LID of a GID, or the index of a partition key.
type redirected struct {
	query *query
	info  mad.ClassPortInfo
}

// follow sends a request again to the address in a ClassPortInfo. Later requests to the
// same agent use that address from the beginning.
func (c *Collector) follow(q *query, i *mad.ClassPortInfo) {
	q.waits = true
	q.tries++
	if i.RedirectLID == 0 || i.RedirectPKey != 0 && i.RedirectPKey.Base() != defaultPKey {
		c.redirected = append(c.redirected, redirected{q, *i})
		return
	}
	c.resend(q, redirectAddr(i))
}

// redirectAddr returns the address in a ClassPortInfo.
func redirectAddr(i *mad.ClassPortInfo) *umad.Addr {
	to := &umad.Addr{LID: i.RedirectLID, QPN: i.RedirectQP, QKey: i.RedirectQKey, SL: i.RedirectSL}
	if to.QKey == 0 {
		to.QKey = umad.QP1QKey
	}
	if i.RedirectGID != [16]uint8{} {
		to.GRH = &umad.GRH{
			HopLimit: 255, TrafficClass: i.RedirectTrafficClass, FlowLabel: i.RedirectFlowLabel,
			DGID: ib.GID(i.RedirectGID),
		}
	}
	return to
}

// resend submits a request to the address of a redirection.
func (c *Collector) resend(q *query, to *umad.Addr) {
	if q.port == nil || q.node.hasOneAgent() {
		q.node.redirect = to
	} else {
		q.port.redirect = to
	}
	q.req.To.Redirect = to
	c.client.Submit(&q.req)
}

// resolveRedirected completes the addresses of redirected requests and submits these.
// It reports whether there were any. The client must not be running.
func (c *Collector) resolveRedirected(ctx context.Context) bool {
	waiting := c.redirected
	c.redirected = nil
	for i := range waiting {
		w := &waiting[i]
		to, err := c.redirectTarget(ctx, &w.info)
		if err == nil {
			c.resend(w.query, to)
			continue
		}
		q := w.query
		q.node.Failures = append(q.node.Failures, Failure{q.number, q.req.Attr, fmt.Errorf("follow redirection: %w", err)})
		q.waits = false
		c.waiting--
		if q.port != nil {
			q.port.failed = true
			c.arrived(q)
		}
		c.pump()
	}
	return len(waiting) > 0
}

// redirectTarget returns the address of a redirection, with its LID and the index of its
// partition key.
func (c *Collector) redirectTarget(ctx context.Context, i *mad.ClassPortInfo) (*umad.Addr, error) {
	to := redirectAddr(i)
	if to.LID == 0 {
		path, err := c.client.Path(ctx, to.GRH.DGID, 0)
		if err != nil {
			return nil, err
		}
		to.LID, to.SL = path.DLID, path.SL
	}
	if i.RedirectPKey == 0 || i.RedirectPKey.Base() == defaultPKey {
		return to, nil
	}
	if err := c.readPKeys(ctx); err != nil {
		return nil, err
	}
	for index, k := range c.pkeys {
		if k.Base() == i.RedirectPKey.Base() {
			to.PKeyIndex = uint16(index)
			return to, nil
		}
	}
	return nil, fmt.Errorf("the local port does not have P_Key %v", i.RedirectPKey)
}

// readPKeys reads the partition table of the local port once.
func (c *Collector) readPKeys(ctx context.Context) error {
	if c.pkeys != nil {
		return nil
	}
	var node mad.NodeInfo
	if err := c.local(ctx, &node, 0); err != nil {
		return err
	}
	var table mad.PKeyTable
	for block := range (int(node.PartitionCap) + len(table.PKeys) - 1) / len(table.PKeys) {
		if err := c.local(ctx, &table, uint32(block)); err != nil {
			return err
		}
		c.pkeys = append(c.pkeys, table.PKeys[:]...)
	}
	return nil
}

// local reads an attribute of subnet management of the local port.
func (c *Collector) local(ctx context.Context, a mad.Attribute, modifier uint32) error {
	r, err := c.client.Call(ctx, &umad.Request{Attr: a.ID(), Modifier: modifier})
	if err != nil {
		return err
	}
	return mad.Decode(a, r.Data())
}
