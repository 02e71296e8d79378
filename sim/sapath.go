package sim

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// pathRecords yields the paths between ports that the request identifies by GID or LID, or
// from or to all ports if it identifies a single end only. The paths follow the forwarding
// tables; there is no record without a route.
func pathRecords(q *saQuery) iter.Seq[mad.Attribute] {
	var want mad.PathRecord
	if mad.Decode(&want, q.data) != nil {
		return noRecords(q)
	}
	if !q.has(&want, &want.SL) {
		want.SL = 0
	}
	from := q.ends(q.has(&want, &want.SGID), want.SGID, q.has(&want, &want.SLID), want.SLID)
	to := q.ends(q.has(&want, &want.DGID), want.DGID, q.has(&want, &want.DLID), want.DLID)
	if len(from)*len(to) > maxPaths {
		q.refused = mad.StatusNoResources
		return noRecords(q)
	}
	return func(yield func(mad.Attribute) bool) {
		for _, a := range from {
			for _, b := range to {
				r, ok := q.fabric.path(a, b, q.pathLID(&want, b))
				if !ok {
					continue
				}
				r.SL = want.SL // all service levels are equivalent; the default is 0
				if !yield(&r) {
					return
				}
			}
		}
	}
}

// maxPaths limits the paths per request: the largest fabrics have billions.
const maxPaths = 1 << 20

// pathLID returns the destination LID: the requested LID, or the port's first LID.
func (q *saQuery) pathLID(want *mad.PathRecord, to *Port) ib.LID {
	if q.has(want, &want.DLID) {
		return want.DLID
	}
	return to.Info.LID
}

// ends returns the ports that match a path end.
func (q *saQuery) ends(byGID bool, gid ib.GID, byLID bool, lid ib.LID) []*Port {
	var ports []*Port
	for p := range q.fabric.endPorts() {
		if p.Info.LID == 0 || byGID && p.gid() != gid || byLID && !p.answersTo(lid) {
			continue
		}
		ports = append(ports, p)
	}
	return ports
}

// gid returns the port's first GID.
func (p *Port) gid() ib.GID { return ib.MakeGID(p.Info.GIDPrefix, p.GUID) }

// matchPath adapts a path to the selectors in a request: the MTU and rate of a better path are
// lowered to the requested values. Components that describe the path's use are not compared.
func matchPath(q *saQuery) (mad.ComponentMask, func(mad.Attribute) bool) {
	var want mad.PathRecord
	if mad.Decode(&want, q.data) != nil {
		return 0, func(mad.Attribute) bool { return false }
	}
	special := mad.Components(&want, &want.ServiceID, &want.SLID, &want.DLID, &want.NumbPath, &want.QoSClass, &want.Reversible,
		&want.PKey, &want.MTUSelector, &want.MTU, &want.RateSelector, &want.Rate, &want.LifeTimeSelector, &want.LifeTime)
	mtu := q.selector(&want, &want.MTUSelector, &want.MTU, want.MTUSelector)
	rate := q.selector(&want, &want.RateSelector, &want.Rate, want.RateSelector)
	lifeTime := q.limit(&want, &want.LifeTimeSelector, &want.LifeTime, want.LifeTimeSelector)
	pkey := q.has(&want, &want.PKey)
	return special, func(a mad.Attribute) bool {
		r := a.(*mad.PathRecord)
		return fit(&r.MTU, want.MTU, want.MTU-min(want.MTU, 1), cmp.Compare(r.MTU, want.MTU), mtu) &&
			fit(&r.Rate, want.Rate, want.Rate.Below(), r.Rate.Compare(want.Rate), rate) &&
			lifeTime(cmp.Compare(r.LifeTime, want.LifeTime)) && (!pkey || r.PKey.Base() == want.PKey.Base())
	}
}

