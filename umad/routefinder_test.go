package umad_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// A directedPort is a port that cannot send subnet management packets to LIDs.
type directedPort struct {
	umad.Port
	t     *testing.T
	kinds map[mad.Class]int // packets sent
	fail  func() error      // next Send's error; may be nil
}

func (p *directedPort) Attr() umad.PortAttr {
	a := p.Port.Attr()
	a.DirectedOnly = true
	return a
}

func (p *directedPort) Send(m *umad.Message) error {
	if p.fail != nil {
		if err := p.fail(); err != nil {
			return err
		}
	}
	p.kinds[m.MAD.Class()]++
	if m.MAD.Class() == mad.ClassSMPLIDRouted || m.MAD.Class().IsSMP() && m.Addr.LID != ib.PermissiveLID {
		p.t.Errorf("sent %v to LID %d, want a directed route", m.MAD.Class(), m.Addr.LID)
	}
	return p.Port.Send(m)
}

func openDirected(t *testing.T, description string) (*sim.Fabric, *directedPort) {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	port, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	return f, &directedPort{Port: port, t: t, kinds: map[mad.Class]int{}}
}

// Subnet management packets to all LIDs arrive along directed routes. Each forwarding
// table block is requested once.
func TestRouteFinder(t *testing.T) {
	f, p := openDirected(t, "fat-tree:levels=3,radix=4,pods=4")
	defer p.Close()
	c := umad.NewClient(p, umad.ClientOptions{})
	got := map[ib.GUID]ib.LID{}
	lids := 0
	for _, n := range f.Nodes {
		for i := range n.Ports {
			lid := n.Ports[i].Info.LID
			if lid == 0 {
				continue
			}
			lids++
			for range 2 {
				c.Submit(&umad.Request{To: umad.Target{LID: lid}, Attr: mad.AttrNodeInfo, Done: func(r *umad.Request, reply *umad.Reply) {
					var info mad.NodeInfo
					if reply.Err != nil || reply.MAD.Decode(&info) != nil {
						t.Errorf("LID %d: %v", r.To.LID, reply.Err)
					}
					got[info.PortGUID] = r.To.LID
				}})
			}
		}
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(got) != lids {
		t.Errorf("got replies of %d ports, want %d", len(got), lids)
	}
	for _, n := range f.Nodes {
		for i := range n.Ports {
			if p := &n.Ports[i]; p.Info.LID != 0 && got[p.GUID] != p.Info.LID {
				t.Errorf("%v: got LID %d, want %d", p, got[p.GUID], p.Info.LID)
			}
		}
	}
	// NodeInfo and PortInfo or forwarding blocks from the nodes by each route to them,
	// and two requests for each LID.
	if sent := p.kinds[mad.ClassSMPDirected]; sent > 2*lids+8*lids {
		t.Errorf("sent %d packets for %d LIDs", sent, lids)
	}

	// The routes are known now, also for a request that continues along a route.
	host := f.Node("host00005").Ports[1].Info.LID
	before := p.kinds[mad.ClassSMPDirected]
	reply, err := c.Call(t.Context(), &umad.Request{To: umad.Target{LID: f.Node("host00005").Ports[1].Peer.Node.Ports[0].Info.LID, Route: mad.RouteOf(1)}, Attr: mad.AttrNodeInfo})
	var info mad.NodeInfo
	if err != nil || reply.MAD.Decode(&info) != nil || info.NodeType != mad.NodeTypeCA {
		t.Errorf("combined route: got %+v, error %v, want the first host", info, err)
	}
	if _, err := c.Call(t.Context(), &umad.Request{To: umad.Target{LID: host}, Class: mad.ClassPM, Attr: mad.AttrClassPortInfo}); err != nil {
		t.Errorf("performance management: %v", err)
	}
	if sent := p.kinds[mad.ClassSMPDirected] - before; sent != 1 || p.kinds[mad.ClassPM] != 1 {
		t.Errorf("sent %d and %d packets, want 1 and 1", sent, p.kinds[mad.ClassPM])
	}
}

func TestRouteFinder_Errors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, p := openDirected(t, "fat-tree:levels=2,radix=4,pods=2")
		defer p.Close()
		c := umad.NewClient(p, umad.ClientOptions{Timeout: 50 * time.Millisecond})
		dead := f.Node("leaf002")
		dead.Silent = true
		loop := f.Node("host00002").Ports[1].Info.LID
		f.Node("leaf001").LFT[loop] = 3
		for _, port := range f.Node("leaf001").Ports[1:] {
			if port.Peer != nil && port.Peer.Node.IsSwitch() {
				port.Peer.Node.LFT[loop] = port.Peer.Number
				f.Node("leaf001").LFT[loop] = port.Number
			}
		}
		for name, test := range map[string]struct {
			lid  ib.LID
			want string
		}{
			"no route": {4000, "find directed route to LID 4000: at 0,1: switch 0x"},
			"loop":     {loop, "more than 63 hops: the forwarding tables may contain a loop"},
			"silent":   {f.Node("host00003").Ports[1].Info.LID, "no reply in time"},
		} {
			for range 2 { // the second request uses the first request's result
				_, err := c.Call(t.Context(), &umad.Request{To: umad.Target{LID: test.lid}, Attr: mad.AttrNodeInfo})
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: got error %v, want %s", name, err, test.want)
				}
			}
		}
	})
}

// A run's end ends the requests that wait for a route.
func TestRouteFinder_Abort(t *testing.T) {
	f, p := openDirected(t, "fat-tree:levels=2,radix=4,pods=2")
	defer p.Close()
	broken := errors.Join(umad.ErrDeviceRemoved)
	sent := 0
	p.fail = func() error {
		if sent++; sent > 2 {
			return broken
		}
		return nil
	}
	c := umad.NewClient(p, umad.ClientOptions{})
	lid := f.Node("host00004").Ports[1].Info.LID
	ended := 0
	for range 3 {
		c.Submit(&umad.Request{To: umad.Target{LID: lid}, Attr: mad.AttrNodeInfo, Done: func(_ *umad.Request, reply *umad.Reply) {
			ended++
			if !errors.Is(reply.Err, umad.ErrDeviceRemoved) {
				t.Errorf("got error %v, want that of the port", reply.Err)
			}
		}})
	}
	if err := c.Run(t.Context()); !errors.Is(err, umad.ErrDeviceRemoved) || ended != 3 {
		t.Fatalf("got error %v, %d requests ended, want 3", err, ended)
	}
	p.fail = nil
	if _, err := c.Call(t.Context(), &umad.Request{To: umad.Target{LID: lid}, Attr: mad.AttrNodeInfo}); err != nil {
		t.Errorf("after the failure: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Call(ctx, &umad.Request{To: umad.Target{LID: 4000}, Attr: mad.AttrNodeInfo}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: got error %v", err)
	}
}
