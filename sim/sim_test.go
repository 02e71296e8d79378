package sim

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

func build(t testing.TB, description string, options ...string) *Fabric {
	t.Helper()
	f, err := Build(description, options...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func client(t testing.TB, f *Fabric, id string, o umad.ClientOptions) *umad.Client {
	t.Helper()
	p, err := f.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	return umad.NewClient(p, o)
}

// get reads an attribute.
func get(t *testing.T, c *umad.Client, to umad.Target, a mad.Attribute, modifier uint32) error {
	t.Helper()
	return c.Get(context.Background(), to, a, umad.Modifier(modifier))
}

// set writes an attribute and decodes the reply.
func set(t *testing.T, c *umad.Client, to umad.Target, a mad.Attribute, modifier uint32) error {
	t.Helper()
	return c.Set(context.Background(), to, a, umad.Modifier(modifier), umad.Expect(umad.Identity{}))
}

func TestSend_Routes(t *testing.T) {
	f := build(t, "fat-tree:radix=4,pods=4")
	c := client(t, f, "", umad.ClientOptions{})
	for _, n := range f.Nodes {
		p := n.firstPort()
		var info mad.NodeInfo
		if err := get(t, c, umad.Target{LID: p.Info.LID}, &info, 0); err != nil {
			t.Errorf("%s by LID %d: got %v", n.ID, p.Info.LID, err)
			continue
		}
		if info.NodeGUID != n.Info.NodeGUID || info.PortGUID != p.GUID {
			t.Errorf("%s by LID: got a reply of 0x%x", n.ID, info.NodeGUID)
		}
	}
	var info mad.NodeInfo
	if err := get(t, c, umad.Target{Route: mad.RouteOf(1, 3, 2, 1)}, &info, 0); err != nil || info.NodeType != mad.NodeTypeCA {
		t.Errorf("directed route: got %v, %v, want an adapter", info.NodeType, err)
	}
}

func TestSetPortInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=2,radix=4")
		c := client(t, f, "", umad.ClientOptions{Timeout: time.Millisecond})
		f.master = nil // no subnet manager activates links
		sw := umad.Target{Route: mad.RouteOf(1)}
		read := func() (i mad.PortInfo) {
			if err := get(t, c, sw, &i, 2); err != nil {
				t.Fatal(err)
			}
			return i
		}
		change := func(change func(*mad.PortInfo)) error {
			i := read()
			i.State, i.PhysState = 0, 0
			change(&i)
			return set(t, c, sw, &i, 2)
		}
		host := f.Node("host002")

		if err := change(func(i *mad.PortInfo) { i.PhysState = ib.PhysDisabled }); err != nil {
			t.Fatal(err)
		}
		if i := read(); i.State != ib.PortDown || i.PhysState != ib.PhysDisabled || host.Ports[1].up() {
			t.Errorf("disabled: got %v/%v, peer %v", i.State, i.PhysState, host.Ports[1].Info.PhysState)
		}
		if err := change(func(i *mad.PortInfo) { i.PhysState = ib.PhysPolling; i.LinkWidthEnabled = ib.Width1X }); err != nil {
			t.Fatal(err)
		}
		if i := read(); i.State != ib.PortInit || i.LinkWidthActive != ib.Width1X {
			t.Errorf("enabled at 1X: got %v, %v, want Initialize, 1X", i.State, i.LinkWidthActive)
		}
		var refused mad.StatusError
		if err := change(func(i *mad.PortInfo) { i.State = ib.PortActive }); !errors.As(err, &refused) {
			t.Errorf("Initialize to Active: got %v, want a status", err)
		}
		for _, s := range []ib.PortState{ib.PortArmed, ib.PortActive} {
			if err := change(func(i *mad.PortInfo) { i.State = s }); err != nil || read().State != s {
				t.Errorf("to %v: got %v, %v", s, read().State, err)
			}
		}
	})
}

// The fabric's subnet manager activates a link that has trained, if both ends are enabled.
func TestSetPortInfo_Manager(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=2,radix=4")
		c := client(t, f, "", umad.ClientOptions{Timeout: time.Millisecond})
		sw, host := &f.Node("switch1").Ports[2].Info, &f.Node("host002").Ports[1].Info
		for _, step := range []struct {
			state ib.PortState
			phys  ib.PhysState
			want  ib.PortState
		}{
			{ib.PortNoChange, ib.PhysPolling, ib.PortActive},
			{ib.PortDown, ib.PhysNoChange, ib.PortActive},
			{ib.PortNoChange, ib.PhysDisabled, ib.PortDown},
			{ib.PortDown, ib.PhysNoChange, ib.PortDown},
			{ib.PortNoChange, ib.PhysPolling, ib.PortActive},
		} {
			i := *sw
			i.State, i.PhysState = step.state, step.phys
			if err := set(t, c, umad.Target{Route: mad.RouteOf(1)}, &i, 2); err != nil {
				t.Fatal(err)
			}
			if sw.State != step.want || host.State != step.want {
				t.Errorf("%v/%v: got %v, peer %v, want %v", step.state, step.phys, sw.State, host.State, step.want)
			}
		}
	})
}

