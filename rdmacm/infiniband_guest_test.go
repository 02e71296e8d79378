//go:build inguest

package rdmacm_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// gidOf returns a device's first GID.
func gidOf(t *testing.T, device string) ib.GID {
	t.Helper()
	devices, err := verbs.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if d.Name != device {
			continue
		}
		c, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		gid, err := c.GID(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		return ib.GID(gid.GID.As16())
	}
	t.Fatalf("found no device %s", device)
	return ib.GID{}
}

// nativeID returns an ID and its channel.
func nativeID(t *testing.T, space rdmacm.PortSpace, kind verbs.QPType) (*rdmacm.Channel, *rdmacm.ID) {
	t.Helper()
	c, err := rdmacm.NewChannel()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	id, err := c.NewID(space, kind)
	if err != nil {
		t.Fatal(err)
	}
	return c, id
}

// expect returns the next event of a type.
func expect(t *testing.T, c *rdmacm.Channel, want rdmacm.EventType) rdmacm.Event {
	t.Helper()
	e, err := c.Next(withTimeout(t))
	if err != nil || e.Type != want {
		t.Fatalf("got %v, %v (%v), want %v", e.Type, err, e.Err(), want)
	}
	return e
}

// must fails the test if a call has failed.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestInfiniBand connects two InfiniBand ports by their GIDs (AF_IB): the route comes from
// subnet administration, the messages are class CM datagrams. The queue pairs are
// numbers only, because the ports carry no data.
func TestInfiniBand(t *testing.T) {
	leaves(t)
	from, to := gidOf(t, "ibtest0"), gidOf(t, "ibtest1")
	// A request to a native address has no IP header, but the kernel sets its first
	// byte to 0.
	private := append([]byte{0}, bytes.Repeat([]byte("x"), 91)...)
	for _, c := range []struct {
		name  string
		space rdmacm.PortSpace // of the ID
		kind  verbs.QPType
		id    rdmacm.PortSpace // of the service
		port  uint16
	}{
		{"IB rc", rdmacm.PortSpaceIB, verbs.QPTypeRC, rdmacm.PortSpaceIB, 7001},
		{"IB uc", rdmacm.PortSpaceIB, verbs.QPTypeUC, rdmacm.PortSpaceIB, 7002},
		{"TCP", rdmacm.PortSpaceTCP, 0, rdmacm.PortSpaceTCP, 7003},
	} {
		t.Run(c.name, func(t *testing.T) {
			listening, listener := nativeID(t, c.space, c.kind)
			service := rdmacm.IBAddr{GID: to, PKey: 0xffff, ServiceID: c.id.ServiceID(c.port)}
			must(t, listener.Bind(service))
			must(t, listener.Listen(4))

			channel, id := nativeID(t, c.space, c.kind)
			must(t, id.ResolveAddr(rdmacm.IBAddr{GID: from, PKey: 0xffff}, service, time.Minute))
			expect(t, channel, rdmacm.EventAddrResolved)
			must(t, id.ResolveRoute(time.Minute))
			expect(t, channel, rdmacm.EventRouteResolved)
			device, err := id.Device()
			if err != nil || device.Name != "ibtest0" {
				t.Errorf("got device %s, %v, want ibtest0", device.Name, err)
			}
			routes, err := id.Routes()
			if err != nil || len(routes) == 0 || routes[0].SGID != from || routes[0].DGID != to || routes[0].SLID == 0 || routes[0].DLID == 0 || routes[0].MTU == 0 {
				t.Fatalf("got routes %+v, %v, want one from %v to %v with LIDs", routes, err, from, to)
			}
			t.Logf("route %+v", routes[0])

			param := rdmacm.ConnParam{PrivateData: private, QPN: 0x123, RetryCount: 3, RNRRetryCount: 4, ResponderResources: 2, InitiatorDepth: 3}
			must(t, id.Connect(service, param))
			request := expect(t, listening, rdmacm.EventConnectRequest)
			if got := request.Param; !bytes.Equal(got.PrivateData, private) || got.QPN != 0x123 || got.ResponderResources != 3 || got.InitiatorDepth != 2 {
				t.Errorf("got parameters %+v", got)
			}
			if a, err := request.ID.Addresses(); err != nil {
				t.Error(err)
			} else if peer, ok := a.Peer.(rdmacm.IBAddr); !ok || peer.GID != from {
				t.Errorf("got peer %v, want %v", a.Peer, from)
			}
			attr, err := request.ID.InitQPAttr(verbs.QPStateRTR)
			if err != nil || attr.Path == nil || attr.Path.DLID != routes[0].SLID || attr.DestQPN == nil || *attr.DestQPN != 0x123 {
				t.Errorf("got attributes %+v, %v, want the path to LID %v and QP 0x123", attr, err, routes[0].SLID)
			}
			must(t, request.ID.Accept(rdmacm.ConnParam{QPN: 0x456, PrivateData: []byte("answer")}))
			response := expect(t, channel, rdmacm.EventConnectResponse)
			if got := response.Param; got.QPN != 0x456 || !bytes.HasPrefix(got.PrivateData, []byte("answer\x00")) {
				t.Errorf("got parameters %+v", got)
			}
			must(t, id.Establish())
			expect(t, listening, rdmacm.EventEstablished)
			must(t, id.Disconnect())
			expect(t, listening, rdmacm.EventDisconnected)
			must(t, request.ID.Disconnect())
			expect(t, channel, rdmacm.EventDisconnected)
		})
	}
	t.Run("no listener", func(t *testing.T) {
		channel, id := nativeID(t, rdmacm.PortSpaceIB, verbs.QPTypeRC)
		service := rdmacm.IBAddr{GID: to, PKey: 0xffff, ServiceID: rdmacm.PortSpaceIB.ServiceID(7999)}
		must(t, id.ResolveAddr(rdmacm.IBAddr{GID: from, PKey: 0xffff}, service, time.Minute))
		expect(t, channel, rdmacm.EventAddrResolved)
		must(t, id.ResolveRoute(time.Minute))
		expect(t, channel, rdmacm.EventRouteResolved)
		must(t, id.Connect(service, rdmacm.ConnParam{QPN: 1}))
		e := expect(t, channel, rdmacm.EventRejected)
		if r, ok := errors.AsType[*rdmacm.RejectError](e.Err()); !ok || r.Reason != rdmacm.RejectInvalidServiceID {
			t.Errorf("got %v, want %v", e.Err(), rdmacm.RejectInvalidServiceID)
		}
	})
	t.Run("no route", func(t *testing.T) {
		channel, id := nativeID(t, rdmacm.PortSpaceIB, verbs.QPTypeRC)
		nobody := to
		nobody[15] ^= 0xff
		must(t, id.ResolveAddr(rdmacm.IBAddr{GID: from, PKey: 0xffff}, rdmacm.IBAddr{GID: nobody, ServiceID: rdmacm.PortSpaceIB.ServiceID(7001)}, time.Minute))
		expect(t, channel, rdmacm.EventAddrResolved)
		must(t, id.ResolveRoute(time.Minute))
		e := expect(t, channel, rdmacm.EventRouteError)
		if e.Err() == nil {
			t.Error("got no error")
		}
		t.Log(e.Err())
	})
}

