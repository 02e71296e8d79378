package sa

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// recordSize is the distance between NodeRecords: 108 bytes and padding.
const recordSize = 112

// nodeTable returns the NodeRecords for n nodes as they are in a reply.
func nodeTable(t *testing.T, n int) []byte {
	t.Helper()
	b := make([]byte, n*recordSize)
	for i := range n {
		if err := mad.Encode(&mad.NodeRecord{LID: ib.LID(i + 1)}, b[i*recordSize:]); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// An administrator replies to a query with packets.
type administrator func(t *testing.T, query umad.Message) []umad.Message

// replying returns an administrator that replies with the segments in data, and change may
// change the packets.
func replying(data []byte, offset uint16, change func([]umad.Message) []umad.Message) administrator {
	return func(_ *testing.T, query umad.Message) []umad.Message {
		head := umadtest.Reply(query).MAD
		clear(head.Data())
		head.SetSA(mad.SAHeader{AttributeOffset: offset})
		var packets []umad.Message
		var m umad.Message
		s := umad.NewRMPPSender(&head, data)
		for s.Next(0, &m.MAD) {
			packets = append(packets, m)
			ack := m.MAD
			ack.SetRMPP(mad.RMPP{Version: 1, Type: mad.RMPPAck, Flags: mad.RMPPActive, Segment: m.MAD.RMPP().Segment, Length: m.MAD.RMPP().Segment + 1})
			s.Receive(&ack, 0, &m.MAD)
		}
		if change != nil {
			packets = change(packets)
		}
		return packets
	}
}

// control returns an administrator that replies with a packet that ends the transfer after
// the first segment.
func control(data []byte, kind mad.RMPPType, status mad.RMPPStatus) administrator {
	return replying(data, recordSize/8, func(p []umad.Message) []umad.Message {
		end := p[0]
		end.MAD.SetRMPP(mad.RMPP{Version: 1, Type: kind, Flags: mad.RMPPActive, Status: status})
		return []umad.Message{p[0], end}
	})
}

// Each defect in a reply is named. Repeated and reordered segments are no defect.
func TestRun_Defects(t *testing.T) {
	three := nodeTable(t, 3)
	for name, test := range map[string]struct {
		admin   administrator
		records int
		want    string // in the error; "": none
	}{
		"all records":     {replying(three, recordSize/8, nil), 3, ""},
		"no records":      {replying(nil, 0, nil), 0, ""},
		"without padding": {replying(three[:len(three)-4], recordSize/8, nil), 3, ""},
		"repeated": {replying(three, recordSize/8, func(p []umad.Message) []umad.Message {
			return []umad.Message{p[0], p[0], p[1], p[0], p[1], p[1]}
		}), 3, ""},
		"silence": {func(*testing.T, umad.Message) []umad.Message { return nil }, 0, "no reply in time"},
		"status": {func(_ *testing.T, query umad.Message) []umad.Message {
			r := umadtest.Reply(query)
			r.MAD.SetStatus(mad.StatusRequestDenied)
			return []umad.Message{r}
		}, 0, "request denied"},
		"status of no records": {func(_ *testing.T, query umad.Message) []umad.Message {
			r := umadtest.Reply(query)
			r.MAD.SetStatus(mad.StatusNoRecords)
			return []umad.Message{r}
		}, 0, ""},
		"AttributeOffset 0":         {replying(three, 0, nil), 0, "AttributeOffset is 0 in a reply with 336 bytes of records"},
		"AttributeOffset too small": {replying(three, 5, nil), 0, "AttributeOffset is 40 bytes, NodeRecord has 108"},
		"part of a record":          {replying(three[:250], recordSize/8, nil), 0, "the reply ends after 26 of 108 bytes of record 2"},
		"first segment only":        {replying(three, recordSize/8, func(p []umad.Message) []umad.Message { return p[:1] }), 0, "aborted: too many retries"},
		"last segment too long": {replying(three, recordSize/8, func(p []umad.Message) []umad.Message {
			h := p[1].MAD.RMPP()
			h.Length = 500
			p[1].MAD.SetRMPP(h)
			return p
		}), 0, "aborted: inconsistent last flag and payload length"},
		"end before the announced length": {replying(three, recordSize/8, func(p []umad.Message) []umad.Message {
			h := p[0].MAD.RMPP()
			h.Length = 2000
			p[0].MAD.SetRMPP(h)
			return p
		}), 0, "aborted: inconsistent last flag and payload length"},
		"aborted": {control(three, mad.RMPPAbort, mad.RMPPTimeTooLong), 0, "aborted by the peer: total time too long"},
		"stopped": {control(three, mad.RMPPStop, mad.RMPPNoResources), 0, "stopped by the peer: resources exhausted"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &umadtest.Port{Attributes: umad.PortAttr{LID: 1, SMLID: 2}}
				p.OnSend = func(p *umadtest.Port, m umad.Message) error {
					if !m.MAD.RMPP().Flags.Has(mad.RMPPActive) {
						for _, r := range test.admin(t, m) {
							p.Deliver(time.Millisecond, r)
						}
					}
					return nil
				}
				kind, err := ParseKind("NR")
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(t.Context(), Options{Source: fabric.Source{OpenPort: func(context.Context) (umad.Port, error) { return p, nil }}, Filter: NewFilter(kind)})
				switch {
				case test.want != "":
					if err == nil || !strings.Contains(err.Error(), test.want) {
						t.Errorf("got error %v, want %s", err, test.want)
					}
				case err != nil || r.Len() != test.records || r.Clipped():
					t.Errorf("got error %v, want %d records", err, test.records)
				default:
					var lids []ib.LID
					for i := range r.Len() {
						var record mad.NodeRecord
						if err := r.Record(i, &record); err != nil {
							t.Fatal(err)
						}
						lids = append(lids, record.LID)
					}
					if want := []ib.LID{1, 2, 3}[:test.records]; !slices.Equal(lids, want) {
						t.Errorf("got LIDs %v, want %v", lids, want)
					}
				}
			})
		})
	}
}

func TestRun_NoManager(t *testing.T) {
	kind, err := ParseKind("NR")
	if err != nil {
		t.Fatal(err)
	}
	p := &umadtest.Port{Attributes: umad.PortAttr{LID: 1}}
	if _, err := Run(t.Context(), Options{Source: fabric.Source{OpenPort: func(context.Context) (umad.Port, error) { return p, nil }}, Filter: NewFilter(kind)}); !errors.Is(err, umad.ErrNoSM) {
		t.Errorf("got error %v, want %v", err, umad.ErrNoSM)
	}
}
