package sa

import (
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/fields"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sa"
)

// A view prints a result. Records are decoded one by one, because a table may have tens of
// thousands.
type view struct {
	result   *sa.Result
	fields   []string // names of columns; empty: the default
	showKeys bool
}

// defaultFields are the columns of records with many fields.
var defaultFields = map[mad.AttrID][]string{
	mad.AttrNodeRecord:       {"LID", "NodeType", "NumPorts", "Guid", "PortGuid", "LocalPort", "NodeDesc"},
	mad.AttrPortInfoRecord:   {"EndportLID", "PortNum", "LinkState", "PhysLinkState", "LinkWidthActive", "LinkSpeedActive", "LinkSpeedExtActive", "Lid", "SMLid"},
	mad.AttrPathRecord:       {"Slid", "Dlid", "SGID", "Dgid", "Mtu", "Rate", "PacketLifeTime", "SL", "Pkey"},
	mad.AttrMCMemberRecord:   {"MGID", "PortGID", "MLID", "Mtu", "Rate", "Pkey", "SL", "Qkey", "JoinState"},
	mad.AttrSwitchInfoRecord: {"LID", "LinearFdbCap", "LinearFdbTop", "McastFdbCap", "LifeTime", "PartEnforceCap"},
	mad.AttrServiceRecord:    {"ServiceID", "ServiceGID", "ServicePkey", "ServiceLease", "ServiceName"},
	mad.AttrInformInfoRecord: {"SubscriberGID", "Enum", "LIDRangeBegin", "LIDRangeEnd", "IsGeneric", "Type", "TrapNumber", "ProducerType"},
	mad.AttrSMInfoRecord:     {"LID", "SmInfoGuid", "SmActivity", "SmPriority", "SmState"},
}

// record returns record i without keys that are to be hidden.
func (v *view) record(i int) (mad.Attribute, error) {
	record, err := v.result.Record(i)
	if v.showKeys || err != nil {
		return record, err
	}
	switch r := record.(type) {
	case *mad.PortInfoRecord:
		r.PortInfo.MKey = 0
	case *mad.SMInfoRecord:
		r.SMInfo.SMKey = 0
	case *mad.ServiceRecord:
		clear(r.Key[:])
	}
	return record, nil
}

// each calls f for each record.
func (v *view) each(f func(i int, record mad.Attribute) error) error {
	for i := range v.result.Len() {
		record, err := v.record(i)
		if err == nil {
			err = f(i, record)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text writes a table, or for records that contain tables one block each.
func (v *view) text(out *render.Output) error {
	kind := v.result.Kind
	if len(v.fields) == 0 && (kind.ID == mad.AttrClassPortInfo || isBlock(kind.ID)) {
		return v.each(func(i int, record mad.Attribute) error {
			if i > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(kind.Name + "\n")
			fields.Write(out, fields.Of(record))
			return nil
		})
	}
	selected, err := fields.Select(kind.New(), v.fields, defaultFields[kind.ID])
	if err != nil {
		return err
	}
	var columns []render.Column[[]string]
	for i, name := range selected {
		columns = append(columns, render.TextColumn(strings.ToUpper(name), func(texts []string) string { return render.OrAbsent(texts[i]) }))
	}
	rows := make([][]string, 0, v.result.Len())
	if err := v.each(func(_ int, record mad.Attribute) error {
		rows = append(rows, fields.Texts(record, selected))
		return nil
	}); err != nil {
		return err
	}
	if len(rows) > 0 {
		render.Columns(out, columns, rows)
	}
	fmt.Fprintln(out, render.Count(len(rows), "record", "records"))
	return nil
}

// isBlock reports whether records of a kind are blocks of tables.
func isBlock(id mad.AttrID) bool {
	switch id {
	case mad.AttrLinearForwardingTableRecord, mad.AttrMulticastForwardingTableRecord, mad.AttrPKeyTableRecord,
		mad.AttrGUIDInfoRecord, mad.AttrSLtoVLMappingTableRecord, mad.AttrVLArbitrationTableRecord:
		return true
	}
	return false
}

func (v *view) csv(out *render.Output) error {
	names := v.fields
	if len(names) == 0 {
		names = fields.Names(v.result.Kind.New())
	}
	selected, err := fields.Select(v.result.Kind.New(), names, nil)
	if err != nil {
		return err
	}
	w := csv.NewWriter(out)
	_ = w.Write(selected) // errors stay in out
	err = v.each(func(_ int, record mad.Attribute) error {
		return w.Write(fields.Texts(record, selected))
	})
	w.Flush()
	return err
}

// hex writes the bytes of each record in a line.
func (v *view) hex(out *render.Output) {
	for i := range v.result.Len() {
		out.WriteString(hex.EncodeToString(v.result.Raw(i)) + "\n")
	}
}

// schema is the version of the JSON document; schema/sa.json describes it.
const schema = "ibkit/sa/1"

type jsonHead struct {
	Schema  string     `json:"schema"`
	Record  jsonRecord `json:"record"`
	SALID   ib.LID     `json:"sa_lid"`
	Partial bool       `json:"partial"`
	Elapsed float64    `json:"elapsed_ms"`
}

type jsonRecord struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

func (v *view) json(out *render.Output) error {
	r := v.result
	render.WriteMembers(out, '{', jsonHead{
		schema, jsonRecord{int(r.Kind.ID), r.Kind.Name}, r.To.LID, r.Clipped(), float64(r.Elapsed.Microseconds()) / 1000,
	})
	out.WriteString(",\n\"records\":[")
	err := v.each(func(i int, record mad.Attribute) error {
		b, err := json.Marshal(record)
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(b)
		return err
	})
	out.WriteString("]}\n")
	return err
}