// TestInfiniBand_Path connects with an earlier query's path record in place of a subnet
// administration query.
func TestInfiniBand_Path(t *testing.T) {
	leaves(t)
	from, to := rdmacm.IBAddr{GID: gidOf(t, "ibtest0"), PKey: 0xffff}, gidOf(t, "ibtest1")
	service := rdmacm.IBAddr{GID: to, PKey: 0xffff, ServiceID: rdmacm.PortSpaceIB.ServiceID(7006)}
	listening, listener := nativeID(t, rdmacm.PortSpaceIB, verbs.QPTypeRC)
	must(t, listener.Bind(service))
	must(t, listener.Listen(4))

	queried, first := nativeID(t, rdmacm.PortSpaceIB, verbs.QPTypeRC)
	must(t, first.ResolveAddr(from, service, time.Minute))
	expect(t, queried, rdmacm.EventAddrResolved)
	must(t, first.ResolveRoute(time.Minute))
	expect(t, queried, rdmacm.EventRouteResolved)
	records, err := first.PathRecords()
	must(t, err)
	if len(records) == 0 {
		t.Fatal("got no path record")
	}
	// A service level that subnet administration did not return shows that the kernel uses
	// the record: byte 53's low bits (InfiniBand Architecture, volume 1, 15.2.5.16).
	record := records[0]
	want, err := first.Routes()
	must(t, err)
	want[0].SL ^= 5
	record[53] ^= 5

	channel, id := nativeID(t, rdmacm.PortSpaceIB, verbs.QPTypeRC)
	if err := id.SetPath(record); !errors.Is(err, unix.EINVAL) {
		t.Errorf("before the address is resolved: got %v, want %v", err, unix.EINVAL)
	}
	must(t, id.ResolveAddr(from, service, time.Minute))
	expect(t, channel, rdmacm.EventAddrResolved)
	must(t, id.SetPath(record))
	expect(t, channel, rdmacm.EventRouteResolved)
	got, err := id.Routes()
	if err != nil || len(got) != 1 || got[0] != want[0] {
		t.Errorf("got routes %+v, %v, want %+v", got, err, want[:1])
	}
	must(t, id.Connect(service, rdmacm.ConnParam{QPN: 0x123}))
	request := expect(t, listening, rdmacm.EventConnectRequest)
	attr, err := request.ID.InitQPAttr(verbs.QPStateRTR)
	if err != nil || attr.Path == nil || attr.Path.SL != want[0].SL {
		t.Errorf("got attributes %+v, %v, want SL %d", attr, err, want[0].SL)
	}
}

