package ping

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// FuzzServe has a server get any packet. Whatever it answers is a good answer to
// a good ping, and is nothing that a server would answer again.
func FuzzServe(f *testing.F) {
	m := pingFrom(7, 1)
	f.Add(m.MAD[:], uint32(0), uint16(7))
	m.MAD.SetMethod(mad.MethodSend)
	(&Echo{Answer: FirstAnswerMethod, ID: 1, Payload: []byte("x")}).Put(m.MAD.Data())
	f.Add(m.MAD[:], uint32(0), uint16(7))
	f.Add(m.MAD[:], uint32(110), uint16(0))
	f.Fuzz(func(t *testing.T, packet []byte, status uint32, lid uint16) {
		in := umad.Message{Addr: umad.Addr{LID: ib.LID(lid), QPN: 1}, Status: syscall.Errno(status)}
		copy(in.MAD[:], packet)
		port := &servedFake{arrivals: []umad.Message{in}}
		c := serveFake(t, ServeOptions{OUI: OUI, Name: "host.(none)"}, port).Counts()
		if uint64(len(port.sent)) != c.Total.Answered || c.Total.Answered+c.Ignored != 1 {
			t.Fatalf("sent %d: %+v", len(port.sent), c)
		}
		if len(port.sent) == 0 {
			return
		}
		out := &port.sent[0]
		request, answer := in.MAD.Header(), out.MAD.Header()
		echo, hasEcho := ParseEcho(in.MAD.Data())
		want := mad.MethodGetResp
		if request.Method == mad.MethodSend {
			want = echo.Answer
		}
		request.Method = want
		if answer != request || out.Addr.LID != ib.LID(lid) || !bytes.HasPrefix(out.MAD.Data(), []byte("host.(none)\x00")) {
			t.Errorf("%x\nwas answered by\n%x", in.MAD, out.MAD)
		}
		if got, ok := ParseEcho(out.MAD.Data()); hasEcho && !echo.IsAnswer && (!ok || !got.IsAnswer || got.ID != echo.ID || !bytes.Equal(got.Payload, echo.Payload)) {
			t.Errorf("%+v came back as %+v", echo, got)
		}
		if why := notPing(out, OUI); why == "" {
			t.Errorf("%x would be answered", out.MAD)
		}
	})
}
