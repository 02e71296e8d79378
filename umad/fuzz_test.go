package umad

import (
	"syscall"
	"testing"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// FuzzReceive lets any bytes arrive while two requests are in flight. Each has
// to end once, by its own answer or by none.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{}, uint32(0), uint32(0))
	f.Add([]byte{1, 0x81, 1, 0x81, 0, 0, 0, 0}, uint32(1<<attemptBits|1), uint32(0))
	f.Add([]byte{1, 0x81, 1, 1, 0, 0, 0, 0}, uint32(2<<attemptBits|1), uint32(syscall.ETIMEDOUT))
	f.Fuzz(func(t *testing.T, head []byte, tid, status uint32) {
		port, c := newFake(0, ClientOptions{})
		c.table.last = 0 // so that the fuzzer can guess
		port.onSend = func(m *Message) {
			var hostile Message
			hostile.Status = syscall.Errno(status)
			hostile.MAD = m.MAD
			copy(hostile.MAD[:], head)
			hostile.MAD.SetTID(uint64(tid))
			port.arrive(0, hostile)
			port.arrive(time.Millisecond, reply(m))
		}
		var o [2]outcome
		for i := range o {
			c.Submit(o[i].request(uint32(i)))
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range o {
			if m := o[i].reply.MAD; o[i].calls != 1 || m != nil && (m.Attr() != mad.AttrPortInfo || !m.Method().IsResponse()) {
				t.Errorf("request %d ended %d times: %v", i, o[i].calls, o[i].err)
			}
		}
		checkIdle(t, c)
	})
}
