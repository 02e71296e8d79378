package umad

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// linkTable returns the records of n links as they are in an answer.
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

// tableServer answers GetTable with data in segments. drop, where set, loses
// packets in either direction.
func tableServer(f *fakeTransport, data []byte, drop func(count int) bool) {
	senders := map[uint64]*RMPPSender{}
	count := 0
	lost := func() bool {
		count++
		return drop != nil && drop(count)
	}
	f.onSend = func(m *Message) {
		if lost() {
			return
		}
		now := f.now.Sub(time.Unix(0, 0))
		s := senders[m.MAD.TID()]
		var out Message
		if !m.MAD.RMPP().Flags.Has(mad.RMPPActive) {
			head := m.MAD
			head[offMethod] |= responseBit
			clear(head.Data())
			head.SetSA(mad.SAHeader{AttributeOffset: 1})
			s = NewRMPPSender(&head, data)
			senders[m.MAD.TID()] = s
		} else if s == nil || s.Receive(&m.MAD, now, &out.MAD) {
			return
		}
		for s.Next(now, &out.MAD) {
			if !lost() {
				f.arrive(time.Millisecond, out)
			}
		}
	}
}

func askLinks(c *Client) ([]mad.LinkRecord, *Table, error) {
	table, err := c.Table(context.Background(), &TableRequest{Match: &mad.LinkRecord{}})
	if err != nil {
		return nil, nil, err
	}
	all, err := Records[mad.LinkRecord](table)
	return all, table, err
}

func TestGetTable(t *testing.T) {
	for _, n := range []int{0, 1, 25, 26, 5000} {
		f, c := newFake(0, ClientOptions{})
		tableServer(f, linkTable(t, n), nil)
		all, table, err := askLinks(c)
		if err != nil || len(all) != n || table.Clipped || n > 0 && all[n-1].ToLID != ib.LID(n+1) {
			t.Errorf("%d records: got %d, %v", n, len(all), err)
		}
		if f.sent[0].Addr != (Addr{LID: 3, SL: 2, QPN: 1, QKey: QP1QKey}) || f.sent[0].MAD.Method() != mad.MethodGetTable {
			t.Errorf("asked %+v", f.sent[0].Addr)
		}
		checkIdle(t, c)
	}
}

func TestTableLossy(t *testing.T) {
	for name, drop := range map[string]func(int) bool{
		"the request": func(n int) bool { return n == 1 },
		"the answer":  func(n int) bool { return n == 2 },
		"every 5th":   func(n int) bool { return n%5 == 0 },
	} {
		f, c := newFake(0, ClientOptions{})
		tableServer(f, linkTable(t, 2000), drop)
		if all, _, err := askLinks(c); err != nil || len(all) != 2000 {
			t.Errorf("%s: got %d records, %v", name, len(all), err)
		}
		checkIdle(t, c)
	}
}

