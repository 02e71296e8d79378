package bridge

import (
	"encoding/binary"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// kernel is the module's side of a device.
type kernel struct {
	t  testing.TB
	fd int
}

// plugged returns a bridge with a fabric of two hosts at a switch, both plugged
// in, without the subnet manager that the fabric has at the first.
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

// expect returns the next record, which is of some kind.
func (k kernel) expect(want kind) *record {
	k.t.Helper()
	var r record
	n, err := unix.Read(k.fd, r[:])
	if err != nil || n != len(r) || r.kind() != want {
		k.t.Fatalf("read %d bytes, kind %d, %v; want kind %d", n, r.kind(), err, want)
	}
	return &r
}

// nothing checks that no record is left.
func (k kernel) nothing() {
	k.t.Helper()
	var r record
	if n, err := unix.Read(k.fd, r[:]); err != unix.EAGAIN {
		k.t.Errorf("read %d bytes, kind %d, %v", n, r.kind(), err)
	}
}

// does has the bridge handle a record of a device.
func (b *Bridge) does(index int, r record) { b.deliver(b.handle(b.devices[index], &r)) }

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

	// A directed request as the kernel sends it, with the pointer at 1.
	r := smp(sent, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Directed: true, Route: "\x01\x03"})
	r.mad()[offHopPointer] = 1
	b.does(0, r)
	var info mad.NodeInfo
	reply := first.expect(arrived)
	if err := mad.Decode(&info, reply.mad().Data()); err != nil || info.NodeGUID != b.devices[1].hosts[1].at.Node.Info.NodeGUID {
		t.Errorf("reply %x, %v", *reply.mad(), err)
	}
	if p := reply.mad(); !p.Returning() || p[offHopPointer] != 1 || p.Method() != mad.MethodGetResp {
		t.Errorf("reply %x: pointer %d", *p, p[offHopPointer])
	}

	r = smp(sent, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeDescription})
	r.setLIDs(7, lid)
	b.does(0, r)
	if reply := first.expect(arrived); reply.dlid() != 7 || reply.u16(offSLID) != lid {
		t.Errorf("reply from LID %d to %d", reply.u16(offSLID), reply.dlid())
	}

	// Nobody has that LID.
	r.setLIDs(7, 0x1234)
	b.does(0, r)
	first.nothing()
	second.nothing()

	b.does(0, smp(query, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Directed: true}))
	if reply := first.expect(answer); binary.NativeEndian.Uint64(reply[offCookie:]) != 77 || reply.mad().Method() != mad.MethodGetResp {
		t.Errorf("answer %x", reply[:])
	}
}

func TestPortFollows(t *testing.T) {
	b, first, second := plugged(t)
	at := b.devices[0].hosts[1].at
	set := at.Info
	set.LID, set.SMLID, set.ClientReregister, set.State, set.PhysState = 99, 2, 1, 0, 0
	r := smp(sent, mad.SMPRequest{Method: mad.MethodSet, Attr: mad.AttrPortInfo, Modifier: 1, Directed: true, Route: "\x01\x02"})
	if err := mad.Encode(&set, r.mad().Data()); err != nil {
		t.Fatal(err)
	}
	b.does(1, r)
	// The port is told before the subnet manager, which may count on it.
	told := first.expect(portAttr)
	// Of struct ibtest_port: lid and reregister.
	if lid, reregister := told.u16(offUnion+142), told[offUnion+157]; lid != 99 || reregister != 1 {
		t.Errorf("LID %d, reregister %d", lid, reregister)
	}
	if second.expect(arrived).mad().Status() != 0 {
		t.Error("the Set was refused")
	}
	b.does(0, newRecord(caps, 1))
	first.nothing() // asks for registrations once
}

func TestHosts(t *testing.T) {
	b, first, second := plugged(t)
	hosts := []*host{b.devices[0].hosts[1], b.devices[1].hosts[1]}
	ping := newRecord(sent, 1)
	ping.setLIDs(hosts[0].at.Info.LID, hosts[1].at.Info.LID)
	ping.mad().PutGMP(mad.Header{Class: 0x32, ClassVersion: 1, Method: mad.MethodGet, TID: 1 << 60})
	binary.NativeEndian.PutUint32(ping[offDestQP:], 1)
	b.does(0, ping)
	request := second.expect(arrived)
	if request.mad().TID() != 1<<60 || request.u16(offSLID) != hosts[0].at.Info.LID {
		t.Errorf("request %x", request[:])
	}
	pong := newRecord(sent, 1)
	copy(pong[offUnion:], request[offUnion:])
	pong.turn()
	pong.mad()[3] |= 0x80
	b.does(1, pong)
	if reply := first.expect(arrived); reply.mad().TID() != 1<<60 {
		t.Errorf("reply %x", reply[:])
	}

	// A subnet manager on the second host is asked by a directed request, and
	// its response goes back the same way.
	isSM := newRecord(caps, 1)
	binary.NativeEndian.PutUint32(isSM[offAdded:], uint32(mad.CapSM))
	b.does(1, isSM)
	second.expect(portAttr)
	b.does(0, smp(sent, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrSMInfo, Directed: true, Route: "\x01\x03"}))
	request = second.expect(arrived)
	if p := request.mad(); p[offHopPointer] != 2 || string(p.ReturnPath()) != "\x02\x01" {
		t.Errorf("request %x: pointer %d, path back %x", *p, p[offHopPointer], p.ReturnPath())
	}
	response := newRecord(sent, 1)
	response.setLIDs(permissive, permissive)
	*response.mad() = *request.mad()
	response.mad()[3], response.mad()[4] = byte(mad.MethodGetResp), 0x80
	b.does(1, response)
	first.expect(arrived)
	b.does(1, smp(query, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrSMInfo, Directed: true}))
	second.expect(decline)
}

func TestParsePlug(t *testing.T) {
	for text, want := range map[string]Plug{
		"ibtest0=":         {"ibtest0", 1, ""},
		"ibtest1/2=H-1[2]": {"ibtest1", 2, "H-1[2]"},
	} {
		if got, err := ParsePlug(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "ibtest0", "=x", "ibtest0/0=x", "ibtest0/x=x", "ibtest0/1/1=x", "../x=y"} {
		if got, err := ParsePlug(text); err == nil {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// FuzzHandle checks that anything may be read from a device.
func FuzzHandle(f *testing.F) {
	add := func(r record) { f.Add(r[:]) }
	add(smp(sent, mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrNodeInfo, Directed: true, Route: "\x01\x03"}))
	add(smp(query, mad.SMPRequest{Method: mad.MethodSet, Attr: mad.AttrPortInfo, Modifier: 1}))
	add(newRecord(caps, 1))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, _, _ := plugged(t)
		var r record
		copy(r[:], text)
		b.does(0, r)
	})
}
