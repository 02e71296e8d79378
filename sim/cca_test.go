package sim

import (
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// congestionRequest sends a congestion control request to a LID. It reports whether a reply
// arrived, and decodes the reply into a.
func congestionRequest(t *testing.T, p umad.Port, lid ib.LID, method mad.Method, a mad.Attribute, modifier uint32, key mad.Key) (mad.Status, bool) {
	t.Helper()
	m := &umad.Message{Addr: umad.Addr{LID: lid, QPN: 1}}
	m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassCC, ClassVersion: 2, Method: method, Attr: a.Spec().ID, Modifier: modifier})
	m.MAD.SetKey(key)
	if err := mad.Encode(a, m.MAD.Data()); err != nil {
		t.Fatal(err)
	}
	if err := p.Send(m); err != nil {
		t.Fatal(err)
	}
	if p.Recv(m, time.Now()) != nil {
		return 0, false
	}
	if m.MAD.Status() == 0 {
		if err := m.MAD.Decode(a); err != nil {
			t.Fatal(err)
		}
	}
	return m.MAD.Status(), true
}

// mustCongestion expects a successful reply.
func mustCongestion(t *testing.T, p umad.Port, lid ib.LID, method mad.Method, a mad.Attribute, modifier uint32) {
	t.Helper()
	if status, ok := congestionRequest(t, p, lid, method, a, modifier, 0); !ok || status != 0 {
		t.Fatalf("%v %s: got status %#x, reply %v", method, mad.AttributeName(a), status, ok)
	}
}

// openCongestion returns the fabric's port to send from, and the LIDs of the switch and the
// second host.
func openCongestion(t *testing.T) (f *Fabric, p umad.Port, sw, host ib.LID) {
	t.Helper()
	f = build(t, "single-switch:hosts=3,radix=40")
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	return f, p, f.Node("switch1").Ports[0].Info.LID, f.Node("host002").Ports[1].Info.LID
}

func TestCongestionInfo(t *testing.T) {
	_, p, sw, host := openCongestion(t)
	var info mad.CongestionInfo
	mustCongestion(t, p, sw, mad.MethodGet, &info, 0)
	if want := (mad.CongestionInfo{Info: mad.CongestionCreditStarvation}); info != want {
		t.Errorf("switch: got %+v, want %+v", info, want)
	}
	mustCongestion(t, p, host, mad.MethodGet, &info, 0)
	if want := (mad.CongestionInfo{ControlTableCap: 2}); info != want {
		t.Errorf("host: got %+v, want %+v", info, want)
	}
	var class mad.ClassPortInfo
	m := &umad.Message{Addr: umad.Addr{LID: sw, QPN: 1}}
	m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassCC, ClassVersion: 2, Method: mad.MethodGet, Attr: mad.AttrClassPortInfo})
	if err := p.Send(m); err != nil {
		t.Fatal(err)
	}
	if err := p.Recv(m, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := m.MAD.Decode(&class); err != nil || class.ClassVersion != 2 {
		t.Errorf("got ClassPortInfo %+v, %v, want class version 2", class, err)
	}
	m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassCC, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrCongestionInfo})
	if err := p.Send(m); err != nil {
		t.Fatal(err)
	}
	if err := p.Recv(m, time.Now()); err != nil || m.MAD.Status() != mad.StatusBadVersion {
		t.Errorf("class version 1: got status %#x, %v, want %#x", m.MAD.Status(), err, mad.StatusBadVersion)
	}
}

func TestCongestionRefused(t *testing.T) {
	_, p, sw, host := openCongestion(t)
	for _, test := range []struct {
		name     string
		lid      ib.LID
		method   mad.Method
		a        mad.Attribute
		modifier uint32
		want     mad.Status
	}{
		{"switch setting of an adapter", host, mad.MethodGet, &mad.SwitchCongestionSetting{}, 0, mad.StatusBadMethodAttr},
		{"port setting of an adapter", host, mad.MethodGet, &mad.SwitchPortCongestionSetting{}, 0, mad.StatusBadMethodAttr},
		{"adapter setting of a switch", sw, mad.MethodSet, &mad.CACongestionSetting{}, 0, mad.StatusBadMethodAttr},
		{"table of a switch", sw, mad.MethodGet, &mad.CongestionControlTable{}, 0, mad.StatusBadMethodAttr},
		{"set of a log", sw, mad.MethodSet, &mad.CongestionLog{}, 0, mad.StatusBadMethodAttr},
		{"block of ports", sw, mad.MethodGet, &mad.SwitchPortCongestionSetting{}, 2, mad.StatusBadValue},
		{"set of a block of ports", sw, mad.MethodSet, &mad.SwitchPortCongestionSetting{}, 1 << 31, mad.StatusBadValue},
		{"block of the table", host, mad.MethodGet, &mad.CongestionControlTable{}, 2, mad.StatusBadValue},
		{"limit of the table", host, mad.MethodSet, &mad.CongestionControlTable{Limit: 128}, 0, mad.StatusBadValue},
	} {
		t.Run(test.name, func(t *testing.T) {
			if status, ok := congestionRequest(t, p, test.lid, test.method, test.a, test.modifier, 0); !ok || status != test.want {
				t.Errorf("got status %#x, reply %v, want %#x", status, ok, test.want)
			}
		})
	}
}

