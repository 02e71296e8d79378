package query

import (
	"encoding/hex"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/query"
)

// schema is the version of the JSON document; schema/query.json describes it.
const schema = "ibkit/query/1"

type jsonHead struct {
	Schema    string        `json:"schema"`
	Attribute jsonAttribute `json:"attribute"`
	Partial   bool          `json:"partial"`
}

type jsonAttribute struct {
	Class string `json:"class"`
	ID    int    `json:"id"`
	Name  string `json:"name"`
}

type jsonReply struct {
	Target   string        `json:"target"`
	Name     *string       `json:"name"`
	NodeGUID *ib.GUID      `json:"node_guid"`
	LID      *ib.LID       `json:"lid"`
	Route    *string       `json:"route"`
	Port     *int          `json:"port"`
	Modifier uint32        `json:"modifier"`
	First    *int          `json:"first"`
	RTT      *float64      `json:"rtt_us"`
	Data     mad.Attribute `json:"data"`
	Error    *string       `json:"error"`
	Packet   *jsonPacket   `json:"packet"`
}

// A jsonPacket is a packet that is not decoded.
type jsonPacket struct {
	BaseVersion  int    `json:"base_version"`
	Class        int    `json:"class"`
	ClassVersion int    `json:"class_version"`
	Method       int    `json:"method"`
	Status       int    `json:"status"`
	TID          string `json:"transaction_id"`
	Attribute    int    `json:"attribute"`
	Modifier     uint32 `json:"modifier"`
	Data         string `json:"data"`
}

func (v *view) json(out *render.Output) {
	a := v.result.Attribute
	render.WriteMembers(out, '{', jsonHead{schema, jsonAttribute{a.Prefix(), int(a.ID), a.Name}, v.result.Failed > 0})
	render.WriteArray(out, "replies", v.result.Replies, v.jsonReply)
	out.WriteString("}\n")
}

func (v *view) jsonReply(r query.Reply) any {
	j := jsonReply{Target: r.Target.String(), Modifier: r.Modifier, Name: render.NonZero(r.Name(v.names))}
	if p := r.Port; p != nil {
		if p.Node != nil {
			j.NodeGUID = &p.Node.NodeGUID
		}
		j.LID = render.NonZero(p.To.LID)
		if p.To.Route != "" || p.To.LID == 0 {
			j.Route = render.Ptr(p.To.Route.String())
		}
	}
	if r.Number >= 0 {
		j.Port = &r.Number
	}
	if r.Block >= 0 {
		j.First = &r.Block
	}
	if r.RTT > 0 {
		j.RTT = render.Ptr(float64(r.RTT.Nanoseconds()) / 1000)
	}
	if r.Err == nil {
		j.Data = r.Attr
	} else {
		j.Error = render.Ptr(r.Err.Error())
	}
	if r.Packet != nil {
		h := r.Packet.Header()
		j.Packet = &jsonPacket{
			int(h.BaseVersion), int(h.Class), int(h.ClassVersion), int(h.Method), int(r.Packet.Status()),
			fmt.Sprintf("0x%016x", h.TID), int(h.Attr), h.Modifier, hex.EncodeToString(r.Packet.Data()),
		}
	}
	return j
}
