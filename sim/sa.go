package sim

import (
	"slices"

	"github.com/ibkit/ibkit/mad"
)

// An administration is what subnet administration keeps beside the fabric
// itself.
type administration struct {
	services      []*mad.ServiceRecord
	groups        []*group
	subscriptions []*mad.InformInfoRecord
	transfers     []*transfer // answers under way, the oldest first
}

// saQuery is a request to subnet administration.
type saQuery struct {
	fabric   *Fabric
	from     *Port
	trusted  bool
	method   mad.Method
	modifier uint32
	mask     mad.ComponentMask
	data     []byte // the record in the request

	refused mad.Status // why there are no records of a kind, where that is not for want of any
}

// has reports whether all of some fields of the request's record count. They are
// named by pointers into record.
func (q *saQuery) has(record mad.Attribute, fields ...any) bool {
	return q.mask.Has(mad.Components(record, fields...))
}

// saClassVersion is that of subnet administration since release 1.1 of the
// specification.
const saClassVersion = 2

// trustedKey is the SM_Key of requesters that are shown more: partition and
// management keys and who is in a multicast group (15.4.1). It is opensm's
// default.
const trustedKey = 1

// responseBit makes a method that of its response.
const responseBit = mad.MethodGetResp &^ mad.MethodGet

// administer is subnet administration (InfiniBand Architecture, Volume 1,
// chapter 15), which is where the fabric's own subnet manager is: it makes a
// request into its reply. It reports false where it does not answer.
func (f *Fabric) administer(d destination, p *mad.Packet) bool {
	method := p.Method()
	switch {
	case f.master == nil || d.node.managed(d.entry) != f.master:
		return false
	case p.RMPP().Flags.Has(mad.RMPPActive):
		return f.proceed(d, p)
	case method.IsResponse():
		return false
	}
	h := p.SA()
	q := &saQuery{
		fabric: f, from: d.from, trusted: h.SMKey == trustedKey,
		method: method, modifier: p.Modifier(), mask: h.ComponentMask, data: slices.Clone(p.Data()),
	}
	records, status := recordList{}, mad.StatusBadVersion
	if p.Header().ClassVersion == saClassVersion {
		records, status = q.answer(p.Attr())
	}
	if method == mad.MethodSet {
		method = mad.MethodGet
	}
	p[offMethod] = byte(method | responseBit)
	p.SetSA(mad.SAHeader{ComponentMask: h.ComponentMask, AttributeOffset: records.offset()})
	p.SetStatus(status)
	clear(p.Data())
	switch {
	case status != 0:
	case method != mad.MethodGetTable:
		copy(p.Data(), records.data)
	case f.NoRMPP:
		// As opensm behind libumad2sim: what one packet has room for, and no
		// version or type. The length is that of all.
		header := mad.RMPPPayloadSize - mad.SADataSize
		copy(p.Data(), records.data)
		p.SetRMPP(mad.RMPP{Flags: mad.RMPPActive, Length: uint32(header + len(records.data))})
	default:
		f.transmit(d, p, records.data)
	}
	return true
}

// answer does what a request asks for, and returns the records of the answer.
func (q *saQuery) answer(id mad.AttrID) (recordList, mad.Status) {
	if id == mad.AttrClassPortInfo {
		return q.classPortInfo()
	}
	kind, ok := saKinds[id]
	if !ok {
		return recordList{}, mad.StatusBadMethodAttr
	}
	var change func(*saQuery) (mad.Attribute, mad.Status)
	switch q.method {
	case mad.MethodGet, mad.MethodGetTable:
		if kind.records == nil {
			return recordList{}, mad.StatusBadMethodAttr
		}
		return q.find(id, kind)
	case mad.MethodSet:
		change = kind.set
	case mad.MethodDelete:
		change = kind.remove
	default:
		return recordList{}, mad.StatusBadMethod
	}
	if change == nil {
		return recordList{}, mad.StatusBadMethodAttr
	}
	record, status := change(q)
	var list recordList
	if status == 0 {
		status = list.add(record)
	}
	return list, status
}

// What subnet administration can do beside the least that it must: multicast,
// and to match some bits of a PortInfoRecord's CapMask (15.2.5.1).
const (
	saCapMulticast = 1 << 9
	saCapMatch     = 1 << 13
)

func (q *saQuery) classPortInfo() (list recordList, _ mad.Status) {
	if q.method != mad.MethodGet {
		return list, mad.StatusBadMethodAttr
	}
	return list, list.add(&mad.ClassPortInfo{
		BaseVersion: 1, ClassVersion: saClassVersion, CapMask: saCapMulticast | saCapMatch,
		RespTimeValue: 16, RedirectQP: 1, RedirectQKey: qp1QKey, TrapQKey: qp1QKey,
	})
}

// qp1QKey is the well-known queue key of queue pair 1 (3.5.3).
const qp1QKey = 0x80010000
