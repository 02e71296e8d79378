package sim

import (
	"crypto/sha256"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// sendPortInfo sends a directed-route Get(PortInfo).
func sendPortInfo(t *testing.T, p umad.Port, tid uint64, route mad.Route) {
	t.Helper()
	m := umad.Message{Addr: umad.Addr{LID: ib.PermissiveLID}}
	m.MAD.PutSMP(mad.SMPRequest{
		TID: tid, Method: mad.MethodGet, Attr: mad.AttrPortInfo, Route: route, Modifier: 1,
		Directed: true, DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
	})
	if err := p.Send(&m); err != nil {
		t.Fatal(err)
	}
}

// TestModel_Seed checks that the same seed and events give the same replies at the same
// times.
func TestModel_Seed(t *testing.T) {
	run := func(seed uint64) (sum [sha256.Size]byte) {
		synctest.Test(t, func(t *testing.T) {
			f := build(t, "demo")
			f.Model = Model{
				Hop: time.Microsecond, Service: 20 * time.Microsecond, Queue: 16, Loss: 0.05, Duplicate: 0.05,
				Jitter: 10 * time.Microsecond, Reorder: 0.1, Late: time.Millisecond, Seed: seed,
			}
			events, err := f.RandomEvents(RandomOptions{Seed: seed, Count: 10, Within: 40 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			f.Play(events, nil)
			p, err := f.Open("")
			if err != nil {
				t.Fatal(err)
			}
			start, h := time.Now(), sha256.New()
			for i := range 2000 {
				sendPortInfo(t, p, uint64(i), []mad.Route{mad.RouteOf(1), mad.RouteOf(1, 1), mad.RouteOf(1, 2, 2)}[i%3])
				var m umad.Message
				for p.Recv(&m, time.Now().Add(20*time.Microsecond)) == nil {
					h.Write([]byte(time.Since(start).String()))
					h.Write(m.MAD[:])
				}
			}
			sum = [sha256.Size]byte(h.Sum(nil))
		})
		return sum
	}
	if a, b := run(1), run(1); a != b {
		t.Error("got different replies with the same seed")
	}
	if run(1) == run(2) {
		t.Error("got the same replies with different seeds")
	}
}

func TestModel_Duplicate(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	f.Model = Model{Duplicate: 1}
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	sendPortInfo(t, p, 1, mad.RouteOf(1))
	var m umad.Message
	n := 0
	for p.Recv(&m, time.Now()) == nil {
		n++
	}
	if n != 4 { // two requests with two replies each
		t.Errorf("got %d replies, want 4", n)
	}
}

func TestModel_Reorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=2,radix=4")
		f.Model = Model{Hop: time.Microsecond, Reorder: 0.2, Late: time.Millisecond, Seed: 3}
		p, err := f.Open("")
		if err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			sendPortInfo(t, p, uint64(i), mad.RouteOf(1))
		}
		overtaken, last := 0, uint64(0)
		for range 100 {
			var m umad.Message
			if err := p.Recv(&m, time.Time{}); err != nil {
				t.Fatal(err)
			}
			if m.MAD.TID() < last {
				overtaken++
			}
			last = m.MAD.TID()
		}
		if overtaken == 0 || overtaken > 50 {
			t.Errorf("got %d of 100 packets overtaken, want 1 to 50", overtaken)
		}
	})
}

func TestSend_ReturnPath(t *testing.T) {
	f := build(t, "fat-tree:levels=2,radix=4,pods=4")
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	at := f.firstAdapter()
	leaf := at.Peer.Node
	var up *Port // to a spine
	for i := range leaf.Ports {
		if q := &leaf.Ports[i]; q.Peer != nil && q.Peer.Node.IsSwitch() {
			up = q
		}
	}
	sendPortInfo(t, p, 1, mad.RouteOf(at.Number, up.Number))
	var m umad.Message
	if err := p.Recv(&m, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if want := mad.RouteOf(at.Peer.Number, up.Peer.Number); m.MAD.ReturnPath() != want {
		t.Errorf("got return path %v, want %v", m.MAD.ReturnPath(), want)
	}
}

func TestTraps(t *testing.T) {
	f := build(t, "single-switch:hosts=3,radix=4")
	if got := f.Notifications(); len(got) != 0 {
		t.Errorf("new fabric: got %d traps, want 0", len(got))
	}
	f.NewSender(f.firstAdapter())
	do(t, f, "unlink host002")
	do(t, f, "link host002[1]")
	traps := f.Notifications()
	if len(traps) != 1 || traps[0].To != f.firstAdapter() || traps[0].MAD.Method() != mad.MethodTrap || traps[0].MAD.Attr() != mad.AttrNotice {
		t.Fatalf("got traps %+v, want one", traps)
	}
	if len(f.Notifications()) != 0 {
		t.Error("second call: got traps, want none")
	}
	f.Unconfigure()
	do(t, f, "unlink host002")
	if len(f.Notifications()) != 0 {
		t.Error("without a subnet manager: got traps, want none")
	}
}
