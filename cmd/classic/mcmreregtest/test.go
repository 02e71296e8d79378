package mcmreregtest

import (
	"errors"
	"os"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// broadcast is the IP over InfiniBand broadcast group in the default partition.
var broadcast = ib.GID{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 12: 0xff, 13: 0xff, 14: 0xff, 15: 0xff}

const (
	timeout = 100 * time.Millisecond // per request and per attempt to receive
	waits   = 5                      // attempts to receive

	// maxJoins limits a member's join requests; the C tool does not.
	maxJoins = 10
)

// run makes all members leave and join, and queries their memberships. Like the C tool, it
// prints errors and continues.
func (t *test) run() {
	t.info("rereg_send_all... cnt = %d", len(t.members))
	for _, m := range t.members {
		if !t.rejoin(m) {
			t.error("rereg_send_all: rereg_port_gid 0x%016x failed", uint64(m.guid))
		}
	}
	t.info("rereg_send_all: sent %d requests", 2*len(t.members))
	t.receiveAll()
	t.queryAll()
}

// send sends a request about a port's membership and does not wait for the response. It
// reports false after an error.
func (t *test) send(name string, method mad.Method, m *member) bool {
	err := t.trySend(method, m)
	if err != nil {
		t.error("umad_send %s failed: %s", name, getopt.Strerror(errnoOf(err)))
	}
	return err == nil
}

func (t *test) trySend(method mad.Method, m *member) error {
	r := &mad.MCMemberRecord{MGID: broadcast, PortGID: m.gid, JoinState: 1}
	t.tid++
	out := &umad.Message{Timeout: timeout, Addr: umad.Addr{LID: t.local.SMLID, SL: t.local.SMSL, QPN: 1, QKey: umad.QP1QKey}}
	out.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSA, ClassVersion: mad.ClassSA.Version(), Method: method, TID: t.tid, Attr: r.Spec().ID})
	out.MAD.SetSA(mad.SAHeader{ComponentMask: mad.Components(r, &r.MGID, &r.PortGID, &r.JoinState)})
	if err := mad.Encode(r, out.MAD.Data()); err != nil {
		return err
	}
	for {
		err := t.port.Send(out)
		if !errors.Is(err, umad.ErrWouldBlock) {
			return err
		}
		var in umad.Message
		switch err := t.port.Recv(&in, time.Now().Add(time.Millisecond)); {
		case err == nil:
			t.early = append(t.early, in)
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		}
	}
}

// rejoin makes a port leave the group and join it again. It reports false after an error.
func (t *test) rejoin(m *member) bool {
	if !t.send("leave", mad.MethodDelete, m) || !t.send("join", mad.MethodSet, m) {
		return false
	}
	m.tid = t.tid
	m.sent++
	return true
}

// receive receives a message, and reports false after the time limit.
func (t *test) receive(in *umad.Message) (bool, error) {
	if len(t.early) > 0 {
		*in = t.early[0]
		t.early = t.early[1:]
		return true, nil
	}
	deadline := time.Now().Add(waits * timeout)
	for {
		err := t.port.Recv(in, deadline)
		switch {
		case err == nil:
			return true, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			t.error("umad_recv %d failed: %s", -int(errnoOf(err)), getopt.Strerror(errnoOf(err)))
			return false, err
		case !time.Now().Before(deadline):
			return false, nil
		}
	}
}

// method returns a message's method without the response bit.
func method(p *mad.Packet) mad.Method { return p.Method() &^ (mad.MethodGetResp &^ mad.MethodGet) }

// receiveAll receives the responses. It repeats the requests for members
// that could not join.
func (t *test) receiveAll() {
	t.info("rereg_recv_all...")
	received := 0
	var in umad.Message
	for {
		if ok, _ := t.receive(&in); !ok { // an error was printed
			break
		}
		received++
		t.check(&in.MAD)
	}
	t.info("rereg_recv_all: got %d responses", received)
}

// check repeats a member's requests after a status. Kernels and simulators change the
// upper half of transaction IDs: the C tool does not recognise the responses then.
func (t *test) check(p *mad.Packet) {
	if p.Status() == 0 || method(p) != mad.MethodGet {
		return
	}
	for _, m := range t.members {
		if m.tid != p.TID() {
			continue
		}
		if m.sent == maxJoins {
			return
		}
		t.info("guid 0x%016x: method = %x status = %x. Resending", uint64(m.guid), uint8(method(p)), uint16(p.Status()))
		t.rejoin(m)
		return
	}
	t.error("cannot find trid 0x%016x", p.TID())
}

// queryAll queries the memberships in sequence.
func (t *test) queryAll() {
	t.info("rereg_query_all...")
	for _, m := range t.members {
		if !t.send("query", mad.MethodGet, m) {
			t.error("query_all: rereg_send failed.")
			continue
		}
		var in umad.Message
		ok, err := t.receive(&in)
		if err != nil {
			t.error("query_all: rereg_recv failed.")
			continue
		}
		if p := &in.MAD; ok && p.Status() != 0 {
			t.info("guid 0x%016x: status %x, method %x", uint64(m.guid), uint16(p.Status()), uint8(method(p)))
		}
	}
	t.info("rereg_query_all: %d queried.", len(t.members))
}
