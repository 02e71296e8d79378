package main

import (
	"encoding/binary"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// kernel is the module's end of a device.
type kernel struct {
	t  testing.TB
	fd int
}

// plugged returns a bridge with a fabric that has three hosts on a switch. The second and
// the third host are plugged in; the fabric's subnet manager runs on the first.
func plugged(t testing.TB) (b *Bridge, first, second kernel) {
	t.Helper()
	f, err := sim.Build("single-switch:hosts=3")
	if err != nil {
		t.Fatal(err)
	}
	b = &Bridge{fabric: f, hosts: map[*sim.Port]*host{}}
	var kernels []kernel
	for _, name := range []string{"a", "b"} {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fds[1]) })
		b.devices = append(b.devices, &device{name: name, file: os.NewFile(uintptr(fds[0]), name), hosts: map[uint32]*host{}})
		kernels = append(kernels, kernel{t, fds[1]})
	}
	t.Cleanup(b.close)
	for i, node := range []string{"host002", "host003"} {
		if err := b.plug(Plug{Device: b.devices[i].name, Port: 1, Node: node}, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range kernels {
		k.expect(nodeAttr)
		k.expect(portAttr)
	}
	return b, kernels[0], kernels[1]
}

// expect reads the next record and checks its kind.
func (k kernel) expect(want kind) *record {
	k.t.Helper()
	var r record
	n, err := unix.Read(k.fd, r[:])
	if err != nil || n != len(r) || r.kind() != want {
		k.t.Fatalf("got %d bytes, kind %d, %v; want kind %d", n, r.kind(), err, want)
	}
	return &r
}

// expectEmpty checks that no record is waiting.
func (k kernel) expectEmpty() {
	k.t.Helper()
	var r record
	if n, err := unix.Read(k.fd, r[:]); err != unix.EAGAIN {
		k.t.Errorf("got %d bytes, kind %d, %v, want no record", n, r.kind(), err)
	}
}

// receive makes the bridge handle a record from a device.
func (b *Bridge) receive(index int, r record) { b.deliver(b.handle(b.devices[index], &r)) }

func smp(k kind, q mad.SMPRequest) record {
	r := newRecord(k, 1)
	binary.NativeEndian.PutUint64(r[offCookie:], 77)
	if q.DrSLID, q.DrDLID = permissive, permissive; q.Directed {
		r.setLIDs(permissive, permissive)
	}
	r.mad().PutSMP(q)
	return r
}

func TestAgents(t *testing.T) {
	b, first, second := plugged(t)
	lid := b.devices[1].hosts[1].at.Info.LID

	// A directed-route request as the kernel sends it: the hop pointer is 1.
	r := smp(sent, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Directed: true, Route: mad.RouteOf(1, 3)})
	r.mad()[offHopPointer] = 1
	b.receive(0, r)
	var info mad.NodeInfo
	reply := first.expect(arrived)
	if err := mad.Decode(&info, reply.mad().Data()); err != nil || info.NodeGUID != b.devices[1].hosts[1].at.Node.Info.NodeGUID {
		t.Errorf("got reply %x, %v", *reply.mad(), err)
	}
	if p := reply.mad(); !p.Returning() || p[offHopPointer] != 1 || p.Method() != mad.MethodGetResp {
		t.Errorf("got reply %x with hop pointer %d, want a GetResp with hop pointer 1", *p, p[offHopPointer])
	}

	r = smp(sent, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeDescription})
	r.setLIDs(7, lid)
	b.receive(0, r)
	if reply := first.expect(arrived); reply.dlid() != 7 || ib.LID(reply.u16(offSLID)) != lid {
		t.Errorf("got reply from LID %d to %d, want from %d to 7", reply.u16(offSLID), reply.dlid(), lid)
	}

	// No port has this LID.
	r.setLIDs(7, 0x1234)
	b.receive(0, r)
	first.expectEmpty()
	second.expectEmpty()

	b.receive(0, smp(query, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Directed: true}))
	if reply := first.expect(answer); binary.NativeEndian.Uint64(reply[offCookie:]) != 77 || reply.mad().Method() != mad.MethodGetResp {
		t.Errorf("got answer %x, want a GetResp with cookie 77", reply[:])
	}
}

func TestPortFollows(t *testing.T) {
	b, first, second := plugged(t)
	at := b.devices[0].hosts[1].at
	set := at.Info
	set.LID, set.SMLID, set.ClientReregister, set.State, set.PhysState = 99, 2, 1, 0, 0
	r := smp(sent, mad.SMPRequest{Method: mad.MethodSet, Attr: mad.AttrPortInfo, Modifier: 1, Directed: true, Route: mad.RouteOf(1, 2)})
	if err := mad.Encode(&set, r.mad().Data()); err != nil {
		t.Fatal(err)
	}
	b.receive(1, r)
	// The port's record precedes the reply, so that a subnet manager may rely on it.
	reported := first.expect(portAttr)
	// lid and reregister offsets in struct ibtest_port.
	if lid, reregister := reported.u16(offUnion+142), reported[offUnion+157]; lid != 99 || reregister != 1 {
		t.Errorf("got LID %d, reregister %d, want 99, 1", lid, reregister)
	}
	if second.expect(arrived).mad().Status() != 0 {
		t.Error("got an error status in the reply to Set, want success")
	}
	b.receive(0, newRecord(caps, 1))
	first.expectEmpty() // reregistration is requested once
}

