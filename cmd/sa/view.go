package sa

import (
	"encoding/hex"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/fields"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/sa"
	"github.com/ibkit/ibkit/mad"
)

// A view prints a result. Records are decoded one by one, because a table may have tens of
// thousands.
type view struct {
	result   *sa.Result
	fields   []string // names of columns; empty: the default
	showKeys bool

	decoded mad.Attribute // the last record
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

// record decodes record i. The next call overwrites the record.
func (v *view) record(i int) (mad.Attribute, error) {
	if v.decoded == nil {
		if v.decoded = v.result.Kind.New(); v.showKeys {
			v.decoded = mad.WithKeys(v.decoded)
		}
	}
	return v.decoded, v.result.Record(i, v.decoded)
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
	if len(v.fields) == 0 && v.result.Len() > 0 && (kind.ID == mad.AttrClassPortInfo || isBlock(kind.ID)) {
		return v.each(func(i int, record mad.Attribute) error {
			if i > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(kind.Name + "\n")
			parts := fields.Of(record)
			fields.Renumber(parts, firstEntry(record))
			fields.Write(out, parts)
			return nil
		})
	}
	selected, err := fields.Select(kind.New(), v.fields, defaultFields[kind.ID])
	if err != nil {
		return err
	}
	columns := fields.Columns(selected, func(row int) mad.Attribute {
		record, readErr := v.record(row)
		if readErr != nil {
			err = readErr
		}
		return record
	})
	rows := make([]int, v.result.Len())
	for i := range rows {
		rows[i] = i
	}
	if len(rows) > 0 {
		render.Columns(out, columns, rows)
	}
	fmt.Fprintln(out, plural.Count(len(rows), "record", "records"))
	return err
}

// firstEntry returns the number of the first entry of a block whose rows have numbers.
func firstEntry(record mad.Attribute) int {
	switch r := record.(type) {
	case *mad.PKeyTableRecord:
		return int(r.Block) * len(r.Table.PKeys)
	case *mad.GUIDInfoRecord:
		return int(r.Block) * len(r.Table.GUIDs)
	}
	return 0
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
	w := textfile.NewCSV(out, selected...)
	reader := fields.NewReader(selected)
	var cells []string
	err = v.each(func(_ int, record mad.Attribute) error {
		reader.Read(record)
		cells = reader.AppendTexts(cells[:0])
		w.Write(cells...)
		return nil
	})
	_ = w.Flush() // errors stay in out
	return err
}

// hex writes the bytes of each record in a line.
func (v *view) hex(out *render.Output) {
	var line []byte
	for i := range v.result.Len() {
		line = append(hex.AppendEncode(line[:0], v.result.Raw(i)), '\n')
		out.Write(line)
	}
}

func (v *view) json(out *render.Output) error {
	render.WriteMembers(out, '{', v.result.Head())
	out.WriteString(",\n\"records\":[")
	var line []byte
	err := v.each(func(i int, record mad.Attribute) (err error) {
		line = line[:0]
		if i > 0 {
			line = append(line, ',')
		}
		line, err = mad.AppendJSON(append(line, '\n'), record)
		out.Write(line)
		return err
	})
	out.WriteString("]}\n")
	return err
}
