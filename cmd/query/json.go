package query

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/internal/tool/query"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// newReportList returns the document of --list.
func newReportList(all []query.Attribute) *query.ReportList {
	r := &query.ReportList{Head: report.NewHead(query.ListSchema, time.Now())}
	for _, a := range all {
		r.Attributes = append(r.Attributes, query.ReportListed{
			ReportAttribute: query.ReportAttribute{Class: a.Prefix(), ID: int(a.ID), Name: a.Name},
			Aliases:         append([]string{}, a.Aliases...), Fields: append([]string{}, fieldNames(a)...),
		})
	}
	return r
}

func (v *view) json(out *render.Output) {
	render.WriteMembers(out, '{', v.result.Head(v.names))
	render.AppendArray(out, "replies", v.replies(), v.appendReply)
	out.WriteString("}\n")
}

// appendReply appends the JSON form of a reply. [mad.AppendJSON] makes it several times as
// fast as encoding/json.
func (v *view) appendReply(b []byte, r *query.Reply) []byte {
	b = render.AppendMembers(b, '{', v.origin(r))
	b = append(b, `,"data":`...)
	var err error
	switch {
	case r.Err == nil && r.Text != nil:
		b = append(b, render.MustMarshal(*r.Text)...)
	case attribute(r) != nil:
		b, err = mad.AppendJSON(b, r.Attr)
	default:
		b = append(b, "null"...)
	}
	end := query.ReportOutcome{}
	if err = errors.Join(r.Err, err); err != nil {
		end.Error = new(err.Error())
	}
	if r.Packet != nil {
		end.Packet = newPacket(r.Packet)
	}
	return append(render.AppendMembers(b, ',', end), '}')
}

func (v *view) origin(r *query.Reply) query.ReportOrigin {
	j := query.ReportOrigin{Target: r.Target.String(), Modifier: r.Modifier, Name: optional.NonZero(r.Name(v.names))}
	if p := r.Port; p != nil {
		if p.Node != nil {
			j.NodeGUID = &p.Node.NodeGUID
		}
		j.LID = optional.NonZero(p.To.LID)
		if !p.To.Route.IsNone() {
			j.Route = new(p.To.Route.String())
		}
	}
	if r.Number >= 0 {
		j.Port = &r.Number
	}
	if r.Block >= 0 {
		j.First = &r.Block
	}
	if r.RTT > 0 {
		j.RTT = new(float64(r.RTT.Nanoseconds()) / 1000)
	}
	return j
}

func newPacket(p *mad.Packet) *query.ReportPacket {
	h := p.Header()
	return &query.ReportPacket{
		BaseVersion: int(h.BaseVersion), Class: int(h.Class), ClassVersion: int(h.ClassVersion), Method: int(h.Method), Status: int(p.Status()),
		TID: fmt.Sprintf("0x%016x", h.TID), Attribute: int(h.Attr), Modifier: h.Modifier, Data: hex.EncodeToString(p.Data()),
	}
}
