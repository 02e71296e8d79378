package query

import (
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
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

// hideKeys clears M_Keys.
func hideKeys(replies []query.Reply) {
	for i := range replies {
		if info, ok := replies[i].Attr.(*mad.PortInfo); ok {
			info.MKey = 0
		}
	}
}

// text writes a table if there are several replies or selected fields, and otherwise
// all fields.
func (v *view) text(out *render.Output) error {
	if len(v.fields) > 0 || v.isTable() {
		columns, err := v.columns()
		if err != nil {
			return err
		}
		render.Columns(out, columns, v.rows())
		return nil
	}
	shown := 0
	for i := range v.result.Replies {
		r := &v.result.Replies[i]
		fields := v.fieldsOf(r)
		if fields == nil {
			continue
		}
		if shown > 0 {
			out.WriteByte('\n')
		}
		shown++
		out.WriteString(v.result.Heading(r, r.Name(v.names)) + "\n")
		writeFields(out, fields)
	}
	return nil
}

// fieldsOf returns the fields of a reply, or of its packet if it is not decoded.
func (v *view) fieldsOf(r *query.Reply) []query.Field {
	switch {
	case r.Attr != nil && r.Err == nil:
		return query.Fields(r.Attr)
	case r.Packet != nil:
		return query.PacketFields(r.Packet)
	}
	return nil
}

// writeFields writes fields one per line, and rows of tables as they are.
func writeFields(out *render.Output, fields []query.Field) {
	width := 0
	for _, f := range fields {
		width = max(width, len(f.Name))
	}
	for _, f := range fields {
		if f.Name == "" {
			fmt.Fprintf(out, "  %s\n", f.Text)
			continue
		}
		out.WriteString(strings.TrimRight(fmt.Sprintf("  %-*s  %s", width, f.Name, f.Text), " ") + "\n")
	}
}

// A row is a reply with the texts of its fields.
type row struct {
	*query.Reply
	fields map[string]string // by plain name
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
		if decoded == 1 {
			for _, f := range query.Fields(r.Attr) {
				if f.Name == "" {
					return false
				}
			}
		}
	}
	return decoded > 1
}

func (v *view) rows() []row {
	rows := make([]row, len(v.result.Replies))
	for i := range rows {
		rows[i].Reply = &v.result.Replies[i]
		if rows[i].Attr == nil || rows[i].Err != nil {
			continue
		}
		fields := query.Fields(rows[i].Attr)
		rows[i].fields = make(map[string]string, len(fields))
		for _, f := range fields {
			rows[i].fields[plain(f.Name)] = f.Text
		}
	}
	return rows
}

// plain returns the name of a field without case and punctuation, so that the names of
// the classic dump and of JSON are the same.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// maxColumns is the number of fields that a table has by default, if the attribute has
// no choice of its own.
const maxColumns = 8

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
	all := query.Fields(attr.Class.NewAttribute(attr.ID))
	known := map[string]string{}
	var names []string
	for _, f := range all {
		if f.Name != "" {
			known[plain(f.Name)] = f.Name
			names = append(names, f.Name)
		}
	}
	wanted := v.fields
	if len(wanted) == 0 {
		wanted = defaultFields[attr.Name]
	}
	if len(wanted) == 0 {
		return names[:min(len(names), maxColumns)], nil
	}
	var selected []string
	for _, name := range wanted {
		exact, ok := known[plain(name)]
		if !ok && len(v.fields) > 0 {
			return nil, cmdutil.UsageErrorf("%v has no field %q: it has %s", attr, name, strings.Join(names, ", "))
		}
		if ok {
			selected = append(selected, exact)
		}
	}
	return selected, nil
}

func (v *view) columns() ([]render.Column[row], error) {
	selected, err := v.selected()
	if err != nil {
		return nil, err
	}
	columns := []render.Column[row]{
		render.TextColumn("NODE", func(r row) string { return render.OrAbsent(r.Name(v.names)) }),
		render.TextColumn("LID", func(r row) string { return render.OrAbsent(r.lid()) }),
		render.TextColumn("PORT", func(r row) string { return render.OrAbsent(r.number()) }),
	}
	for _, name := range selected {
		key := plain(name)
		columns = append(columns, render.TextColumn(strings.ToUpper(name), func(r row) string { return render.OrAbsent(r.fields[key]) }))
	}
	return columns, nil
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
	if len(v.fields) == 0 {
		attr := v.result.Attribute
		for _, f := range query.Fields(attr.Class.NewAttribute(attr.ID)) {
			if f.Name != "" {
				v.fields = append(v.fields, f.Name)
			}
		}
		if len(v.fields) == 0 {
			return cmdutil.UsageErrorf("%v has no named fields for --csv", attr)
		}
	}
	selected, err := v.selected()
	if err != nil {
		return err
	}
	w := csv.NewWriter(out)
	_ = w.Write(append([]string{"node", "node_guid", "lid", "port", "error"}, selected...)) // errors stay in out
	for _, r := range v.rows() {
		cells := []string{r.Name(v.names), "", r.lid(), r.number(), ""}
		if r.Port != nil && r.Port.Node != nil {
			cells[1] = r.Port.Node.NodeGUID.String()
		}
		if r.Err != nil {
			cells[4] = r.Err.Error()
		}
		for _, name := range selected {
			cells = append(cells, r.fields[plain(name)])
		}
		_ = w.Write(cells)
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
