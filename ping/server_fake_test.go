package ping

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// servedFake is a port that what arrives is written down for. It ends a test's
// server once all of that was looked at.
type servedFake struct {
	attr     umad.PortAttr
	arrivals []umad.Message
	sent     []umad.Message
	end      func()                      // called when nothing is left; nil: Recv waits then
	onSend   func(m *umad.Message) error // nil: all is well
	onRecv   func()                      // before each one that waits
	heard    umad.Service
	refused  error // by Listen
	broken   error // by Recv, once nothing is left

	interrupted chan struct{} // closed by Interrupt, where it is not nil
}

func (f *servedFake) Attr() umad.PortAttr { return f.attr }
func (f *servedFake) Close() error        { return nil }

func (f *servedFake) Listen(s umad.Service) error {
	f.heard = s
	return f.refused
}

func (f *servedFake) Interrupt() {
	if f.interrupted != nil {
		close(f.interrupted)
	}
}

func (f *servedFake) Send(m *umad.Message) error {
	if f.onSend != nil {
		if err := f.onSend(m); err != nil {
			return err
		}
	}
	f.sent = append(f.sent, copied(m))
	return nil
}

func (f *servedFake) Recv(m *umad.Message, deadline time.Time) error {
	if f.onRecv != nil {
		f.onRecv()
	}
	if len(f.arrivals) > 0 {
		*m, f.arrivals = f.arrivals[0], f.arrivals[1:]
		return nil
	}
	if !deadline.IsZero() {
		return os.ErrDeadlineExceeded
	}
	if f.broken != nil {
		return f.broken
	}
	if f.end != nil {
		f.end()
	} else {
		<-f.interrupted
	}
	return os.ErrDeadlineExceeded
}

// copied returns a message that does not change with what the server has.
func copied(m *umad.Message) umad.Message {
	c := *m
	if c.Addr.GRH != nil {
		grh := *c.Addr.GRH
		c.Addr.GRH = &grh
	}
	return c
}

// pingFrom returns what an ibping client at a LID sends.
func pingFrom(lid ib.LID, tid uint64) umad.Message {
	m := umad.Message{Addr: umad.Addr{LID: lid, QPN: 1, SL: 3, PathBits: 2, PKeyIndex: 1}}
	m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: Class, ClassVersion: 1, Method: mad.MethodGet, TID: tid})
	putOUI(m.MAD[offOUI:], OUI)
	return m
}

// serveFake serves what arrives at a port and returns the server.
func serveFake(t testing.TB, o ServeOptions, f *servedFake) *Server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f.end = cancel
	s := NewServer(o)
	if err := s.Serve(ctx, f); err != nil {
		t.Fatal(err)
	}
	return s
}
