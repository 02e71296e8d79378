package umad_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// linkTable returns the records for n links as they are in an answer.
func linkTable(t *testing.T, n int) []byte {
	t.Helper()
	b := make([]byte, 8*n)
	for i := range n {
		if err := mad.Encode(&mad.LinkRecord{FromLID: ib.LID(i + 1), ToLID: ib.LID(i + 2)}, b[8*i:]); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// serveTable answers GetTable with data in segments. drop, if set, loses packets in
// both directions; it gets their number, from 1.
func serveTable(data []byte, drop func(count int) bool) func(*umadtest.Port, umad.Message) error {
	senders := map[uint64]*umad.RMPPSender{}
	start := time.Now()
	count := 0
	lost := func() bool {
		count++
		return drop != nil && drop(count)
	}
	return onSend(func(p *umadtest.Port, m umad.Message) {
		if lost() {
			return
		}
		now := time.Since(start)
		s := senders[m.MAD.TID()]
		var out umad.Message
		if !m.MAD.RMPP().Flags.Has(mad.RMPPActive) {
			head := m.MAD
			head[umad.OffMethod] |= umad.ResponseBit
			clear(head.Data())
			head.SetSA(mad.SAHeader{AttributeOffset: 1})
			s = umad.NewRMPPSender(&head, data)
			senders[m.MAD.TID()] = s
		} else if s == nil || s.Receive(&m.MAD, now, &out.MAD) {
			return
		}
		for s.Next(now, &out.MAD) {
			if !lost() {
				p.Deliver(time.Millisecond, out)
			}
		}
	})
}

// getLinks requests all link records.
func getLinks(t *testing.T, c *umad.Client) ([]mad.LinkRecord, *umad.Table, error) {
	t.Helper()
	table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.LinkRecord{}})
	if err != nil {
		return nil, nil, err
	}
	all, err := umad.Records[mad.LinkRecord](table)
	return all, table, err
}

func TestClient_GetTable(t *testing.T) {
	for _, n := range []int{0, 1, 25, 26, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = serveTable(linkTable(t, n), nil)
				all, table, err := getLinks(t, c)
				if err != nil || len(all) != n || table.Clipped || n > 0 && all[n-1].ToLID != ib.LID(n+1) {
					t.Errorf("got %d records, error %v, want %d", len(all), err, n)
				}
				m := p.Sent()[0]
				if want := (umad.Addr{LID: 3, SL: 2, QPN: 1, QKey: umad.QP1QKey}); m.Addr != want || m.MAD.Method() != mad.MethodGetTable {
					t.Errorf("request: got %v to %+v, want %v to %+v", m.MAD.Method(), m.Addr, mad.MethodGetTable, want)
				}
			})
		})
	}
}

func TestClient_GetTableLossy(t *testing.T) {
	tests := []struct {
		name string
		drop func(int) bool
	}{
		{"request", func(n int) bool { return n == 1 }},
		{"first segment", func(n int) bool { return n == 2 }},
		{"every 5th packet", func(n int) bool { return n%5 == 0 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = serveTable(linkTable(t, 2000), tt.drop)
				if all, _, err := getLinks(t, c); err != nil || len(all) != 2000 {
					t.Errorf("got %d records, error %v, want 2000", len(all), err)
				}
				if s := c.Stats(); s.Timeouts != s.Retries {
					t.Errorf("got %d timeouts, want %d, as many as retries", s.Timeouts, s.Retries)
				}
			})
		})
	}
}

