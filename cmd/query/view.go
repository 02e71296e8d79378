package query

import (
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/fields"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/query"
)

// A view prints a result.
type view struct {
	env    *cmdutil.Env
	names  *fabric.NameMap
	result *query.Result
	fields []string // names of columns; empty: the default
}

// hideKeys clears M_Keys and SM_Keys.
func hideKeys(replies []query.Reply) {
	for i := range replies {
		switch info := replies[i].Attr.(type) {
		case *mad.PortInfo:
			info.MKey = 0
		case *mad.SMInfo:
			info.SMKey = 0
		}
	}
}

// text writes a table if there are several replies or selected fields, and otherwise
// all fields.
func (v *view) text(out *render.Output) error {
	if len(v.fields) > 0 || v.isTable() {
		selected, err := v.selected()
		if err != nil {
			return err
		}
		render.Columns(out, v.columns(selected), v.rows(selected))
		return nil
	}
	shown := 0
	for i := range v.result.Replies {
		r := &v.result.Replies[i]
		parts := v.fieldsOf(r)
		if parts == nil {
			continue
		}
		if shown > 0 {
			out.WriteByte('\n')
		}
		shown++
		out.WriteString(v.result.Heading(r, r.Name(v.names)) + "\n")
		fields.Write(out, parts)
	}
	return nil
}

// fieldsOf returns the fields of a reply, or of its packet if it is not decoded.
func (v *view) fieldsOf(r *query.Reply) []fields.Field {
	switch {
	case r.Attr != nil && r.Err == nil:
		return fields.Of(r.Attr)
	case r.Packet != nil:
		return fields.OfPacket(r.Packet)
	}
	return nil
}

// A row is a reply with the texts of its fields.
type row struct {
	*query.Reply
	texts []string // of the selected fields; nil: an error
}

// isTable reports whether the replies are the rows of one table: several replies with
// fields that have names.
func (v *view) isTable() bool {
	decoded := 0
	for i := range v.result.Replies {
		r := &v.result.Replies[i]
		if r.Attr == nil {
			continue
		}
		if decoded++; r.Block >= 0 {
			return false
		}
		if decoded == 1 && fields.IsTable(r.Attr) {
			return false
		}
	}
	return decoded > 1
}

// rows returns the replies with the texts of some fields.
func (v *view) rows(selected []string) []row {
	rows := make([]row, len(v.result.Replies))
	for i := range rows {
		rows[i].Reply = &v.result.Replies[i]
		if rows[i].Attr != nil && rows[i].Err == nil {
			rows[i].texts = fields.Texts(rows[i].Attr, selected)
		}
	}
	return rows
}

// defaultFields are the columns of attributes with many fields.
var defaultFields = map[string][]string{
	"NodeInfo":             {"NodeType", "NumPorts", "Guid", "PortGuid", "DevId", "Revision", "VendorId"},
	"PortInfo":             {"Lid", "SMLid", "LinkState", "PhysLinkState", "LinkWidthActive", "LinkSpeedActive", "LinkSpeedExtActive", "NeighborMTU"},
	"PortCounters":         {"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors", "PortXmitDiscards", "PortXmitWait", "PortXmitData", "PortRcvData"},
	"PortCountersExtended": {"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"},
}

// selected returns the names of the columns.
func (v *view) selected() ([]string, error) {
	attr := v.result.Attribute
	return fields.Select(attr.Class.NewAttribute(attr.ID), v.fields, defaultFields[attr.Name])
}

func (v *view) columns(selected []string) []render.Column[row] {
	columns := []render.Column[row]{
		render.TextColumn("NODE", func(r row) string { return render.OrAbsent(r.Name(v.names)) }),
		render.TextColumn("LID", func(r row) string { return render.OrAbsent(r.lid()) }),
		render.TextColumn("PORT", func(r row) string { return render.OrAbsent(r.number()) }),
	}
	for i, name := range selected {
		columns = append(columns, render.TextColumn(strings.ToUpper(name), func(r row) string {
			if r.texts == nil {
				return render.Absent
			}
			return render.OrAbsent(r.texts[i])
		}))
	}
	return columns
}

func (r row) lid() string {
	switch {
	case r.Port == nil:
		return r.Target.String()
	case r.Port.To.Route != "" || r.Port.To.LID == 0:
		return r.Port.To.Route.String()
	}
	return strconv.Itoa(int(r.Port.To.LID))
}

func (r row) number() string {
	if r.Number < 0 {
		return ""
	}
	return strconv.Itoa(r.Number)
}

// csv writes all fields or the selected ones.
func (v *view) csv(out *render.Output) error {
	if attr := v.result.Attribute; len(v.fields) == 0 {
		if v.fields = fields.Names(attr.Class.NewAttribute(attr.ID)); len(v.fields) == 0 {
			return cmdutil.UsageErrorf("%v has no named fields for --csv", attr)
		}
	}
	selected, err := v.selected()
	if err != nil {
		return err
	}
	w := csv.NewWriter(out)
	_ = w.Write(append([]string{"node", "node_guid", "lid", "port", "error"}, selected...)) // errors stay in out
	for _, r := range v.rows(selected) {
		cells := []string{r.Name(v.names), "", r.lid(), r.number(), ""}
		if r.Port != nil && r.Port.Node != nil {
			cells[1] = r.Port.Node.NodeGUID.String()
		}
		if r.Err != nil {
			cells[4] = r.Err.Error()
		}
		if r.texts == nil {
			r.texts = make([]string, len(selected))
		}
		_ = w.Write(append(cells, r.texts...))
	}
	w.Flush()
	return nil
}

// hex writes the bytes of the attribute data, 16 per line.
func (v *view) hex(out *render.Output) {
	shown := 0
	for i := range v.result.Replies {
		r := &v.result.Replies[i]
		if r.Packet == nil {
			continue
		}
		if shown > 0 {
			out.WriteByte('\n')
		}
		shown++
		if len(v.result.Replies) > 1 {
			out.WriteString(v.result.Heading(r, r.Name(v.names)) + "\n")
		}
		out.WriteString(dump(r.Packet.Data()))
	}
}

// dump returns bytes with their offset, 16 per line.
func dump(data []byte) string {
	var b strings.Builder
	const line, word = 16, 2
	for i := 0; i < len(data); i += line {
		fmt.Fprintf(&b, "%04x ", i)
		for k := i; k < min(i+line, len(data)); k += word {
			b.WriteString(" " + hex.EncodeToString(data[k:min(k+word, len(data))]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