// TestSwitchCongestion checks that a Set changes the fields that its map selects.
func TestSwitchCongestion(t *testing.T) {
	_, p, sw, _ := openCongestion(t)
	first := mad.SwitchCongestionSetting{
		ControlMap: 0x1f, VictimMask: mad.PortMask{31: 6}, CreditMask: mad.PortMask{0: 1}, Threshold: 15, PacketSize: 8,
		CSThreshold: 2, CSReturnDelay: 0x8005, MarkingRate: 99,
	}
	set := first
	mustCongestion(t, p, sw, mad.MethodSet, &set, 0)
	if set != first {
		t.Errorf("got %+v, want %+v", set, first)
	}
	set = mad.SwitchCongestionSetting{ControlMap: mad.CongestionSetThreshold, Threshold: 3, MarkingRate: 7}
	mustCongestion(t, p, sw, mad.MethodSet, &set, 0)
	want := first
	want.ControlMap, want.Threshold, want.PacketSize = mad.CongestionSetThreshold, 3, 0
	var got mad.SwitchCongestionSetting
	mustCongestion(t, p, sw, mad.MethodGet, &got, 0)
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestPortCongestion sets ports in the second block, including ports that do not exist.
func TestPortCongestion(t *testing.T) {
	_, p, sw, _ := openCongestion(t)
	var set mad.SwitchPortCongestionSetting
	for i := range set.Ports {
		set.Ports[i] = mad.PortCongestionSetting{Valid: 1, Threshold: 5, PacketSize: uint8(i), Parameter: 300}
	}
	mustCongestion(t, p, sw, mad.MethodSet, &set, 1)
	var got, empty mad.SwitchPortCongestionSetting
	mustCongestion(t, p, sw, mad.MethodGet, &got, 1)
	for i := range got.Ports {
		want := mad.PortCongestionSetting{Valid: 1, Threshold: 5, PacketSize: uint8(i), Parameter: 300}
		if 32+i > 40 {
			want = mad.PortCongestionSetting{}
		}
		if got.Ports[i] != want {
			t.Errorf("port %d: got %+v, want %+v", 32+i, got.Ports[i], want)
		}
	}
	if mustCongestion(t, p, sw, mad.MethodGet, &got, 0); got != empty {
		t.Errorf("first block: got %+v, want no settings", got)
	}
}

func TestAdapterCongestion(t *testing.T) {
	f, p, _, host := openCongestion(t)
	set := mad.CACongestionSetting{PortControl: 1, ControlMap: 0x8001}
	for i := range set.SLs {
		set.SLs[i] = mad.SLCongestionSetting{Timer: 150, Increase: 1, TriggerThreshold: 2, Min: uint8(i)}
	}
	mustCongestion(t, p, host, mad.MethodSet, &set, 0)
	want := mad.CACongestionSetting{PortControl: 1, ControlMap: 0x8001}
	want.SLs[0] = mad.SLCongestionSetting{Timer: 150, Increase: 1, TriggerThreshold: 2}
	want.SLs[15] = mad.SLCongestionSetting{Timer: 150, Increase: 1, TriggerThreshold: 2, Min: 15}
	if set != want {
		t.Errorf("got %+v, want %+v", set, want)
	}

	table := mad.CongestionControlTable{Limit: 127}
	table.Entries[63] = mad.CongestionControlEntry{Shift: 3, Multiplier: 9}
	mustCongestion(t, p, host, mad.MethodSet, &table, 1)
	var got mad.CongestionControlTable
	mustCongestion(t, p, host, mad.MethodGet, &got, 0)
	if want := (mad.CongestionControlTable{Limit: 127}); got != want {
		t.Errorf("block 0: got %+v, want %+v", got, want)
	}
	if mustCongestion(t, p, host, mad.MethodGet, &got, 1); got != table {
		t.Errorf("block 1: got %+v, want %+v", got, table)
	}
	other := f.Node("host003").Ports[1].Info.LID
	if mustCongestion(t, p, other, mad.MethodGet, &got, 1); got != (mad.CongestionControlTable{}) {
		t.Errorf("another host: got %+v, want an empty table", got)
	}
}

// TestCongestionKey checks the protection by the key: without it, a Set is dropped, and
// the key is hidden if the protect bit is set.
func TestCongestionKey(t *testing.T) {
	_, p, sw, _ := openCongestion(t)
	key := mad.CongestionKeyInfo{Key: 77, LeasePeriod: 5, Violations: 9}
	mustCongestion(t, p, sw, mad.MethodSet, &key, 0)
	if want := (mad.CongestionKeyInfo{Key: 77, LeasePeriod: 5}); key != want {
		t.Errorf("set: got %+v, want %+v", key, want)
	}
	if _, ok := congestionRequest(t, p, sw, mad.MethodSet, &mad.SwitchCongestionSetting{}, 0, 78); ok {
		t.Error("a Set with a wrong key was answered")
	}
	if _, ok := congestionRequest(t, p, sw, mad.MethodGet, &key, 0, 0); !ok || key.Key != 77 || key.Violations != 2 {
		t.Errorf("got %+v, reply %v, want key 77, 2 violations", key, ok)
	}
	protected := mad.CongestionKeyInfo{Key: 77, ProtectBit: 1, Violations: 0}
	if _, ok := congestionRequest(t, p, sw, mad.MethodSet, &protected, 0, 77); !ok || protected.Violations != 0 {
		t.Errorf("got %+v, reply %v, want no violations", protected, ok)
	}
	if _, ok := congestionRequest(t, p, sw, mad.MethodGet, &key, 0, 0); !ok || key.Key != 0 || key.Violations != 1 {
		t.Errorf("got %+v, reply %v, want key 0, 1 violation", key, ok)
	}
	if _, ok := congestionRequest(t, p, sw, mad.MethodGet, &key, 0, 77); !ok || key.Key != 77 {
		t.Errorf("got %+v, reply %v, want key 77", key, ok)
	}
}

func TestCongestionLog(t *testing.T) {
	f, p, sw, host := openCongestion(t)
	advance := clocked(f)
	f.inUse = true
	f.timeStamp() // the clock starts
	for i := range 20 {
		advance(1024 * time.Microsecond)
		if i == 19 {
			do(t, f, "congest switch1[7] host002 host003 15")
		} else {
			do(t, f, "congest switch1[3] host002 host001")
		}
	}
	hosts := func(n string) ib.LID { return f.Node(n).Ports[1].Info.LID }
	var got mad.CongestionLog
	mustCongestion(t, p, sw, mad.MethodGet, &got, 0)
	if got.Type != mad.CongestionLogSwitch || got.Events != 20 || got.TimeStamp != 20_000 || !got.PortMap.Has(3) || !got.PortMap.Has(7) {
		t.Errorf("switch: got %+v", got)
	}
	if want := (mad.SwitchCongestionEvent{SLID: host, DLID: hosts("host003"), SL: 15, TimeStamp: 20_000}); got.SwitchEvents[0] != want {
		t.Errorf("latest event: got %+v, want %+v", got.SwitchEvents[0], want)
	}
	if want := (mad.SwitchCongestionEvent{SLID: host, DLID: hosts("host001"), TimeStamp: 6_000}); got.SwitchEvents[14] != want {
		t.Errorf("oldest event: got %+v, want %+v", got.SwitchEvents[14], want)
	}
	if mustCongestion(t, p, sw, mad.MethodGet, &got, 0); got.Events != 0 {
		t.Errorf("second read: got %d new events, want 0", got.Events)
	}
	mustCongestion(t, p, host, mad.MethodGet, &got, 0)
	if got.Type != mad.CongestionLogCA || got.Events != 20 || got.SLMap != 0x8001 {
		t.Errorf("host: got %+v", got)
	}
	if want := (mad.CACongestionEvent{SL: 15, LocalLID: host, RemoteLID: hosts("host003"), TimeStamp: 20_000}); got.CAEvents[0] != want {
		t.Errorf("latest event: got %+v, want %+v", got.CAEvents[0], want)
	}
	var now mad.TimeStamp
	if mustCongestion(t, p, host, mad.MethodGet, &now, 0); now.Time != 20_000 {
		t.Errorf("got time stamp %d, want 20000", now.Time)
	}
}

// FuzzCongestion sends arbitrary requests to the agents.
func FuzzCongestion(f *testing.F) {
	fabric, err := Build("single-switch:hosts=3")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var p mad.Packet
		copy(p[:], b)
		p[1] = byte(mad.ClassCC)
		for _, n := range fabric.Nodes {
			q := p
			if answered := fabric.answerCC(destination{node: n, entry: n.firstPort().Number}, &q); answered && q.Method() != mad.MethodGetResp {
				t.Errorf("got method %v, want GetResp", q.Method())
			}
		}
	})
}