// TestInfiniBand_Datagrams requests a datagram service by GID.
func TestInfiniBand_Datagrams(t *testing.T) {
	leaves(t)
	from, to := gidOf(t, "ibtest0"), gidOf(t, "ibtest1")
	listening, listener := nativeID(t, rdmacm.PortSpaceUDP, verbs.QPTypeUD)
	service := rdmacm.IBAddr{GID: to, PKey: 0xffff, ServiceID: rdmacm.PortSpaceUDP.ServiceID(7004)}
	must(t, listener.Bind(service))
	must(t, listener.Listen(4))
	channel, id := nativeID(t, rdmacm.PortSpaceUDP, verbs.QPTypeUD)
	must(t, id.ResolveAddr(rdmacm.IBAddr{GID: from, PKey: 0xffff}, service, time.Minute))
	expect(t, channel, rdmacm.EventAddrResolved)
	must(t, id.ResolveRoute(time.Minute))
	expect(t, channel, rdmacm.EventRouteResolved)
	must(t, id.Connect(service, rdmacm.ConnParam{QPN: 0x123, PrivateData: []byte("\x00\x00hello")}))
	request := expect(t, listening, rdmacm.EventConnectRequest)
	if !bytes.HasPrefix(request.Param.PrivateData, []byte("\x00\x00hello\x00")) {
		t.Errorf("got private data %q", request.Param.PrivateData)
	}
	must(t, request.ID.Accept(rdmacm.ConnParam{QPN: 0x456}))
	e := expect(t, channel, rdmacm.EventEstablished)
	if d := e.Datagram; d == nil || d.QPN != 0x456 || d.Path.DLID == 0 {
		t.Errorf("got destination %+v, want QP 0x456 and a LID", d)
	}
}

// TestInfiniBand_Refused checks the kernel's refusals: IPoIB's port space has IP
// addresses only (cma.c, cma_select_ib_ps), and an IP address needs an interface on
// IPoIB, which these ports do not have.
func TestInfiniBand_Refused(t *testing.T) {
	leaves(t)
	gid := gidOf(t, "ibtest0")
	_, id := nativeID(t, rdmacm.PortSpaceIPoIB, verbs.QPTypeUD)
	for _, service := range []uint64{rdmacm.PortSpaceIPoIB.ServiceID(1), rdmacm.PortSpaceUDP.ServiceID(7005)} {
		err := id.Bind(rdmacm.IBAddr{GID: gid, PKey: 0xffff, ServiceID: service})
		if !errors.Is(err, unix.EPROTONOSUPPORT) {
			t.Errorf("service ID %#x: got %v, want %v", service, err, unix.EPROTONOSUPPORT)
		}
	}
}