// selector returns the selector for a value: exactly if the request has only the value, and
// best if the request does not have the value.
func (q *saQuery) selector(record mad.Attribute, selector, value any, s mad.Selector) mad.Selector {
	switch {
	case !q.has(record, value):
		return mad.SelectBest
	case !q.has(record, selector):
		return mad.SelectExactly
	}
	return s
}

// fit lowers a path's value to want, or to below if the value must be less. It reports
// false if the value is too low. order is the result of comparing the value to want.
func fit[T ib.MTU | ib.Rate](has *T, want, below T, order int, s mad.Selector) bool {
	switch s {
	case mad.SelectGreater:
		return order > 0
	case mad.SelectLess:
		if order >= 0 {
			*has = below
		}
		return *has != 0
	case mad.SelectExactly:
		if order > 0 {
			*has = want
		}
		return order >= 0
	}
	return true
}

// limit returns the condition that a selector in the request sets on a comparison.
func (q *saQuery) limit(record mad.Attribute, selector, value any, s mad.Selector) func(order int) bool {
	switch q.selector(record, selector, value, s) {
	case mad.SelectExactly:
		return func(order int) bool { return order == 0 }
	case mad.SelectGreater:
		return func(order int) bool { return order > 0 }
	case mad.SelectLess:
		return func(order int) bool { return order < 0 }
	}
	return func(int) bool { return true }
}

// pathLifeTime is opensm's default packet lifetime: 4.096 µs << 18, about a second.
const pathLifeTime = 18

// path returns the path from a port to another port's LID, with the lowest MTU and rate on
// the path. It reports false if there is no route.
func (f *Fabric) path(from, to *Port, lid ib.LID) (r mad.PathRecord, ok bool) {
	pkey, ok := commonPKey(from, to)
	if !ok {
		return r, false
	}
	r = mad.PathRecord{
		SGID: from.gid(), DGID: to.gid(), SLID: from.Info.LID, DLID: lid, Reversible: 1, PKey: pkey,
		MTUSelector: mad.SelectExactly, MTU: from.mtu(),
		RateSelector: mad.SelectExactly, Rate: from.rate(),
		LifeTimeSelector: mad.SelectExactly, LifeTime: pathLifeTime,
	}
	if from == to {
		r.LifeTime, r.Rate = 0, linkRate(&from.Info, from.Ext)
		return r, true
	}
	end, ok := f.routeLID(from, lid, false)
	if !ok || end.node.managed(end.entry) != to {
		return r, false
	}
	d, exit := destination{node: from.Node}, from.Number
	for range end.hops {
		if d.node.IsSwitch() {
			exit = d.node.LFT[lid]
		}
		p := &d.node.Ports[exit]
		r.MTU = min(r.MTU, p.mtu())
		if rate := p.rate(); r.Rate == 0 || rate.Compare(r.Rate) < 0 {
			r.Rate = rate
		}
		d.leave(exit)
	}
	return r, true
}

// mtu returns a port's MTU. Switch port 0 has the maximum MTU that the port supports.
func (p *Port) mtu() ib.MTU {
	if p.Peer == nil {
		return p.Info.MTUCap
	}
	return p.Info.NeighborMTU
}

// rate returns a port's link rate, 0 for switch port 0.
func (p *Port) rate() ib.Rate {
	if p.Peer == nil {
		return 0
	}
	return linkRate(&p.Info, p.Ext)
}

func linkRate(i *mad.PortInfo, ext *mad.MlnxExtPortInfo) ib.Rate {
	return ib.RateOf(i.LinkWidthActive, i.ActiveSpeed(i, ext))
}

// commonPKey returns the first P_Key that lets two ports communicate.
func commonPKey(a, b *Port) (mad.PKey, bool) {
	for _, k := range a.PKeys {
		if k.Base() != 0 && slices.ContainsFunc(b.PKeys, func(other mad.PKey) bool {
			return other.Base() == k.Base() && (k.Full() || other.Full())
		}) {
			return k, true
		}
	}
	return 0, false
}
