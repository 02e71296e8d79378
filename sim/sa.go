package sim

import (
	"slices"

	"github.com/ibkit/ibkit/mad"
)

// An administration is the subnet administration state.
type administration struct {
	services      []*mad.ServiceRecord
	groups        []*group
	subscriptions []*mad.InformInfoRecord
	reports       []Notification // to subscribers, not sent yet
	reportID      uint32         // last report's transaction ID
	stale         bool           // reachable may have changed
	reachable     map[*Port]bool // since the first subscription
	transfers     []*transfer    // replies in progress, the oldest first
	activity      uint32         // SMInfo count: replies and table writes
	disabled      map[*Port]bool // with a subnet manager in the state NotActive
}

// An saQuery is a request to subnet administration.
type saQuery struct {
	fabric   *Fabric
	from     *Port
	trusted  bool
	method   mad.Method
	modifier uint32
	mask     mad.ComponentMask
	data     []byte // the record in the request

	refused mad.Status // set by records that cannot answer the request
}

// has reports whether the component mask selects all the fields, which are passed as
// pointers into record.
func (q *saQuery) has(record mad.Attribute, fields ...any) bool {
	return q.mask.Has(mad.Components(record, fields...))
}

// trustedKey is the SM_Key for trusted requesters, who may read partition keys, management
// keys and multicast group members (15.4.1). It is opensm's default.
const trustedKey = 1

// responseBit turns a method into the response method.
const responseBit = mad.MethodGetResp &^ mad.MethodGet

// answerSA is subnet administration at the fabric's own subnet manager port (InfiniBand
// Architecture, Volume 1, chapter 15). It turns a request into its reply and reports
// whether there is a reply.
func (f *Fabric) answerSA(d destination, p *mad.Packet) bool {
	method := p.Method()
	switch {
	case f.master == nil || d.node.managed(d.entry) != f.master:
		return false
	case p.RMPP().Flags.Has(mad.RMPPActive):
		return f.acknowledge(d, p)
	case method.IsResponse():
		return false
	}
	h := p.SA()
	q := &saQuery{
		fabric: f, from: d.from, trusted: h.SMKey == trustedKey,
		method: method, modifier: p.Modifier(), mask: h.ComponentMask, data: slices.Clone(p.Data()),
	}
	records, status := recordList{}, mad.StatusBadVersion
	if p.Header().ClassVersion == mad.ClassSA.Version() {
		records, status = q.answer(p.Attr())
	}
	if method == mad.MethodSet {
		method = mad.MethodGet
	}
	p.SetMethod(method | responseBit)
	p.SetSA(mad.SAHeader{ComponentMask: h.ComponentMask, AttributeOffset: records.offset()})
	p.SetStatus(status)
	clear(p.Data())
	switch {
	case status != 0:
	case method != mad.MethodGetTable:
		copy(p.Data(), records.data)
	case f.NoRMPP:
		// As opensm behind libumad2sim: the data that fit a packet, without RMPP version
		// and type, but with the total data length.
		header := mad.RMPPPayloadSize - mad.SADataSize
		copy(p.Data(), records.data)
		p.SetRMPP(mad.RMPP{Flags: mad.RMPPActive, Length: uint32(header + len(records.data))})
	default:
		f.transmit(d, p, records.data)
	}
	return true
}

// answer carries out a request and returns the reply records.
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

// The optional capabilities: multicast, and single-bit comparison in a PortInfoRecord's
// CapMask (15.2.5.1).
const (
	saCapMulticast = 1 << 9
	saCapMatch     = 1 << 13
)

func (q *saQuery) classPortInfo() (list recordList, _ mad.Status) {
	if q.method != mad.MethodGet {
		return list, mad.StatusBadMethodAttr
	}
	return list, list.add(&mad.ClassPortInfo{
		BaseVersion: 1, ClassVersion: mad.ClassSA.Version(), CapMask: saCapMulticast | saCapMatch,
		RespTimeValue: 16, RedirectQP: 1, RedirectQKey: qp1QKey, TrapQKey: qp1QKey,
	})
}

// qp1QKey is the well-known Q_Key for queue pair 1 (3.5.3).
const qp1QKey = 0x80010000
