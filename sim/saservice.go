package sim

import (
	"iter"

	"github.com/ibkit/ibkit/mad"
)

// maxKept limits the number of services, and separately the number of subscriptions.
const maxKept = 1 << 16

func serviceRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		for _, s := range q.fabric.admin.services {
			if !yield(s) {
				return
			}
		}
	}
}

// setService registers a service, or replaces the service with the same ID, GID and key
// (15.2.5.14.1). Leases do not expire.
func setService(q *saQuery) (mad.Attribute, mad.Status) {
	r := new(mad.ServiceRecord)
	if mad.Decode(r, q.data) != nil || !q.has(r, &r.ServiceID, &r.GID) {
		return nil, mad.StatusInsufficientComponents
	}
	a := &q.fabric.admin
	if i := a.service(r); i >= 0 {
		a.services[i] = r
		return r, 0
	}
	if len(a.services) == maxKept {
		return nil, mad.StatusNoResources
	}
	a.services = append(a.services, r)
	return r, 0
}

func removeService(q *saQuery) (mad.Attribute, mad.Status) {
	var r mad.ServiceRecord
	if mad.Decode(&r, q.data) != nil || !q.has(&r, &r.ServiceID, &r.GID) {
		return nil, mad.StatusInsufficientComponents
	}
	a := &q.fabric.admin
	i := a.service(&r)
	if i < 0 {
		return nil, mad.StatusNoRecords
	}
	old := a.services[i]
	a.services = append(a.services[:i], a.services[i+1:]...)
	return old, 0
}

// service returns a service's index, -1 if it is not registered.
func (a *administration) service(r *mad.ServiceRecord) int {
	for i, s := range a.services {
		if s.ServiceID == r.ServiceID && s.GID == r.GID && s.PKey == r.PKey {
			return i
		}
	}
	return -1
}

func informInfoRecords(q *saQuery) iter.Seq[mad.Attribute] {
	return func(yield func(mad.Attribute) bool) {
		for _, s := range q.fabric.admin.subscriptions {
			if !yield(s) {
				return
			}
		}
	}
}

// subscribe stores or removes a subscription to notices.
func subscribe(q *saQuery) (mad.Attribute, mad.Status) {
	r := &mad.InformInfoRecord{SubscriberGID: q.from.Management().gid()}
	if mad.Decode(&r.InformInfo, q.data) != nil {
		return nil, mad.StatusInvalidRequest
	}
	answer := r.InformInfo
	a := &q.fabric.admin
	var next uint16
	for i, s := range a.subscriptions {
		if s.SubscriberGID != r.SubscriberGID {
			continue
		}
		next = max(next, s.Enum+1)
		same := s.InformInfo
		same.Subscribe = r.InformInfo.Subscribe
		if same != r.InformInfo {
			continue
		}
		if r.InformInfo.Subscribe == 0 {
			a.subscriptions = append(a.subscriptions[:i], a.subscriptions[i+1:]...)
		}
		return &answer, 0
	}
	switch {
	case r.InformInfo.Subscribe == 0:
		return nil, mad.StatusInvalidRequest
	case len(a.subscriptions) == maxKept:
		return nil, mad.StatusNoResources
	}
	r.Enum = next
	if len(a.subscriptions) == 0 {
		a.reachable, a.stale = q.fabric.reachable(), false
	}
	a.subscriptions = append(a.subscriptions, r)
	return &answer, 0
}
