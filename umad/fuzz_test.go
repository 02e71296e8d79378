package umad_test

import (
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// FuzzReceive receives arbitrary bytes while two requests are in flight. Each
// request must end once, with its own reply or without a reply.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{}, uint32(0), uint32(0))
	f.Add([]byte{1, 0x81, 1, 0x81, 0, 0, 0, 0}, uint32(1), uint32(0))
	f.Add([]byte{1, 0x81, 1, 1, 0, 0, 0, 0}, uint32(2), uint32(syscall.ETIMEDOUT))
	f.Fuzz(func(t *testing.T, head []byte, tid, status uint32) {
		synctest.Test(t, func(t *testing.T) {
			p := newPort(0)
			c := umad.NewRepeatableClient(p, umad.ClientOptions{}) // so that the fuzzer can guess IDs
			p.OnSend = onSend(func(p *umadtest.Port, m umad.Message) {
				hostile := umad.Message{Status: syscall.Errno(status), MAD: m.MAD}
				copy(hostile.MAD[:], head)
				hostile.MAD.SetTID(uint64(tid))
				p.Deliver(0, hostile)
				p.Deliver(time.Millisecond, umadtest.Reply(m))
			})
			o := submit(c, 2)
			if err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for i := range o {
				if m := o[i].reply.MAD; o[i].calls != 1 || m != nil && (m.Attr() != mad.AttrPortInfo || !m.Method().IsResponse()) {
					t.Errorf("request %d: got %d ends, error %v, want one end with its own reply", i, o[i].calls, o[i].err)
				}
			}
			checkIdle(t, c)
		})
	})
}