func TestTableErrors(t *testing.T) {
	f, c := newFake(0, ClientOptions{Timeout: time.Second, Attempts: 3})
	f.onSend = func(*Message) {}
	start := f.now
	if _, _, err := askLinks(c); !errors.Is(err, ErrTimeout) || len(f.sent) != 3 {
		t.Errorf("silence: sent %d, error %v", len(f.sent), err)
	}
	if took := f.now.Sub(start); took < 7*time.Second || took > 8*time.Second {
		t.Errorf("gave up after %v", took)
	}
	checkIdle(t, c)

	var status mad.StatusError
	f.onSend = func(m *Message) {
		r := reply(m)
		r.MAD.SetStatus(mad.StatusNoResources)
		f.arrive(0, r)
	}
	if _, _, err := askLinks(c); !errors.As(err, &status) {
		t.Errorf("refused: error %v", err)
	}

	// The transfer begins and nothing follows.
	tableServer(f, linkTable(t, 2000), func(n int) bool { return n > 2 })
	var rmpp *RMPPError
	if _, _, err := askLinks(c); !errors.As(err, &rmpp) || rmpp.Status != mad.RMPPTooManyRetries {
		t.Errorf("broken off: error %v", err)
	}
	if last := f.sent[len(f.sent)-1].MAD; last.RMPP().Type != mad.RMPPAbort {
		t.Errorf("the last packet is %+v", last.RMPP())
	}

	tableServer(f, linkTable(t, 2000), nil)
	if _, err := c.Table(t.Context(), &TableRequest{Match: &mad.LinkRecord{}, Limit: 1000}); !errors.As(err, &rmpp) || rmpp.Type != mad.RMPPStop {
		t.Errorf("too long: error %v", err)
	}
	if _, err := c.Table(t.Context(), &TableRequest{Match: &mad.NodeRecord{}}); err == nil {
		t.Error("records of 8 bytes are taken for node records")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Table(ctx, &TableRequest{Match: &mad.LinkRecord{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	checkIdle(t, c)
	f.attr.SMLID = 0
	if _, _, err := askLinks(NewClient(f, ClientOptions{})); !errors.Is(err, ErrNoSM) {
		t.Errorf("no subnet manager: error %v", err)
	}
}

// TestTableTotalTime: however lively a transfer is, it ends in time.
func TestTableTotalTime(t *testing.T) {
	f, c := newFake(0, ClientOptions{})
	tableServer(f, linkTable(t, 20000), nil)
	serve := f.onSend
	f.onSend = func(m *Message) {
		f.now = f.now.Add(50 * time.Millisecond)
		serve(m)
	}
	_, err := c.Table(t.Context(), &TableRequest{Match: &mad.LinkRecord{}, Timeout: 300 * time.Millisecond})
	if last := f.sent[len(f.sent)-1].MAD.RMPP(); !errors.Is(err, ErrTimeout) || last.Status != mad.RMPPTimeTooLong {
		t.Errorf("error %v, the last packet is %+v", err, last)
	}
}

// TestTableWhole is a transport that does RMPP itself, as the kernel does: the
// first segment comes with the data of the others.
func TestTableWhole(t *testing.T) {
	for _, n := range []int{0, 3, 25, 26, 500} {
		f, _ := newFake(0, ClientOptions{})
		f.attr.RMPP = true
		c := NewClient(f, ClientOptions{})
		c.now, c.epoch = func() time.Time { return f.now }, f.now
		data := linkTable(t, n)
		f.onSend = func(m *Message) {
			r := *m
			r.MAD[offMethod] |= responseBit
			r.MAD.SetSA(mad.SAHeader{AttributeOffset: 1})
			clear(r.MAD.Data())
			s := NewRMPPSender(&r.MAD, data)
			s.Next(0, &r.MAD)
			r.Rest = data[min(len(data), 200):]
			f.arrive(0, r)
		}
		if all, table, err := askLinks(c); err != nil || len(all) != n || table.Clipped || len(f.sent) != 1 {
			t.Errorf("%d records: got %d, %v", n, len(all), err)
		}
	}
}

// TestTableClipped is a transport without RMPP: one packet, which tells how long
// the answer was, or not even that.
func TestTableClipped(t *testing.T) {
	for _, test := range []struct {
		length  uint32
		records int
		clipped bool
	}{{20 + 8*3, 3, false}, {220, 25, true}, {20 + 8*40, 25, true}, {0, 25, true}, {5, 0, false}} {
		f, c := newFake(0, ClientOptions{})
		f.onSend = func(m *Message) {
			r := reply(m)
			r.MAD.SetSA(mad.SAHeader{AttributeOffset: 1})
			r.MAD.SetRMPP(mad.RMPP{Flags: mad.RMPPActive, Length: test.length})
			f.arrive(0, r)
		}
		if all, table, err := askLinks(c); err != nil || len(all) != test.records || table.Clipped != test.clipped {
			t.Errorf("length %d: got %d records, %v", test.length, len(all), err)
		}
	}
}
