package umad_test

import (
	"errors"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// answering makes a port answer each message with the result of reply.
func answering(p *umadtest.Port, reply func(m *umad.Message)) {
	p.OnSend = func(p *umadtest.Port, m umad.Message) error {
		m = umadtest.Reply(m)
		reply(&m)
		p.Deliver(0, m)
		return nil
	}
}

func TestClient_Get(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		answering(p, func(m *umad.Message) { _ = mad.Encode(&mad.PortInfo{LID: 7, MKey: 1}, m.MAD.Data()) })
		var info mad.PortInfo
		if err := c.Get(t.Context(), umad.Target{LID: 7}, &info, umad.Modifier(3)); err != nil || info.LID != 7 || info.MKey != 1 {
			t.Errorf("got %+v, %v", info, err)
		}
		sent := p.Sent()[0].MAD
		if sent.Class() != mad.ClassSMPLIDRouted || sent.Method() != mad.MethodGet || sent.Attr() != mad.AttrPortInfo || sent.Modifier() != 3 {
			t.Errorf("got request %+v", sent.Header())
		}
	})
}

func TestClient_Get_Refused(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		answering(p, func(m *umad.Message) {
			_ = mad.Encode(&mad.PortCounters{SymbolErrors: 9}, m.MAD.Data())
			m.MAD.SetStatus(mad.StatusBadValue)
		})
		a := mad.PortCounters{PortSelection: mad.PortSelection{PortSelect: 1}}
		before := a
		err := c.Get(t.Context(), umad.Target{LID: 7}, &a)
		var status mad.StatusError
		var failed *umad.Error
		if !errors.As(err, &status) || !errors.As(err, &failed) || failed.Class != mad.ClassPM || failed.Attr != mad.AttrPortCounters || a != before {
			t.Errorf("got %v and %+v, want a refusal and no change", err, a)
		}
	})
}

// A Set sends the attribute and returns the values that the agent uses.
func TestClient_Set(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		var got mad.CongestionKeyInfo
		answering(p, func(m *umad.Message) {
			_ = m.MAD.Decode(&got)
			_ = mad.Encode(&mad.CongestionKeyInfo{Key: got.Key, LeasePeriod: 1}, m.MAD.Data())
		})
		a := mad.CongestionKeyInfo{Key: 5, LeasePeriod: 9}
		if err := c.Set(t.Context(), umad.Target{LID: 7}, &a, umad.Key(2), umad.Expect(umad.Identity{})); err != nil {
			t.Fatal(err)
		}
		if want := (mad.CongestionKeyInfo{Key: 5, LeasePeriod: 9}); got != want || a.LeasePeriod != 1 || p.Sent()[0].MAD.Key() != 2 {
			t.Errorf("got request %+v with key %d and reply %+v", got, uint64(p.Sent()[0].MAD.Key()), a)
		}
		if err := c.Set(t.Context(), umad.Target{LID: 7}, &a); err == nil || len(p.Sent()) != 1 {
			t.Errorf("got %v for a Set without the port that is meant", err)
		}
		a.ProtectBit = 2
		if err := c.Set(t.Context(), umad.Target{LID: 7}, &a, umad.Expect(umad.Identity{})); err == nil || len(p.Sent()) != 1 {
			t.Errorf("got %v for a value that does not fit", err)
		}
	})
}

func TestClient_SubmitGet(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		answering(p, func(m *umad.Message) { _ = mad.Encode(&mad.PortInfo{LID: m.Addr.LID}, m.MAD.Data()) })
		var infos [100]mad.PortInfo
		answered := 0
		for i := range infos {
			c.SubmitGet(umad.Target{LID: ib.LID(i + 1)}, &infos[i], func(err error) {
				if answered++; err != nil || infos[i].LID != ib.LID(i+1) {
					t.Errorf("%d: got LID %d, %v", i, infos[i].LID, err)
				}
			})
		}
		if err := c.Run(t.Context()); err != nil || answered != len(infos) {
			t.Errorf("got %d replies, %v", answered, err)
		}
	})
}

func TestInClass(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		answering(p, func(*umad.Message) {})
		for _, class := range []mad.Class{mad.ClassSA, mad.ClassPM, mad.ClassCC, mad.ClassMlnx} {
			if err := c.Get(t.Context(), umad.Target{LID: 7}, &mad.ClassPortInfo{}, umad.InClass(class)); err != nil {
				t.Error(err)
			}
			if got := p.Sent()[len(p.Sent())-1].MAD.Class(); got != class {
				t.Errorf("got class %v, want %v", got, class)
			}
		}
	})
}
