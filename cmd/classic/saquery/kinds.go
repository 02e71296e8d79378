package saquery

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"syscall"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// A kind is a record kind.
type kind struct {
	name, alias string
	operands    string // in the usage text
	id          mad.AttrID
	run         func(q *query, operands []string) error
}

// kinds are the record kinds in usage text order. The function init breaks a cycle: kinds
// run queries, and queries look up kinds.
var kinds []kind

func init() {
	kinds = []kind{
		{"ClassPortInfo", "CPI", "", mad.AttrClassPortInfo, func(q *query, _ []string) error {
			q.printClassPortInfo()
			return nil
		}},
		{"NodeRecord", "NR", "[lid]", mad.AttrNodeRecord, (*query).nodeRecords},
		{"PortInfoRecord", "PIR", "[[lid]/[port]/[options]]", mad.AttrPortInfoRecord, (*query).portInfoRecords},
		{"SL2VLTableRecord", "SL2VL", "[[lid]/[in_port]/[out_port]]", mad.AttrSLtoVLMappingTableRecord, (*query).slToVLRecords},
		{"PKeyTableRecord", "PKTR", "[[lid]/[port]/[block]]", mad.AttrPKeyTableRecord, (*query).pkeyRecords},
		{"VLArbitrationTableRecord", "VLAR", "[[lid]/[port]/[block]]", mad.AttrVLArbitrationTableRecord, (*query).vlArbitrationRecords},
		{"InformInfoRecord", "IIR", "[subscriber_gid]", mad.AttrInformInfoRecord, (*query).informInfoRecords},
		{"LinkRecord", "LR", "[[from_lid]/[from_port]] [[to_lid]/[to_port]]", mad.AttrLinkRecord, (*query).linkRecords},
		{"ServiceRecord", "SR", "", mad.AttrServiceRecord, func(q *query, _ []string) error {
			return printRecords(q, &mad.ServiceRecord{}, 0, 0, printService)
		}},
		{"PathRecord", "PR", "", mad.AttrPathRecord, func(q *query, _ []string) error {
			r, mask := q.path.pathRecord()
			return printRecords(q, r, mask, 0, printPath)
		}},
		{"MCMemberRecord", "MCMR", "", mad.AttrMCMemberRecord, func(q *query, _ []string) error {
			r, mask := q.path.memberRecord()
			return q.printAll(r, mask, printMemberRecord)
		}},
		{"LFTRecord", "LFTR", "[[lid]/[block]]", mad.AttrLinearForwardingTableRecord, (*query).lftRecords},
		{"MFTRecord", "MFTR", "[[mlid]/[position]/[block]]", mad.AttrMulticastForwardingTableRecord, (*query).mftRecords},
		{"GUIDInfoRecord", "GIR", "[[lid]/[block]]", mad.AttrGUIDInfoRecord, (*query).guidInfoRecords},
		{"SwitchInfoRecord", "SWIR", "[lid]", mad.AttrSwitchInfoRecord, (*query).switchInfoRecords},
		{"SMInfoRecord", "SMIR", "[lid]", mad.AttrSMInfoRecord, (*query).smInfoRecords},
	}
}

func kindByName(name string) *kind {
	for i := range kinds {
		if strings.EqualFold(name, kinds[i].name) || strings.EqualFold(name, kinds[i].alias) {
			return &kinds[i]
		}
	}
	return nil
}

func kindByID(id mad.AttrID) *kind {
	for i := range kinds {
		if kinds[i].id == id {
			return &kinds[i]
		}
	}
	return nil
}

// A place is a LID and up to two numbers: LID/A/B. A missing number is -1.
type place struct {
	lid  uint16
	a, b int
}

// place parses an operand. The LID may be a node name.
func (q *query) place(operands []string, i int) (p place, err error) {
	p.a, p.b = -1, -1
	if i >= len(operands) {
		return p, nil
	}
	fields := strings.SplitN(operands[i], "/", 4)
	if p.lid, err = q.parseLID(fields[0]); err != nil {
		return p, err
	}
	for k, to := range []*int{&p.a, &p.b} {
		if k+1 < len(fields) && fields[k+1] != "" && strings.IndexByte("0123456789+- ", fields[k+1][0]) >= 0 {
			*to = int(int32(getopt.Strtoull(fields[k+1])))
		}
	}
	return p, nil
}

// parseLID parses a LID, or looks up a node name.
func (q *query) parseLID(name string) (uint16, error) {
	if name != "" && (name[0]|0x20 >= 'a' && name[0]|0x20 <= 'z') {
		return q.lidOfNode(name)
	}
	n := getopt.Strtol(name)
	if n <= 0 || n > math.MaxUint16 {
		return 0, q.fail(syscall.EINVAL, "Invalid lid specified: \"%s\"", name)
	}
	return uint16(n), nil
}

// fail prints a message and ends the tool with a system error number.
func (q *query) fail(code syscall.Errno, format string, args ...any) error {
	_ = q.out.Flush() // the next flush returns the error
	fmt.Fprintf(q.Env.ErrOut, format+"\n", args...)
	return &cmdutil.ExitError{Code: int(code)}
}