func TestHosts(t *testing.T) {
	b, first, second := plugged(t)
	hosts := []*host{b.devices[0].hosts[1], b.devices[1].hosts[1]}
	ping := newRecord(sent, 1)
	ping.setLIDs(hosts[0].at.Info.LID, hosts[1].at.Info.LID)
	ping.mad().PutGMP(mad.Header{Class: 0x32, ClassVersion: 1, Method: mad.MethodGet, TID: 1 << 60})
	binary.NativeEndian.PutUint32(ping[offDestQP:], 1)
	b.receive(0, ping)
	request := second.expect(arrived)
	if request.mad().TID() != 1<<60 || ib.LID(request.u16(offSLID)) != hosts[0].at.Info.LID {
		t.Errorf("got request %x", request[:])
	}
	pong := newRecord(sent, 1)
	copy(pong[offUnion:], request[offUnion:])
	pong.turn()
	pong.mad()[3] |= 0x80
	b.receive(1, pong)
	if reply := first.expect(arrived); reply.mad().TID() != 1<<60 {
		t.Errorf("got reply %x", reply[:])
	}

	// A directed-route request reaches the subnet manager on the second host, and the
	// response returns by the same route.
	isSM := newRecord(caps, 1)
	binary.NativeEndian.PutUint32(isSM[offAdded:], uint32(mad.CapSM))
	b.receive(1, isSM)
	second.expect(portAttr)
	b.receive(0, smp(sent, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrSMInfo, Directed: true, Route: mad.RouteOf(1, 3)}))
	request = second.expect(arrived)
	if p := request.mad(); p[offHopPointer] != 2 || p.ReturnPath() != mad.RouteOf(2, 1) {
		t.Errorf("got request %x with hop pointer %d, return path %x, want 2, 0201", *p, p[offHopPointer], p.ReturnPath().Ports())
	}
	response := newRecord(sent, 1)
	response.setLIDs(permissive, permissive)
	*response.mad() = *request.mad()
	response.mad()[3], response.mad()[4] = byte(mad.MethodGetResp), 0x80
	b.receive(1, response)
	first.expect(arrived)
	b.receive(1, smp(query, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrSMInfo, Directed: true}))
	second.expect(decline)
}

func TestParsePlug(t *testing.T) {
	for text, want := range map[string]Plug{
		"ibtest0=":         {Device: "ibtest0", Port: 1},
		"ibtest1/2=H-1[2]": {Device: "ibtest1", Port: 2, Node: "H-1[2]"},
	} {
		if got, err := ParsePlug(text); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "ibtest0", "=x", "ibtest0/0=x", "ibtest0/x=x", "ibtest0/1/1=x", "../x=y"} {
		if got, err := ParsePlug(text); err == nil {
			t.Errorf("%s: got %+v, want an error", text, got)
		}
	}
}

// FuzzHandle checks that the bridge accepts any record from a device.
func FuzzHandle(f *testing.F) {
	add := func(r record) { f.Add(r[:]) }
	add(smp(sent, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Directed: true, Route: mad.RouteOf(1, 3)}))
	add(smp(query, mad.SMPRequest{Method: mad.MethodSet, Attr: mad.AttrPortInfo, Modifier: 1}))
	add(newRecord(caps, 1))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, _, _ := plugged(t)
		var r record
		copy(r[:], text)
		b.receive(0, r)
	})
}

// TestAccepts checks the partition key and the global route header in requests to a
// redirection's queue pair.
func TestAccepts(t *testing.T) {
	b, _, _ := plugged(t)
	from := b.hosts[&b.fabric.Node("host002").Ports[1]]
	from.at.PKeys = []mad.PKey{0xffff, 0x8002, 0x8001}
	to := &b.fabric.Node("host001").Ports[1]
	for _, test := range []struct {
		name  string
		key   mad.PKey
		byGID bool
		index uint16
		gid   string // in the header: none, "other" or "same"
		want  bool
	}{
		{"default key", 0, false, 0, "", true},
		{"another key than the default", 0, false, 1, "", false},
		{"key", 0x8001, false, 2, "", true},
		{"limited member", 0x0001, false, 2, "", true},
		{"another key", 0x8001, false, 0, "", false},
		{"no such key", 0x8001, false, 3, "", false},
		{"no GID", 0, true, 0, "", false},
		{"another GID", 0, true, 0, "other", false},
		{"GID", 0, true, 0, "same", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.fabric.SetPerfRedirect(b.fabric.Node("host003"), to, 9, test.key, test.byGID)
			r := newRecord(sent, 1)
			binary.NativeEndian.PutUint32(r[offDestQP:], 9)
			binary.NativeEndian.PutUint16(r[offPKey:], test.index)
			if test.gid != "" {
				r[offHasGRH] = 1
				gid := b.fabric.PerfRedirect(9).RedirectGID
				copy(r[offDGID:], gid[:])
			}
			if test.gid == "other" {
				r[offDGID]++
			}
			if got := b.accepts(from, &r); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}
