package umad_test

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// answerPath answers requests for a path record: LID 0x1234 and service level 3.
var answerPath = onSend(func(p *umadtest.Port, m umad.Message) {
	r := umadtest.Reply(m)
	r.MAD[96], r.MAD[97] = 0x12, 0x34
	r.MAD[109] = 0xf3 // the upper four bits are the QoS class
	p.Deliver(0, r)
})

func TestClient_ResolveGUID(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = answerPath
		lid, err := c.ResolveGUID(t.Context(), 0x1112131415161718, 0)
		if err != nil || lid != 0x1234 {
			t.Fatalf("got LID %#x, error %v, want 0x1234", lid, err)
		}
		m := p.Sent()[0]
		if want := (umad.Addr{LID: 3, SL: 2, QPN: 1, QKey: umad.QP1QKey}); m.Addr != want || m.MAD.Class() != mad.ClassSA {
			t.Errorf("request: got address %+v, class %v, want %+v, %v", m.Addr, m.MAD.Class(), want, mad.ClassSA)
		}
		const want = "000000000000000c" + // component mask
			"0000000000000000" + // service ID
			"fec0000000000000" + "1112131415161718" +
			"fec0000000000000" + "0102030405060708"
		if got := hex.EncodeToString(m.MAD[48:96]); got != want {
			t.Errorf("request:\ngot  %s\nwant %s", got, want)
		}
		if _, err := c.ResolveGUID(t.Context(), 1, 77); err != nil || p.Sent()[1].Addr.LID != 77 {
			t.Errorf("other administrator: got a request to LID %d, error %v, want LID 77", p.Sent()[1].Addr.LID, err)
		}
	})
}

func TestClient_Path(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		p.OnSend = answerPath
		path, err := c.Path(t.Context(), ib.MakeGID(0xfec1<<48, 0x1112131415161718), 0)
		if err != nil || path.DLID != 0x1234 || path.SL != 3 {
			t.Fatalf("got %+v, error %v, want LID 0x1234 and service level 3", path, err)
		}
		if got, want := hex.EncodeToString(p.Sent()[0].MAD[64:80]), "fec10000000000001112131415161718"; got != want {
			t.Errorf("GID in the request: got %s, want %s", got, want)
		}
	})
}

func TestClient_ResolveGUIDErrors(t *testing.T) {
	inBubble(t, umad.ClientOptions{}, func(t *testing.T, p *umadtest.Port, c *umad.Client) {
		if lid, err := c.ResolveGUID(t.Context(), 1, 0); err == nil {
			t.Errorf("record with LID 0: got LID %d, want an error", lid)
		}
		p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
			r := umadtest.Reply(m)
			r.MAD.SetStatus(mad.StatusNoRecords)
			p.Deliver(0, r)
		})
		var status mad.StatusError
		if _, err := c.ResolveGUID(t.Context(), 1, 0); !errors.As(err, &status) {
			t.Errorf("no record: got error %v, want a status", err)
		}
		p.Attributes.SMLID = 0
		if _, err := umad.NewClient(p, umad.ClientOptions{}).ResolveGUID(t.Context(), 1, 0); !errors.Is(err, umad.ErrNoSM) {
			t.Errorf("no subnet manager: got error %v, want %v", err, umad.ErrNoSM)
		}
	})
}