// TestClient_GetTableErrors checks requests for tables that fail. The replies to
// a failed request must not disturb the next request.
func TestClient_GetTableErrors(t *testing.T) {
	inBubble(t, umad.ClientOptions{Timeout: time.Second, Attempts: 3}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = nil
		start := time.Now()
		if _, _, err := getLinks(t, c); !errors.Is(err, umad.ErrTimeout) || len(p.Sent()) != 3 {
			t.Errorf("no reply: got error %v after %d requests, want %v after 3", err, len(p.Sent()), umad.ErrTimeout)
		}
		if took := time.Since(start); took < 7*time.Second || took > 8*time.Second {
			t.Errorf("no reply: took %v, want 7s to 8s", took)
		}
		checkIdle(t, c)
		if s := c.Stats(); s.Timeouts != 3 {
			t.Errorf("no reply: got %d timeouts, want 3", s.Timeouts)
		}

		var status mad.StatusError
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			r := umadtest.Reply(m)
			r.MAD.SetStatus(mad.StatusNoResources)
			p.Deliver(0, r)
		})
		if _, _, err := getLinks(t, c); !errors.As(err, &status) {
			t.Errorf("refused: got error %v, want a status", err)
		}

		p.OnSend = serveTable(linkTable(t, 2000), func(n int) bool { return n > 2 })
		var rmpp *umad.RMPPError
		if _, _, err := getLinks(t, c); !errors.As(err, &rmpp) || rmpp.Status != mad.RMPPTooManyRetries {
			t.Errorf("first segment only: got error %v, want status %v", err, mad.RMPPTooManyRetries)
		}
		if last := lastSent(p).RMPP(); last.Type != mad.RMPPAbort {
			t.Errorf("first segment only: last packet: got %+v, want an abort", last)
		}

		p.OnSend = serveTable(linkTable(t, 2000), nil)
		if _, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.LinkRecord{}, Limit: 1000}); !errors.As(err, &rmpp) || rmpp.Type != mad.RMPPStop {
			t.Errorf("too long: got error %v, want type %v", err, mad.RMPPStop)
		}
		if _, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.NodeRecord{}}); err == nil {
			t.Error("records of 8 bytes as node records: got no error")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.GetTable(ctx, &umad.TableRequest{Match: &mad.LinkRecord{}}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: got error %v, want %v", err, context.Canceled)
		}
		checkIdle(t, c)
		p.Attributes.SMLID = 0
		if _, _, err := getLinks(t, umad.NewClient(p, umad.ClientOptions{})); !errors.Is(err, umad.ErrNoSM) {
			t.Errorf("no subnet manager: got error %v, want %v", err, umad.ErrNoSM)
		}
	})
}

// lastSent returns the packet that was sent last.
func lastSent(p *umadtest.Port) *mad.Packet {
	sent := p.Sent()
	return &sent[len(sent)-1].MAD
}

// A transfer ends at its timeout even if it makes progress.
func TestClient_GetTableTimeout(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		serve := serveTable(linkTable(t, 20000), nil)
		p.OnSend = func(p *umadtest.Port, m umad.Message) error {
			time.Sleep(50 * time.Millisecond)
			return serve(p, m)
		}
		_, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.LinkRecord{}, Timeout: 300 * time.Millisecond})
		if last := lastSent(p).RMPP(); !errors.Is(err, umad.ErrTimeout) || last.Status != mad.RMPPTimeTooLong {
			t.Errorf("got error %v, last packet %+v, want %v and status %v", err, last, umad.ErrTimeout, mad.RMPPTimeTooLong)
		}
	})
}

// A transport that does RMPP itself, as the kernel does, returns the first segment
// together with the other segments' data.
func TestClient_GetTableReassembled(t *testing.T) {
	for _, n := range []int{0, 3, 25, 26, 500} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, _ *umad.Client) {
				p.Attributes.RMPP = true
				c := umad.NewClient(p, umad.ClientOptions{})
				data := linkTable(t, n)
				p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
					r := umadtest.Reply(m)
					r.MAD.SetSA(mad.SAHeader{AttributeOffset: 1})
					clear(r.MAD.Data())
					s := umad.NewRMPPSender(&r.MAD, data)
					s.Next(0, &r.MAD)
					r.Rest = data[min(len(data), 200):]
					p.Deliver(0, r)
				})
				all, table, err := getLinks(t, c)
				if err != nil || len(all) != n || table.Clipped || len(p.Sent()) != 1 {
					t.Errorf("got %d records by %d requests, error %v, want %d by 1", len(all), len(p.Sent()), err, n)
				}
				checkIdle(t, c)
			})
		})
	}
}

// A transport without RMPP returns a single packet, which may contain the
// whole answer's length.
func TestClient_GetTableClipped(t *testing.T) {
	tests := []struct {
		length  uint32
		records int
		clipped bool
	}{
		{20 + 8*3, 3, false},
		{220, 25, true},
		{20 + 8*40, 25, true},
		{0, 25, true},
		{5, 0, false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.length), func(t *testing.T) {
			inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
				p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
					r := umadtest.Reply(m)
					r.MAD.SetSA(mad.SAHeader{AttributeOffset: 1})
					r.MAD.SetRMPP(mad.RMPP{Flags: mad.RMPPActive, Length: tt.length})
					p.Deliver(0, r)
				})
				all, table, err := getLinks(t, c)
				if err != nil || len(all) != tt.records || table.Clipped != tt.clipped {
					t.Errorf("got %d records, clipped %t, error %v, want %d, clipped %t", len(all), table != nil && table.Clipped, err, tt.records, tt.clipped)
				}
			})
		})
	}
}