// lidOfNode returns the LID of the first node with a description.
func (q *query) lidOfNode(name string) (uint16, error) {
	table, err := q.get(&mad.NodeRecord{}, 0, 0)
	var exit *cmdutil.ExitError
	if errors.As(err, &exit) {
		return 0, q.fail(syscall.Errno(exit.Code), "Failed to find lid for \"%s\": %s", name, getopt.Strerror(syscall.Errno(exit.Code)))
	}
	var record mad.NodeRecord
	for i := range table.Len() {
		if err := table.Record(i, &record); err != nil {
			return 0, err
		}
		if record.Description == mad.NewNodeDescription(name) || record.Description.String() == name {
			return uint16(record.LID), nil
		}
	}
	return 0, q.fail(syscall.ENONET, "Failed to find lid for \"%s\": %s", name, getopt.Strerror(syscall.ENONET))
}

// number selects a field unless the number, in the field's width, is -1.
func number[T uint8 | uint16](s *selection, n int, to *T) {
	if v := T(n); v != ^T(0) {
		*to = v
		s.add(true, to)
	}
}

// recordsAt prints the records at the place in the first operand. lid is the LID field in
// r; more, if not nil, selects fields by the numbers.
func recordsAt[T any, R interface {
	*T
	mad.Attribute
}](q *query, operands []string, r R, lid *ib.LID, more func(*selection, place), print printer[R]) error {
	p, err := q.place(operands, 0)
	if err != nil {
		return err
	}
	s := selection{record: r}
	*lid = ib.LID(p.lid)
	s.add(p.lid != 0, lid)
	if more != nil {
		more(&s, p)
	}
	return printRecords(q, r, s.mask, 0, print)
}

func (q *query) nodeRecords(operands []string) error {
	r := &mad.NodeRecord{}
	return recordsAt(q, operands, r, &r.LID, nil, printNode)
}

func (q *query) portInfoRecords(operands []string) error {
	r := &mad.PortInfoRecord{}
	return recordsAt(q, operands, r, &r.LID, func(s *selection, p place) {
		number(s, p.a, &r.PortNum)
		number(s, p.b, &r.Options)
	}, printPortInfo)
}

func (q *query) slToVLRecords(operands []string) error {
	r := &mad.SLtoVLMappingTableRecord{}
	return recordsAt(q, operands, r, &r.LID, func(s *selection, p place) {
		number(s, p.a, &r.InPort)
		number(s, p.b, &r.OutPort)
	}, printSLtoVL)
}

func (q *query) pkeyRecords(operands []string) error {
	r := &mad.PKeyTableRecord{}
	return recordsAt(q, operands, r, &r.LID, func(s *selection, p place) {
		number(s, p.a, &r.Port)
		number(s, p.b, &r.Block)
	}, printPKeys)
}

func (q *query) vlArbitrationRecords(operands []string) error {
	r := &mad.VLArbitrationTableRecord{}
	return recordsAt(q, operands, r, &r.LID, func(s *selection, p place) {
		number(s, p.a, &r.Port)
		number(s, p.b, &r.Block)
	}, printVLArbitration)
}

func (q *query) informInfoRecords(operands []string) error {
	r := &mad.InformInfoRecord{}
	s := selection{record: r}
	if len(operands) > 0 {
		ip, err := netip.ParseAddr(operands[0])
		if err != nil || !ip.Is6() {
			return q.fail(syscall.EINVAL, "Invalid SubscriberGID specified: \"%s\"", operands[0])
		}
		r.SubscriberGID = ip.As16()
		s.add(true, &r.SubscriberGID)
	}
	return printRecords(q, r, s.mask, 0, printInformInfo)
}

func (q *query) linkRecords(operands []string) error {
	from, err := q.place(operands, 0)
	if err != nil {
		return err
	}
	to, err := q.place(operands, 1)
	if err != nil {
		return err
	}
	r := &mad.LinkRecord{FromLID: ib.LID(from.lid), ToLID: ib.LID(to.lid)}
	s := selection{record: r}
	s.add(from.lid != 0, &r.FromLID)
	s.add(to.lid != 0, &r.ToLID)
	number(&s, from.a, &r.FromPort)
	number(&s, to.a, &r.ToPort)
	return printRecords(q, r, s.mask, 0, printLink)
}

func (q *query) lftRecords(operands []string) error {
	r := &mad.LinearForwardingTableRecord{}
	return recordsAt(q, operands, r, &r.LID, func(s *selection, p place) {
		number(s, p.a, &r.Block)
	}, printLFT)
}

func (q *query) mftRecords(operands []string) error {
	const blockMask, positionMask = 0x1ff, 0xf
	r := &mad.MulticastForwardingTableRecord{}
	return recordsAt(q, operands, r, &r.LID, func(s *selection, p place) {
		number(s, p.b, &r.Block)
		number(s, p.a, &r.Position)
		r.Block, r.Position = r.Block&blockMask, r.Position&positionMask
	}, printMFT)
}

func (q *query) guidInfoRecords(operands []string) error {
	r := &mad.GUIDInfoRecord{}
	return recordsAt(q, operands, r, &r.LID, func(s *selection, p place) {
		number(s, p.a, &r.Block)
	}, printGUIDs)
}

func (q *query) switchInfoRecords(operands []string) error {
	r := &mad.SwitchInfoRecord{}
	return recordsAt(q, operands, r, &r.LID, nil, printSwitchInfo)
}

func (q *query) smInfoRecords(operands []string) error {
	r := &mad.SMInfoRecord{}
	return recordsAt(q, operands, r, &r.LID, nil, printSMInfo)
}
