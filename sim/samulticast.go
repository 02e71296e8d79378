package sim

import (
	"cmp"
	"iter"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A group is a multicast group. Its packets are not simulated.
type group struct {
	common  mad.MCMemberRecord
	members []mad.MCMemberRecord
	fixed   bool // exists without members
	routed  bool // the forwarding tables are up to date
}

// broadcast returns the group that IP over InfiniBand needs. opensm creates it for the
// default partition.
func broadcast() *group {
	return &group{fixed: true, common: mad.MCMemberRecord{
		MGID: ib.GID{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 12: 0xff, 13: 0xff, 14: 0xff, 15: 0xff},
		QKey: 0xb1b, MLID: firstMLID, MTUSelector: mad.SelectExactly, MTU: ib.MTU2048,
		PKey: defaultPKey, RateSelector: mad.SelectExactly, Rate: rate10,
		LifeTimeSelector: mad.SelectExactly, LifeTime: pathLifeTime, Scope: 2,
	}}
}

const (
	firstMLID, lastMLID         = 0xc000, 0xfffe
	rate10              ib.Rate = 3 // 10 Gb/s
)

// multicast returns the groups.
func (f *Fabric) multicast() []*group {
	if f.admin.groups == nil {
		f.admin.groups = []*group{broadcast()}
	}
	return f.admin.groups
}

// memberRecords yields the group members. Groups without members, and all groups for
// requesters that are not trusted, have a single record without a port (15.4.1.2), except in
// a request for a port, which opensm answers (osm_sa_mcmember_record.c, mcmr_by_comp_mask).
func memberRecords(q *saQuery) iter.Seq[mad.Attribute] {
	var any mad.MCMemberRecord
	each := q.trusted || q.has(&any, &any.PortGID)
	return func(yield func(mad.Attribute) bool) {
		for _, g := range q.fabric.multicast() {
			r := g.common
			for i := range g.members {
				r.JoinState |= g.members[i].JoinState
				if each && !yield(&g.members[i]) {
					return
				}
			}
			if each && len(g.members) > 0 {
				continue
			}
			if !yield(&r) {
				return
			}
		}
	}
}

// matchMember compares values by their selectors.
func matchMember(q *saQuery) (mad.ComponentMask, func(mad.Attribute) bool) {
	var want mad.MCMemberRecord
	if mad.Decode(&want, q.data) != nil {
		return 0, func(mad.Attribute) bool { return false }
	}
	special := mad.Components(&want, &want.MTUSelector, &want.MTU, &want.RateSelector, &want.Rate,
		&want.LifeTimeSelector, &want.LifeTime)
	mtu := q.limit(&want, &want.MTUSelector, &want.MTU, want.MTUSelector)
	rate := q.limit(&want, &want.RateSelector, &want.Rate, want.RateSelector)
	lifeTime := q.limit(&want, &want.LifeTimeSelector, &want.LifeTime, want.LifeTimeSelector)
	return special, func(a mad.Attribute) bool {
		r := a.(*mad.MCMemberRecord)
		return mtu(cmp.Compare(r.MTU, want.MTU)) && rate(r.Rate.Compare(want.Rate)) &&
			lifeTime(cmp.Compare(r.LifeTime, want.LifeTime))
	}
}

// join adds a port to a group or adds join states to a member. A missing group is created
// from the request (15.2.5.17.2).
func join(q *saQuery) (mad.Attribute, mad.Status) {
	r, status := q.member()
	if status != 0 {
		return nil, status
	}
	f := q.fabric
	if _, known := f.portByGID(r.PortGID); !known {
		return nil, mad.StatusInvalidGID
	}
	g := f.group(r.MGID)
	if g == nil {
		if !q.has(&r, &r.QKey, &r.PKey, &r.SL, &r.FlowLabel, &r.TrafficClass) {
			return nil, mad.StatusInsufficientComponents
		}
		mlid := f.freeMLID()
		if mlid == 0 {
			return nil, mad.StatusNoResources
		}
		common := r
		common.PortGID, common.JoinState, common.MLID = ib.GID{}, 0, mlid
		common.MTUSelector, common.RateSelector, common.LifeTimeSelector = mad.SelectExactly, mad.SelectExactly, mad.SelectExactly
		common.MTU = cmp.Or(common.MTU, ib.MTU2048)
		common.Rate = cmp.Or(common.Rate, rate10)
		common.LifeTime = cmp.Or(common.LifeTime, pathLifeTime)
		g = &group{common: common}
		f.admin.groups = append(f.multicast(), g)
		f.reportOwn(mad.TrapGroupCreated, r.MGID)
	}
	i := g.member(r.PortGID)
	if i < 0 {
		m := g.common
		m.PortGID = r.PortGID
		g.members = append(g.members, m)
		i = len(g.members) - 1
	}
	g.members[i].JoinState |= r.JoinState
	g.routed = false
	answer := g.members[i]
	return &answer, 0
}

// leave removes join states from a member. A group is deleted with its last member.
func leave(q *saQuery) (mad.Attribute, mad.Status) {
	r, status := q.member()
	if status != 0 {
		return nil, status
	}
	f := q.fabric
	g := f.group(r.MGID)
	if g == nil {
		return nil, mad.StatusInvalidRequest
	}
	i := g.member(r.PortGID)
	if i < 0 || g.members[i].JoinState&r.JoinState == 0 {
		return nil, mad.StatusInvalidRequest
	}
	m := &g.members[i]
	answer := *m
	answer.JoinState = m.JoinState & r.JoinState
	if m.JoinState &^= r.JoinState; m.JoinState == 0 {
		g.members = slices.Delete(g.members, i, i+1)
		g.routed = false
	}
	if len(g.members) == 0 && !g.fixed {
		f.unroute(g)
		f.admin.groups = slices.DeleteFunc(f.admin.groups, func(other *group) bool { return other == g })
		f.reportOwn(mad.TrapGroupDeleted, r.MGID)
	}
	return &answer, 0
}

// member decodes a request that changes a membership.
func (q *saQuery) member() (r mad.MCMemberRecord, _ mad.Status) {
	if mad.Decode(&r, q.data) != nil || !q.has(&r, &r.MGID, &r.PortGID, &r.JoinState) {
		return r, mad.StatusInsufficientComponents
	}
	if !r.MGID.IsMulticast() || r.JoinState == 0 {
		return r, mad.StatusInvalidRequest
	}
	return r, 0
}

// portByGID returns the port that has a GID.
func (f *Fabric) portByGID(gid ib.GID) (*Port, bool) {
	for p := range f.endPorts() {
		if p.gid() == gid {
			return p, true
		}
	}
	return nil, false
}

// group returns the group with a GID, nil for an unknown GID.
func (f *Fabric) group(mgid ib.GID) *group {
	for _, g := range f.multicast() {
		if g.common.MGID == mgid {
			return g
		}
	}
	return nil
}

// member returns a member's index, -1 if the port is not a member.
func (g *group) member(port ib.GID) int {
	return slices.IndexFunc(g.members, func(m mad.MCMemberRecord) bool { return m.PortGID == port })
}

// freeMLID returns the first unused multicast LID, 0 if all are used.
func (f *Fabric) freeMLID() ib.LID {
	taken := map[ib.LID]bool{}
	for _, g := range f.multicast() {
		taken[g.common.MLID] = true
	}
	for mlid := ib.LID(firstMLID); mlid <= lastMLID; mlid++ {
		if !taken[mlid] {
			return mlid
		}
	}
	return 0
}
