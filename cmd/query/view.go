package query

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/fields"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/query"
	"github.com/ibkit/ibkit/mad"
)

// A view prints a result.
type view struct {
	env    *cmdutil.Env
	names  *fabric.NameMap
	result *query.Result
	fields []string // names of columns; empty: the default
}

// text writes a table if there are several replies or selected fields, and otherwise
// all fields.
func (v *view) text(out *render.Output) error {
	if len(v.fields) > 0 || v.isTable() {
		selected, err := v.selected()
		if err != nil {
			return err
		}
		render.Columns(out, v.columns(selected), v.replies())
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

// fieldsOf returns the fields of a reply, or of its packet if it is not decoded. A reply with
// an error status has none: the message has its status.
func (v *view) fieldsOf(r *query.Reply) []fields.Field {
	_, refused := errors.AsType[mad.StatusError](r.Err)
	switch {
	case refused:
		return nil
	case r.Text != nil && r.Err == nil:
		var lines []fields.Field
		for line := range strings.Lines(v.textOf(r)) {
			lines = append(lines, fields.Field{Text: cmdutil.Visible(strings.TrimRight(line, "\n"))})
		}
		return lines
	case r.Attr != nil && r.Err == nil:
		parts := fields.Of(r.Attr)
		fields.Renumber(parts, max(r.Block, 0))
		return parts
	case r.Packet != nil:
		return fields.OfPacket(r.Packet)
	}
	return nil
}

// textOf returns the text of a reply, or the round-trip time of a ping.
func (v *view) textOf(r *query.Reply) string {
	if v.result.Attribute.ID == mad.AttrSysstatPing {
		return "reply after " + r.RTT.Round(time.Microsecond).String()
	}
	return *r.Text
}

// isTable reports whether the replies are the rows of one table: several replies with
// fields that have names, or with texts of one line.
func (v *view) isTable() bool {
	decoded := 0
	for i := range v.result.Replies {
		r := &v.result.Replies[i]
		if r.Text != nil {
			if decoded++; strings.Contains(*r.Text, "\n") {
				return false
			}
		}
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

// attribute returns the attribute of a reply, or nil if it has an error.
func attribute(r *query.Reply) mad.Attribute {
	if r.Err != nil {
		return nil
	}
	return r.Attr
}

// defaultFields are the columns of attributes with many fields.
var defaultFields = map[string][]string{
	"NodeInfo":             {"NodeType", "NumPorts", "Guid", "PortGuid", "DevId", "Revision", "VendorId"},
	"PortInfo":             {"SMLid", "LinkState", "PhysLinkState", "LinkWidthActive", "LinkSpeedActive", "LinkSpeedExtActive", "NeighborMTU"},
	"PortCounters":         {"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors", "PortXmitDiscards", "PortXmitWait", "PortXmitData", "PortRcvData"},
	"PortCountersExtended": {"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"},
}

// textColumn is the only column of attributes with a text.
const textColumn = "Text"

// selected returns the names of the columns.
func (v *view) selected() ([]string, error) {
	attr := v.result.Attribute
	if attr.IsText() {
		return []string{textColumn}, nil
	}
	return fields.Select(attr.Class.NewAttribute(attr.ID), v.fields, defaultFields[attr.Name])
}

func (v *view) columns(selected []string) []render.Column[*query.Reply] {
	columns := []render.Column[*query.Reply]{
		render.TextColumn("NODE", func(r *query.Reply) string { return render.OrAbsent(r.Name(v.names)) }),
		render.TextColumn("LID", func(r *query.Reply) string { return render.OrAbsent(place(r)) }),
		render.TextColumn("PORT", func(r *query.Reply) string { return render.OrAbsent(number(r)) }),
	}
	if v.result.Attribute.IsText() {
		return append(columns, render.TextColumn(strings.ToUpper(textColumn), func(r *query.Reply) string {
			return render.OrAbsent(v.line(r))
		}))
	}
	more := fields.Columns(selected, attribute)
	for i := range more {
		if slices.ContainsFunc(columns, func(c render.Column[*query.Reply]) bool { return c.Header == more[i].Header }) {
			more[i].Header = strings.ToUpper(v.result.Attribute.Name) + " " + more[i].Header
		}
	}
	return append(columns, more...)
}

// line returns the text of a reply, or "" if it has an error.
func (v *view) line(r *query.Reply) string {
	if r.Err != nil || r.Text == nil {
		return ""
	}
	return cmdutil.Visible(v.textOf(r))
}

// place returns the LID or the directed route to the node, or the target that was not
// found.
func place(r *query.Reply) string {
	if r.Port == nil {
		return r.Target.String()
	}
	return render.Destination(r.Port.To)
}

// number returns the number of the port that the attribute belongs to, or "".
func number(r *query.Reply) string {
	if r.Number < 0 {
		return ""
	}
	return strconv.Itoa(r.Number)
}

// replies returns pointers to the replies.
func (v *view) replies() []*query.Reply {
	all := make([]*query.Reply, len(v.result.Replies))
	for i := range all {
		all[i] = &v.result.Replies[i]
	}
	return all
}

// csv writes all fields or the selected ones.
func (v *view) csv(out *render.Output) error {
	if attr := v.result.Attribute; len(v.fields) == 0 && !attr.IsText() {
		if v.fields = fields.Names(attr.Class.NewAttribute(attr.ID)); len(v.fields) == 0 {
			return cmdutil.UsageErrorf("%v has no named fields for --csv", attr)
		}
	}
	selected, err := v.selected()
	if err != nil {
		return err
	}
	w := textfile.NewCSV(out, append([]string{"node", "node_guid", "lid", "port", "error"}, selected...)...)
	reader := fields.NewReader(selected)
	var cells []string
	for i := range v.result.Replies {
		r := &v.result.Replies[i]
		cells = append(cells[:0], r.Name(v.names), "", place(r), number(r), "")
		if r.Port != nil && r.Port.Node != nil {
			cells[1] = r.Port.Node.NodeGUID.String()
		}
		if r.Err != nil {
			cells[4] = r.Err.Error()
		}
		if v.result.Attribute.IsText() {
			cells = append(cells, v.line(r))
		} else {
			reader.Read(attribute(r))
			cells = reader.AppendTexts(cells)
		}
		w.Write(cells...)
	}
	_ = w.Flush() // errors stay in out
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
