package counters

import (
	"errors"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A DetailSet is an attribute set with details.
type DetailSet uint8

// The attributes.
const (
	RcvErrorDetails DetailSet = 1 << iota
	XmitDiscardDetails
	FECDetails  // PortExtendedSpeedsCounters, in the layout that the link's FEC mode selects
	LaneDetails // counters by virtual lane and service level
	TickDetails // PortSamplesControl.Tick
	LinkDetails // PortInfo, for the present link state
)

// sampleDetails are the attributes within a port's sample.
const sampleDetails = ^(TickDetails | LinkDetails)

// laneAttributes are the attributes in [LaneDetails].
var laneAttributes = []mad.AttrID{
	mad.AttrPortVLXmitWaitCounters, mad.AttrPortVLOpPackets, mad.AttrPortVLOpData,
	mad.AttrPortVLXmitFlowCtlUpdateErrors, mad.AttrSwPortVLCongestion,
	mad.AttrPortXmitDataSL, mad.AttrPortRcvDataSL,
}

// readDetails requests a port's details.
func (c *Collector) readDetails(n *Node, p *Port, to umad.Target) {
	set := c.opts.Details(p)
	if set == 0 {
		return
	}
	if set&sampleDetails != 0 {
		p.Now.Details = &Details{}
	}
	if set&RcvErrorDetails != 0 {
		a := &mad.PortRcvErrorDetails{}
		c.readDetail(n, p, to, a, func(d *Details) { d.RcvErrors = a })
	}
	if set&XmitDiscardDetails != 0 {
		a := &mad.PortXmitDiscardDetails{}
		c.readDetail(n, p, to, a, func(d *Details) { d.XmitDiscards = a })
	}
	if set&LaneDetails != 0 {
		for _, id := range laneAttributes {
			if id == mad.AttrSwPortVLCongestion && !n.Node.IsSwitch() {
				continue
			}
			a := mad.ClassPM.NewAttribute(id)
			c.readDetail(n, p, to, a, func(d *Details) { d.Lanes = append(d.Lanes, a) })
		}
	}
	if set&FECDetails != 0 {
		c.readFEC(n, p, to)
	}
	if set&TickDetails != 0 && p.Tick == nil {
		a := &mad.PortSamplesControl{}
		c.readDetail(n, p, to, a, func(*Details) { p.Tick = &a.Tick })
	}
	if set&LinkDetails != 0 {
		c.readLink(n, p, to)
	}
}

// readLink queries a port's link state. Without a valid response the state is unknown.
func (c *Collector) readLink(n *Node, p *Port, to umad.Target) {
	info := &mad.PortInfo{}
	c.readSMP(p, to, info, func(err error) {
		if err != nil {
			n.Failures = append(n.Failures, Failure{p.Number, mad.AttrPortInfo, err})
		}
		p.state = &info.State
	})
}

// readSMP requests a port's subnet management attribute, and calls done with the request's
// error, unless the run ended early.
func (c *Collector) readSMP(p *Port, to umad.Target, a mad.Attribute, done func(error)) {
	c.client.SubmitGet(umad.Target{LID: to.LID}, a, func(err error) {
		if !ended(err) {
			done(err)
		}
	}, umad.Modifier(uint32(p.Number)))
}

// An optionalAttr is an attribute on the agents for a device kind, which need not have it.
type optionalAttr struct {
	vendor uint32
	device uint16
	attr   mad.AttrID
}

func optionalOf(n *Node, attr mad.AttrID) optionalAttr {
	return optionalAttr{n.Info.VendorID, n.Info.DeviceID, attr}
}

// A discarded request is a request for an optional attribute, without a reply.
type discarded struct {
	optionalAttr
	node *Node
	Failure
}

// failDiscarded adds failures for the requests without a reply for attributes that another
// agent for the same device kind has: the reply was lost.
func (c *Collector) failDiscarded() {
	for _, d := range c.discarded {
		if c.implemented[d.optionalAttr] {
			d.node.Failures = append(d.node.Failures, d.Failure)
		}
	}
	c.discarded = nil
}

// readDetail requests an attribute, and calls got unless the agent does not have it. An
// attribute that the agent does not implement is absent, and is not a failure.
func (c *Collector) readDetail(n *Node, p *Port, to umad.Target, a mad.Attribute, got func(*Details)) {
	if p.redirect != nil {
		to.Redirect = p.redirect
	}
	c.submit(to, a.Spec().ID, p.Number, n, p, func(c *Collector, q *query, r *umad.Reply) {
		kind := optionalOf(n, a.Spec().ID)
		if errors.Is(r.Err, umad.ErrTimeout) {
			c.discarded = append(c.discarded, discarded{kind, n, Failure{p.Number, a.Spec().ID, r.Err}})
		}
		if unsupported(r.Err) || !c.decodeInto(q, r, a) || q.port.Now == nil {
			return
		}
		if c.implemented == nil {
			c.implemented = map[optionalAttr]bool{}
		}
		c.implemented[kind] = true
		d := q.port.Now.Details
		if d != nil {
			d.At = q.at
		}
		got(d)
	})
}

// unsupported reports whether an agent that responds to other requests rejected a request
// because it does not have the attribute, or discarded it, as ibsim does.
func unsupported(err error) bool {
	if errors.Is(err, umad.ErrTimeout) {
		return true
	}
	var status mad.StatusError
	if !errors.As(err, &status) {
		return false
	}
	const code = mad.Status(7 << 2)
	s := mad.Status(status) & code
	return s == mad.StatusBadMethodAttr || s == mad.StatusBadMethod
}

// readFEC reads PortExtendedSpeedsCounters. Agents with RS-FEC counters have two layouts:
// PortInfoExtended selects the layout.
func (c *Collector) readFEC(n *Node, p *Port, to umad.Target) {
	if p.ActiveSpeed() < ib.FDR10 {
		return // slower links have no error correction
	}
	if p.fec == nil && n.Caps.Has(mad.PerfRSFECCounters) && p.Caps() != nil && p.Caps().CapMask2.Has(mad.Cap2PortInfoExtended) {
		c.queryFECMode(n, p, to)
		return
	}
	if p.fec != nil && p.fec.HasRSFEC() {
		a := &mad.PortRSFECCounters{}
		c.readDetail(n, p, to, a, func(d *Details) { d.RSFEC = a })
		return
	}
	a := &mad.PortExtendedSpeedsCounters{}
	c.readDetail(n, p, to, a, func(d *Details) { d.Speeds = a })
}

// queryFECMode queries the forward error correction mode, and continues with the counters.
func (c *Collector) queryFECMode(n *Node, p *Port, to umad.Target) {
	info := &mad.PortInfoExtended{}
	c.readSMP(p, to, info, func(err error) {
		if err != nil && !unsupported(err) {
			n.Failures = append(n.Failures, Failure{p.Number, mad.AttrPortInfoExtended, err})
			return
		}
		p.fec = info
		c.readFEC(n, p, to)
	})
}
