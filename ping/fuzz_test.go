package ping

import (
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// FuzzReceive has a client take in any packet, for each agent that it may have
// asked: as what comes of the probe, and once more. Nothing breaks, and the probe
// has ended in one way or waits.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{}, uint16(7), uint8(0))
	for via := range viaNames {
		t := &Target{Via: Via(via), To: umad.Target{LID: 7}}
		t.prepare(&Options{OUI: OUI}, &umad.PortAttr{})
		answer := umad.Message{MAD: t.packet}
		answer.MAD.SetTID(1)
		answer = answerOf(answer)
		f.Add(answer.MAD[:], uint16(7), uint8(via))
	}
	f.Fuzz(func(t *testing.T, packet []byte, lid uint16, via uint8) {
		target := &Target{Via: Via(via % uint8(len(viaNames))), To: umad.Target{LID: 7}, Stats: newStats(1)}
		o := Options{OUI: OUI, Count: 1, Payload: []byte("payload"), Done: func(*Probe) {}}
		o.setDefaults()
		target.prepare(&o, &umad.PortAttr{})
		r := &runner{o: o, flights: newFlights(1), result: &Result{Total: newStats(1), Began: time.Now()}}
		p := r.place()
		p.target, p.attempt = target, 1
		r.take(p)
		r.in = umad.Message{Addr: umad.Addr{LID: ib.LID(lid)}}
		copy(r.in.MAD[:], packet)
		for range 2 {
			r.receive(time.Millisecond)
		}
		s := &target.Stats
		if ended := s.Received + s.Bad(); ended+r.waiting != 1 || s.Duplicated > 1 || s.Late > 0 || r.result.Total.counts() != s.counts() {
			t.Errorf("%d ended, %d wait: %+v", ended, r.waiting, s.counts())
		}
		if s.Received > 0 && (r.in.MAD.Status() != 0 || lid != 7) {
			t.Errorf("taken for a good answer: %x", packet)
		}
	})
}
