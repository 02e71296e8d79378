package sa

import (
	"context"
	"io"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/sa"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// BenchmarkView prints 10,000 NodeRecords.
func BenchmarkView(b *testing.B) {
	const records, stride = 10_000, 112
	result := nodeRecords(b, records, stride)
	for name, print := range map[string]func(*view, *render.Output) error{
		"table": (*view).text, "csv": (*view).csv, "json": (*view).json,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := print(&view{result: result}, render.NewOutput(io.Discard)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// nodeRecords returns a result whose records are stride bytes apart.
func nodeRecords(b *testing.B, records, stride int) *sa.Result {
	b.Helper()
	table := make([]byte, records*stride)
	for i := range records {
		guid := ib.GUID(0x2c90000000000 + i)
		record := mad.NodeRecord{
			LID: ib.LID(i + 1), NodeInfo: mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 1, NodeGUID: guid, PortGUID: guid + 1},
			Description: mad.NewNodeDescription("node " + guid.String()),
		}
		if err := mad.Encode(&record, table[i*stride:]); err != nil {
			b.Fatal(err)
		}
	}
	port := &umadtest.Port{Attributes: umad.PortAttr{LID: 1, SMLID: 2, RMPP: true}}
	port.OnSend = func(p *umadtest.Port, m umad.Message) error {
		reply := umadtest.Reply(m)
		reply.MAD.SetSA(mad.SAHeader{AttributeOffset: uint16(stride / 8)})
		reply.MAD.SetRMPP(mad.RMPP{Version: 1, Type: mad.RMPPData, Flags: mad.RMPPActive | mad.RMPPFirst | mad.RMPPLast})
		reply.Rest = table[copy(reply.MAD.Data(), table):]
		p.Deliver(0, reply)
		return nil
	}
	kind, err := sa.ParseKind("NodeRecord")
	if err != nil {
		b.Fatal(err)
	}
	result, err := sa.Run(b.Context(), sa.Options{Source: fabric.Source{OpenPort: func(context.Context) (umad.Port, error) { return port, nil }}, Filter: sa.NewFilter(kind)})
	if err != nil || result.Len() != records {
		b.Fatalf("got %d records, error %v, want %d", result.Len(), err, records)
	}
	return result
}
