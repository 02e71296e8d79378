package route

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Members are the ports that have joined a multicast LID's groups, according to subnet
// administration.
type Members struct {
	Receivers []*Port // the group's packets must reach them
	Senders   []*Port // that only send

	// Unknown counts the members that are not ports in the routing.
	Unknown int
}

// CountMembers returns the member count across all groups.
func (r *Routing) CountMembers() int {
	n := 0
	for _, m := range r.Members {
		n += m.Count()
	}
	return n
}

// Count returns the member count.
func (m *Members) Count() int { return len(m.Receivers) + len(m.Senders) + m.Unknown }

// equal reports whether two groups have the same members in the same order.
func (m *Members) equal(o *Members) bool {
	return slices.Equal(m.Receivers, o.Receivers) && slices.Equal(m.Senders, o.Senders) && m.Unknown == o.Unknown
}

// The reasons why the members are unknown although subnet administration responded.
var (
	errUntrusted = errors.New("subnet administration returns them to requests with its SM_Key only")
	errWrongKey  = errors.New("subnet administration does not accept the SM_Key")
	errClipped   = errors.New("the transport does not support replies of several packets")
)

// readMembers requests all multicast groups' members from subnet administration, and reports
// whether they changed. If they are unknown, the reason is the routing's NoMembers.
func (s *session) readMembers(ctx context.Context) (changed bool, err error) {
	r := s.routing
	before := r.Members
	r.Members, r.NoMembers = nil, nil
	to, err := s.manager()
	if err == nil {
		r.Members, err = s.members(ctx, to)
	}
	r.NoMembers = err
	if err := ctx.Err(); err != nil || errors.Is(r.NoMembers, umad.ErrDeviceRemoved) {
		return false, errors.Join(err, r.NoMembers)
	}
	return !maps.EqualFunc(before, r.Members, (*Members).equal), nil
}

// members returns the members by multicast LID. Untrusted requests get records without
// ports (InfiniBand Architecture, Volume 1, 15.4.1.2).
func (s *session) members(ctx context.Context, to umad.Target) (map[ib.LID]*Members, error) {
	table, err := s.client.GetTable(ctx, &umad.TableRequest{To: to, Match: &mad.MCMemberRecord{}, SMKey: s.opts.SMKey})
	switch {
	case errors.Is(err, mad.ErrNoRecords):
		return map[ib.LID]*Members{}, nil
	case err != nil:
		return nil, err
	case table.Clipped:
		return nil, errClipped
	}
	records, err := umad.Records[mad.MCMemberRecord](table)
	if err != nil {
		return nil, err
	}
	ports := s.routing.portsByGUID()
	byLID := map[ib.LID]*joins{}
	for i := range records {
		m := &records[i]
		if m.PortGID == (ib.GID{}) {
			switch {
			case s.opts.SMKey == 0:
				return nil, errUntrusted
			case m.JoinState != 0:
				return nil, errWrongKey
			}
			continue // a group without members
		}
		if byLID[m.MLID] == nil {
			byLID[m.MLID] = &joins{state: map[*Port]mad.JoinState{}}
		}
		byLID[m.MLID].add(ports[m.PortGID.GUID()], m.JoinState)
	}
	all := make(map[ib.LID]*Members, len(byLID))
	for lid, j := range byLID {
		all[lid] = j.members()
	}
	return all, nil
}

// joins are a multicast LID's records. A port can be a member in several groups with the
// LID.
type joins struct {
	ports   []*Port
	state   map[*Port]mad.JoinState
	unknown int
}

// add adds a record; p is nil if the routing does not have its port.
func (j *joins) add(p *Port, state mad.JoinState) {
	if p == nil {
		j.unknown++
		return
	}
	if j.state[p] == 0 {
		j.ports = append(j.ports, p)
	}
	j.state[p] |= state
}

func (j *joins) members() *Members {
	m := &Members{Unknown: j.unknown}
	for _, p := range j.ports {
		if j.state[p]&(mad.JoinFull|mad.JoinNonMember) != 0 {
			m.Receivers = append(m.Receivers, p)
		} else {
			m.Senders = append(m.Senders, p)
		}
	}
	return m
}

// portsByGUID returns the ports with a LID by GUID, if there are several, the first.
func (r *Routing) portsByGUID() map[ib.GUID]*Port {
	ports := map[ib.GUID]*Port{}
	for _, n := range r.Nodes {
		for i := range n.Ports {
			if p := &n.Ports[i]; p.LID != 0 && p.GUID != 0 && ports[p.GUID] == nil {
				ports[p.GUID] = p
			}
		}
	}
	return ports
}
