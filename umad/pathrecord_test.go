package umad

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

func TestResolveGUID(t *testing.T) {
	f, c := newFake(0, ClientOptions{})
	f.onSend = func(m *Message) {
		r := reply(m)
		r.MAD[96], r.MAD[97] = 0x12, 0x34
		f.arrive(0, r)
	}
	lid, err := c.ResolveGUID(t.Context(), 0x1112131415161718, 0)
	if err != nil || lid != 0x1234 {
		t.Fatalf("LID %#x, error %v", lid, err)
	}
	m := f.sent[0]
	if m.Addr != (Addr{LID: 3, SL: 2, QPN: 1, QKey: QP1QKey}) || m.MAD.Class() != mad.ClassSA {
		t.Errorf("sent to %+v, class %v", m.Addr, m.MAD.Class())
	}
	const want = "000000000000000c" + // component mask
		"0000000000000000" + // service ID
		"fec0000000000000" + "1112131415161718" +
		"fec0000000000000" + "0102030405060708"
	if got := hex.EncodeToString(m.MAD[48:96]); got != want {
		t.Errorf("sent %s\nwant %s", got, want)
	}

	if _, err := c.ResolveGUID(t.Context(), 1, 77); err != nil || f.sent[1].Addr.LID != 77 {
		t.Errorf("asked LID %d, error %v", f.sent[1].Addr.LID, err)
	}
}

func TestPath(t *testing.T) {
	f, c := newFake(0, ClientOptions{})
	f.onSend = func(m *Message) {
		r := reply(m)
		r.MAD[96], r.MAD[97] = 0x12, 0x34
		r.MAD[109] = 0xf3 // SL behind the QoS class
		f.arrive(0, r)
	}
	path, err := c.Path(t.Context(), ib.MakeGID(0xfec1<<48, 0x1112131415161718), 0)
	if err != nil || path.DLID != 0x1234 || path.SL != 3 {
		t.Fatalf("%+v, error %v", path, err)
	}
	if got := hex.EncodeToString(f.sent[0].MAD[64:80]); got != "fec10000000000001112131415161718" {
		t.Errorf("asked for %s", got)
	}
}

func TestResolveGUIDErrors(t *testing.T) {
	f, c := newFake(0, ClientOptions{})
	if _, err := c.ResolveGUID(t.Context(), 1, 0); err == nil {
		t.Error("LID 0 is taken for an answer")
	}
	f.onSend = func(m *Message) {
		r := reply(m)
		r.MAD.SetStatus(0x0300) // no records
		f.arrive(0, r)
	}
	var status mad.StatusError
	if _, err := c.ResolveGUID(t.Context(), 1, 0); !errors.As(err, &status) {
		t.Errorf("error %v", err)
	}
	f.attr.SMLID = 0
	if _, err := NewClient(f, ClientOptions{}).ResolveGUID(t.Context(), 1, 0); !errors.Is(err, ErrNoSM) {
		t.Errorf("error %v", err)
	}
}
