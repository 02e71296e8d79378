package ping

import (
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// FuzzReceive receives an arbitrary packet twice, after a probe to each agent type. The
// probe must end once, or wait.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{}, uint16(7), uint8(0))
	for agent := range agentNames {
		t := &Target{Agent: Agent(agent), To: umad.Target{LID: 7}}
		t.prepare(&Options{OUI: OUI}, &umad.PortAttr{})
		reply := umad.Message{MAD: t.packet}
		reply.MAD.SetTID(1)
		reply = serverReply(reply)
		f.Add(reply.MAD[:], uint16(7), uint8(agent))
	}
	f.Fuzz(func(t *testing.T, packet []byte, lid uint16, agent uint8) {
		target := &Target{Agent: Agent(agent % uint8(len(agentNames))), To: umad.Target{LID: 7}, Stats: newStats(1)}
		o := Options{OUI: OUI, Count: 1, Payload: []byte("payload"), Done: func(*Probe) {}}
		o.setDefaults()
		target.prepare(&o, &umad.PortAttr{})
		r := &runner{o: o, sent: newSent(1), result: &Result{Total: newStats(1), Start: time.Now()}}
		r.sent.Add(0).Data = probe{target: target, attempt: 1}
		r.in = umad.Message{Addr: umad.Addr{LID: ib.LID(lid)}}
		copy(r.in.MAD[:], packet)
		for range 2 {
			r.receive(time.Millisecond)
		}
		s := &target.Stats
		if ended := s.Received + s.Bad(); ended+r.sent.Outstanding() != 1 || s.Duplicated > 1 || s.Late > 0 || r.result.Total.counts() != s.counts() {
			t.Errorf("got %d ended and %d waiting probes, statistics %+v, want one probe", ended, r.sent.Outstanding(), s.counts())
		}
		if s.Received > 0 && (r.in.MAD.Status() != 0 || lid != 7) {
			t.Errorf("got a valid reply from LID %d, want none: %x", lid, packet)
		}
	})
}
