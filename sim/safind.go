package sim

import (
	"iter"

	"github.com/ibkit/ibkit/mad"
)

// An saKind implements the requests for one record type.
type saKind struct {
	// records yields the fabric's records. It may omit records that cannot match the
	// request. nil: Get is not supported.
	records func(*saQuery) iter.Seq[mad.Attribute]

	// match, if set, returns components that are not compared for equality, and a
	// function that compares them.
	match func(*saQuery) (mad.ComponentMask, func(mad.Attribute) bool)

	// trusted restricts the records to trusted requesters.
	trusted bool

	// first makes Get return the first record if there are several.
	first bool

	// set and remove change the state and return the reply record.
	set, remove func(*saQuery) (mad.Attribute, mad.Status)
}

var saKinds = map[mad.AttrID]saKind{
	mad.AttrNodeRecord:                     {records: nodeRecords},
	mad.AttrPortInfoRecord:                 {records: portInfoRecords, match: matchCapMask},
	mad.AttrSwitchInfoRecord:               {records: switchInfoRecords},
	mad.AttrLinearForwardingTableRecord:    {records: lftRecords},
	mad.AttrMulticastForwardingTableRecord: {records: mftRecords},
	mad.AttrVLArbitrationTableRecord:       {records: vlArbRecords},
	mad.AttrSLtoVLMappingTableRecord:       {records: sltovlRecords},
	mad.AttrPKeyTableRecord:                {records: pkeyRecords, trusted: true},
	mad.AttrGUIDInfoRecord:                 {records: guidInfoRecords},
	mad.AttrSMInfoRecord:                   {records: smInfoRecords},
	mad.AttrLinkRecord:                     {records: linkRecords},
	mad.AttrPathRecord:                     {records: pathRecords, match: matchPath, first: true},
	mad.AttrServiceRecord:                  {records: serviceRecords, set: setService, remove: removeService},
	mad.AttrMCMemberRecord:                 {records: memberRecords, match: matchMember, set: join, remove: leave},
	mad.AttrInformInfoRecord:               {records: informInfoRecords},
	attrInformInfo:                         {set: subscribe},
}

var attrInformInfo = (*mad.InformInfo)(nil).Spec().ID

func noRecords(*saQuery) iter.Seq[mad.Attribute] { return func(func(mad.Attribute) bool) {} }

// find answers Get and GetTable with the records that match the components selected by
// the mask.
func (q *saQuery) find(id mad.AttrID, kind saKind) (recordList, mad.Status) {
	if kind.trusted && !q.trusted {
		return recordList{}, mad.StatusInvalidRequest
	}
	mask := q.mask
	accept := func(mad.Attribute) bool { return true }
	if kind.match != nil {
		var special mad.ComponentMask
		special, accept = kind.match(q)
		mask &^= special
	}
	bits := mask.Bits(mad.ClassSA.NewAttribute(id))
	var list recordList
	for record := range kind.records(q) {
		if !accept(record) {
			continue
		}
		if status := list.add(record); status != 0 {
			return recordList{}, status
		}
		if !equal(list.last(), q.data, bits) {
			list.drop()
			continue
		}
		if len(list.data) > maxAnswer {
			return recordList{}, mad.StatusNoResources
		}
		if q.method == mad.MethodGet && kind.first {
			break
		}
	}
	if q.refused != 0 {
		return recordList{}, q.refused
	}
	if q.method == mad.MethodGet {
		switch {
		case list.count == 0:
			return recordList{}, mad.StatusNoRecords
		case list.count > 1:
			return recordList{}, mad.StatusTooManyRecords
		}
	}
	return list, 0
}

// maxAnswer limits the reply size in bytes.
const maxAnswer = 256 << 20

// equal reports whether a and b agree in the bits that are set.
func equal(a, b, bits []byte) bool {
	for i, set := range bits {
		if (a[i]^b[i])&set != 0 {
			return false
		}
	}
	return true
}

// A recordList holds encoded records.
type recordList struct {
	data  []byte
	size  int // distance between records
	count int
}

func (l *recordList) add(record mad.Attribute) mad.Status {
	l.size = 8 * int(mad.SARecordOffset(record))
	n := len(l.data)
	for range l.size / 8 {
		l.data = append(l.data, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	l.count++
	if mad.Encode(record, l.data[n:]) != nil {
		return mad.StatusBadValue
	}
	return 0
}

func (l *recordList) last() []byte { return l.data[len(l.data)-l.size:] }

func (l *recordList) drop() {
	l.data = l.data[:len(l.data)-l.size]
	l.count--
}

// offset returns the distance between records in units of 8 bytes, 0 without records.
func (l *recordList) offset() uint16 {
	if l.count == 0 {
		return 0
	}
	return uint16(l.size / 8)
}