func TestMKey(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	sw := f.Node("switch1")
	sw.Ports[0].Info.MKey = 0x1234
	to := umad.Target{Route: mad.RouteOf(1)}
	for _, test := range []struct {
		protect        uint8
		key            mad.Key
		get, set, show bool
	}{
		{0, 0, true, false, true},
		{1, 0, true, false, false},
		{2, 0, false, false, false},
		{2, 0x1234, true, true, true},
	} {
		t.Run(fmt.Sprintf("protect %d, key %#x", test.protect, test.key), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sw.Ports[0].Info.MKeyProtect = test.protect
				c := client(t, f, "", umad.ClientOptions{MKey: test.key, Timeout: time.Millisecond, Attempts: 1})
				var i mad.PortInfo
				err := get(t, c, to, &i, 0)
				if (err == nil) != test.get || err == nil && (i.MKey != 0) != test.show {
					t.Errorf("get: got %v, M_Key 0x%x, want success %v, M_Key shown %v", err, i.MKey, test.get, test.show)
				}
				desc := mad.NewNodeDescription("renamed")
				if err := set(t, c, to, &desc, 0); (err == nil) != test.set {
					t.Errorf("set: got %v, want success %v", err, test.set)
				}
			})
		})
	}
}

func TestTables(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	c := client(t, f, "", umad.ClientOptions{})
	to := umad.Target{Route: mad.RouteOf(1)}
	var lft mad.LinearForwardingTable
	lft.Ports[5] = 3
	if err := set(t, c, to, &lft, 2); err != nil || f.Node("switch1").LFT[2*64+5] != 3 {
		t.Errorf("forwarding table: got %v", err)
	}
	pkeys := mad.PKeyTable{PKeys: [32]mad.PKey{0xffff, 0x8001}}
	if err := set(t, c, to, &pkeys, 1<<16); err != nil || f.Node("switch1").Ports[1].PKeys[1] != 0x8001 {
		t.Errorf("P_Keys: got %v", err)
	}
	var vl mad.SLtoVLMapping
	vl.VL[3] = 2
	if err := set(t, c, to, &vl, 2); err != nil || f.Node("switch1").Ports[2].SLtoVL.VL[3] != 2 {
		t.Errorf("SL to VL: got %v", err)
	}
	var sm mad.SMInfo
	if err := get(t, c, umad.Target{Route: mad.Local}, &sm, 0); err != nil || sm.State != mad.SMMaster {
		t.Errorf("SMInfo: got %+v, %v, want a master", sm, err)
	}
}

// TestModel_Queue checks that a switch drops the packets that its queue cannot hold, and
// that the client's window adapts.
func TestModel_Queue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=2,radix=4")
		f.Model = Model{Hop: time.Microsecond, Service: 100 * time.Microsecond, Queue: 8}
		c := client(t, f, "", umad.ClientOptions{})
		answered := 0
		for range 1000 {
			c.Submit(&umad.Request{To: umad.Target{Route: mad.RouteOf(1)}, Attr: mad.AttrNodeInfo, Done: func(_ *umad.Request, r *umad.Reply) {
				if r.Err == nil {
					answered++
				}
			}})
		}
		if err := c.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		s := c.Stats()
		if answered < 1000 || s.Retries == 0 || s.Retries > 500 {
			t.Errorf("got %d of 1000 replies, %+v, want all, with 1 to 500 retries", answered, s)
		}
	})
}

// TestModel_Loss checks that the same seed loses the same packets.
func TestModel_Loss(t *testing.T) {
	count := func() (lost int) {
		f := build(t, "single-switch:hosts=2,radix=4")
		f.Model = Model{Loss: 0.2, Seed: 7}
		p, err := f.Open("")
		if err != nil {
			t.Fatal(err)
		}
		var m umad.Message
		for range 1000 {
			m.MAD.PutSMP(mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Directed: true, DrSLID: 0xffff, DrDLID: 0xffff})
			if err := p.Send(&m); err != nil {
				t.Fatal(err)
			}
		}
		for p.Recv(&m, time.Now()) == nil {
			lost--
		}
		return lost + 1000
	}
	a, b := count(), count()
	if a != b || a < 250 || a > 450 {
		t.Errorf("got %d, then %d of 1000 packets lost, want the same number from 250 to 450", a, b)
	}
}

func TestBuild_Errors(t *testing.T) {
	for _, d := range []string{
		"", "moon", "fat-tree:radix=3", "fat-tree:levels=4", "fat-tree:radix", "fat-tree:colour=red",
		"single-switch:hosts=50,radix=40", "torus:x=0", "demo:speed=HDR", "dragonfly:speed=UDR", "torus:width=3X",
	} {
		t.Run(d, func(t *testing.T) {
			if f, err := Build(d); err == nil {
				t.Errorf("got %d nodes, want an error", len(f.Nodes))
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	f := build(b, "fat-tree:levels=2,radix=36,pods=18")
	p, err := f.Open("")
	if err != nil {
		b.Fatal(err)
	}
	var m umad.Message
	b.ReportAllocs()
	for b.Loop() {
		m.MAD.PutSMP(mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrPortInfo, Modifier: 1, Directed: true, Route: mad.RouteOf(1, 19, 2), DrSLID: 0xffff, DrDLID: 0xffff})
		if err := p.Send(&m); err != nil {
			b.Fatal(err)
		}
		if err := p.Recv(&m, time.Time{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "MADs/s")
}

// A closed port is of no use.
func TestOpen_Closed(t *testing.T) {
	p, err := build(t, "demo").Open("")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Send(&umad.Message{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Send: got %v, want %v", err, fs.ErrClosed)
	}
	if err := p.Recv(&umad.Message{}, time.Time{}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Recv: got %v, want %v", err, fs.ErrClosed)
	}
	p.Interrupt()
	if err := p.(umad.Responder).Listen(umad.Service{Class: mad.ClassSA}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Listen: got %v, want %v", err, fs.ErrClosed)
	}
	var node mad.NodeInfo
	if err := umad.NewClient(p, umad.ClientOptions{}).Get(t.Context(), umad.Target{Route: mad.Local}, &node); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Get: got %v, want %v", err, fs.ErrClosed)
	}
}
