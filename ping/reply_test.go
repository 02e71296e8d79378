package ping

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// FuzzServe sends an arbitrary packet to a server. A reply must be the valid reply
// to a valid ping, and no server may answer it in turn.
func FuzzServe(f *testing.F) {
	m := pingFrom(7, 1)
	f.Add(m.MAD[:], uint32(0), uint16(7))
	m.MAD.SetMethod(mad.MethodSend)
	(&echo{answer: firstAnswerMethod, id: 1, payload: []byte("x")}).put(m.MAD.Data())
	f.Add(m.MAD[:], uint32(0), uint16(7))
	f.Add(m.MAD[:], uint32(110), uint16(0))
	f.Fuzz(func(t *testing.T, packet []byte, status uint32, lid uint16) {
		in := umad.Message{Addr: umad.Addr{LID: ib.LID(lid), QPN: 1}, Status: syscall.Errno(status)}
		copy(in.MAD[:], packet)
		port := pings(in)
		c := serveAll(t, ServeOptions{OUI: OUI, Name: "host.(none)"}, port).Counts()
		sent := port.Sent()
		if uint64(len(sent)) != c.Total.Answered || c.Total.Answered+c.Ignored != 1 {
			t.Fatalf("got %d replies, counts %+v, want one packet in the counts", len(sent), c)
		}
		if len(sent) == 0 {
			return
		}
		out := &sent[0]
		request, answer := in.MAD.Header(), out.MAD.Header()
		e, hasEcho := parseEcho(in.MAD.Data())
		want := mad.MethodGetResp
		if request.Method == mad.MethodSend {
			want = e.answer
		}
		request.Method = want
		if answer != request || out.Addr.LID != ib.LID(lid) || !bytes.HasPrefix(out.MAD.Data(), []byte("host.(none)\x00")) {
			t.Errorf("got reply\n%x to\n%x", out.MAD, in.MAD)
		}
		if got, ok := parseEcho(out.MAD.Data()); hasEcho && !e.isAnswer && (!ok || !got.isAnswer || got.id != e.id || !bytes.Equal(got.payload, e.payload)) {
			t.Errorf("got echo %+v, want %+v as an answer", got, e)
		}
		if rejectReason(out, OUI) == "" {
			t.Errorf("a server would answer the reply %x", out.MAD)
		}
	})
}
