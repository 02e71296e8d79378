package sim

import (
	"errors"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// saClient returns a client at a fabric node.
func saClient(t testing.TB, description, node string, change func(*Fabric)) (*Fabric, *umad.Client) {
	t.Helper()
	f, err := Build(description)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(f)
	}
	p, err := f.Open(node)
	if err != nil {
		t.Fatal(err)
	}
	return f, umad.NewClient(p, umad.ClientOptions{})
}

// query returns the records that match a request.
func query[T any, R interface {
	*T
	mad.Attribute
}](t testing.TB, c *umad.Client, match R, fields ...any) []T {
	t.Helper()
	table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: match, Mask: mad.Components(match, fields...)})
	if err != nil {
		t.Fatal(err)
	}
	if table.Clipped {
		t.Fatal("the table is clipped")
	}
	all, err := umad.Records[T, R](table)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAdministration_Nodes(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	want := 0
	for range f.endPorts() {
		want++
	}
	all := query(t, c, &mad.NodeRecord{})
	if len(all) != want || want < 10 {
		t.Fatalf("got %d records, want %d", len(all), want)
	}
	leaf := f.Node("leaf1")
	q := mad.NodeRecord{LID: leaf.Ports[0].Info.LID}
	one := query(t, c, &q, &q.LID)
	if len(one) != 1 || one[0].Description.String() != "leaf1" || one[0].NodeInfo.PortGUID != leaf.Ports[0].GUID {
		t.Errorf("got %+v, want leaf1", one)
	}
	q = mad.NodeRecord{NodeInfo: mad.NodeInfo{NodeType: mad.NodeTypeSwitch}}
	for _, r := range query(t, c, &q, &q.NodeInfo.NodeType) {
		if !r.NodeInfo.IsSwitch() {
			t.Errorf("got %q, want switches only", r.Description)
		}
	}
	if q.LID = 0xbfff; len(query(t, c, &q, &q.LID)) != 0 {
		t.Error("unused LID: got records, want none")
	}
}

// TestAdministration_Ports queries port records.
func TestAdministration_Ports(t *testing.T) {
	f, c := saClient(t, "single-switch:hosts=3", "", nil)
	sw := f.named("switch")
	if sw == nil {
		sw = f.master.Peer.Node
	}
	lid := sw.Ports[0].Info.LID
	port := mad.PortInfoRecord{LID: lid}
	if all := query(t, c, &port, &port.LID); len(all) != len(sw.Ports) || all[1].PortInfo.State != sw.Ports[1].Info.State {
		t.Errorf("got %d ports of the switch, want %d", len(all), len(sw.Ports))
	}
	links := query(t, c, &mad.LinkRecord{})
	if len(links) != 6 {
		t.Errorf("got %d links, want 6", len(links))
	}
	for _, l := range links {
		if l.FromLID != lid && l.ToLID != lid || l.FromLID == l.ToLID {
			t.Errorf("got link %+v, want a link of the switch", l)
		}
	}
	lft := mad.LinearForwardingTableRecord{LID: lid}
	if all := query(t, c, &lft, &lft.LID); len(all) != 1 || all[0].Table.Ports[lid] != 0 {
		t.Errorf("got %d blocks of the forwarding table, want 1", len(all))
	}
	sl := mad.SLtoVLMappingTableRecord{LID: lid, InPort: 1}
	if all := query(t, c, &sl, &sl.LID, &sl.InPort); len(all) != len(sw.Ports)-1 {
		t.Errorf("got %d SL to VL tables, want %d", len(all), len(sw.Ports)-1)
	}
	if all := query(t, c, &mad.SMInfoRecord{}); len(all) != 1 || all[0].LID != f.master.Info.LID || all[0].SMInfo.State != mad.SMMaster {
		t.Errorf("got subnet managers %+v, want one master", all)
	}
	if all := query(t, c, &mad.SwitchInfoRecord{}); len(all) != 1 || all[0].SwitchInfo != sw.Switch {
		t.Errorf("got switches %+v, want one", all)
	}
	if all := query(t, c, &mad.GUIDInfoRecord{}); len(all) != 4 || all[0].Table.GUIDs[0] == 0 {
		t.Errorf("got %d GUID tables, want 4", len(all))
	}
	_, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.PKeyTableRecord{}})
	checkStatus(t, err, mad.StatusInvalidRequest)
	table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.PKeyTableRecord{}, SMKey: trustedKey})
	if err != nil || table.Len() == 0 {
		t.Errorf("P_Keys with the SM_Key: got %v, want records", err)
	}
	sm := mad.PortInfoRecord{PortInfo: mad.PortInfo{CapMask: mad.CapSM}}
	table, err = c.GetTable(t.Context(), &umad.TableRequest{
		Match: &sm, Mask: mad.Components(&sm, &sm.PortInfo.CapMask), Modifier: mad.MatchCapMask,
	})
	if err != nil || table.Len() != 1 {
		t.Errorf("ports with a subnet manager: got %v, want 1 record", err)
	}
}

func checkStatus(t *testing.T, err error, want mad.Status) {
	t.Helper()
	var got mad.StatusError
	if !errors.As(err, &got) || mad.Status(got) != want {
		t.Errorf("got %v, want status 0x%04x", err, uint16(want))
	}
}

// exchange sends a request about a record and overwrites the record with the reply.
func exchange(t *testing.T, f *Fabric, c *umad.Client, method mad.Method, r mad.Attribute, fields ...any) error {
	t.Helper()
	_, err := c.Call(t.Context(), &umad.Request{
		To: umad.Target{LID: f.master.Info.LID}, Class: mad.ClassSA, Method: method, Value: r, Mask: mad.Components(r, fields...),
	})
	return err
}

func TestAdministration_Get(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	n := mad.NodeRecord{LID: f.Node("leaf1").Ports[0].Info.LID}
	if err := exchange(t, f, c, mad.MethodGet, &n, &n.LID); err != nil || n.Description.String() != "leaf1" {
		t.Errorf("got %q, %v, want leaf1", n.Description, err)
	}
	n.LID = 0xbfff
	checkStatus(t, exchange(t, f, c, mad.MethodGet, &n, &n.LID), mad.StatusNoRecords)
	checkStatus(t, exchange(t, f, c, mad.MethodGet, &n), mad.StatusTooManyRecords)
	checkStatus(t, exchange(t, f, c, mad.MethodSet, &n), mad.StatusBadMethodAttr)
	checkStatus(t, exchange(t, f, c, mad.MethodGetMulti, &n), mad.StatusBadMethod)
	checkStatus(t, exchange(t, f, c, mad.MethodGet, new(mad.SMInfo)), mad.StatusTooManyRecords) // has LinkRecord's number
	checkStatus(t, exchange(t, f, c, mad.MethodGet, new(mad.PortInfoExtended)), mad.StatusInvalidRequest)
	var info mad.ClassPortInfo
	if err := exchange(t, f, c, mad.MethodGet, &info); err != nil || info.ClassVersion != 2 {
		t.Errorf("got %+v, %v, want class version 2", info, err)
	}
}

// TestAdministration_Paths follows forwarding tables and selectors.
func TestAdministration_Paths(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	from := f.master
	to := f.Node("leaf1").Ports[0]
	guid := to.GUID
	if lid, err := c.ResolveGUID(t.Context(), guid, 0); err != nil || lid != to.Info.LID {
		t.Errorf("got LID %d, %v, want %d", lid, err, to.Info.LID)
	}
	p := mad.PathRecord{SLID: from.Info.LID, DLID: to.Info.LID}
	all := query(t, c, &p, &p.SLID, &p.DLID)
	if len(all) != 1 || all[0].MTU != ib.MTU4096 || all[0].Reversible != 1 || all[0].DGID != to.gid() ||
		all[0].Rate != ib.RateOf(from.Info.LinkWidthActive, from.Info.ActiveSpeed(&from.Info, from.Ext)) {
		t.Errorf("got %+v, want one path with MTU 4096", all)
	}
	from.Info.NeighborMTU = ib.MTU1024
	p.MTU, p.MTUSelector = ib.MTU1024, mad.SelectGreater
	if all := query(t, c, &p, &p.SLID, &p.DLID, &p.MTU, &p.MTUSelector); len(all) != 0 {
		t.Errorf("greater MTU: got %+v, want no path", all)
	}
	p.MTUSelector = mad.SelectLess
	if all := query(t, c, &p, &p.SLID, &p.DLID, &p.MTU, &p.MTUSelector); len(all) != 1 || all[0].MTU != ib.MTU512 {
		t.Errorf("smaller MTU: got %+v, want a path with MTU 512", all)
	}
	reached := 0
	for end := range f.endPorts() {
		if _, ok := f.routeLID(from, end.Info.LID, false); ok {
			reached++
		}
	}
	if half := query(t, c, &p, &p.SLID); len(half) != reached || reached < 20 {
		t.Errorf("got %d paths from one port, want %d", len(half), reached)
	}
	from.Peer.Node.LFT[to.Info.LID] = noRoute
	if all := query(t, c, &p, &p.SLID, &p.DLID); len(all) != 0 && from.Peer.Node != to.Node {
		t.Errorf("without a route: got %+v, want no path", all)
	}
}

func TestAdministration_Multicast(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	port := f.master
	m := mad.MCMemberRecord{
		MGID: ib.GID{0xff, 0x12, 15: 9}, PortGID: port.gid(), JoinState: mad.JoinFull, PKey: defaultPKey, QKey: 7,
	}
	checkStatus(t, exchange(t, f, c, mad.MethodSet, &m, &m.MGID, &m.PortGID, &m.JoinState), mad.StatusInsufficientComponents)
	whole := []any{&m.MGID, &m.PortGID, &m.JoinState, &m.QKey, &m.PKey, &m.SL, &m.FlowLabel, &m.TrafficClass}
	if err := exchange(t, f, c, mad.MethodSet, &m, whole...); err != nil || m.MLID != firstMLID+1 || m.QKey != 7 {
		t.Fatalf("got %+v, %v", m, err)
	}
	m.JoinState = mad.JoinSendOnly
	if err := exchange(t, f, c, mad.MethodSet, &m, whole...); err != nil || m.JoinState != mad.JoinFull|mad.JoinSendOnly {
		t.Errorf("got %+v, %v", m, err)
	}
	if groups := query(t, c, &mad.MCMemberRecord{}); len(groups) != 2 || groups[1].PortGID != (ib.GID{}) {
		t.Errorf("got groups %+v, want two without ports", groups)
	}
	table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.MCMemberRecord{}, SMKey: trustedKey})
	if err != nil {
		t.Fatal(err)
	}
	var member mad.MCMemberRecord
	if err := table.Record(1, &member); err != nil || member.PortGID != port.gid() {
		t.Errorf("trusted: got %+v, %v, want the member's port", member, err)
	}
	if err := exchange(t, f, c, mad.MethodDelete, &m, whole[:3]...); err != nil {
		t.Error(err)
	}
	if groups := query(t, c, &mad.MCMemberRecord{}); len(groups) != 1 {
		t.Errorf("after the last member left: got groups %+v, want one", groups)
	}
	checkStatus(t, exchange(t, f, c, mad.MethodDelete, &m, whole[:3]...), mad.StatusInvalidRequest)
	m.PortGID[15] ^= 0xff
	checkStatus(t, exchange(t, f, c, mad.MethodSet, &m, whole...), mad.StatusInvalidGID)
}

func TestAdministration_Services(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	s := mad.ServiceRecord{ServiceID: 42, GID: f.master.gid(), Lease: 60}
	copy(s.Name[:], "test")
	key := []any{&s.ServiceID, &s.GID, &s.PKey, &s.Lease, &s.Name}
	for range 2 { // the second Set replaces the first
		if err := exchange(t, f, c, mad.MethodSet, &s, key...); err != nil {
			t.Fatal(err)
		}
	}
	if all := query(t, c, &s, &s.Name); len(all) != 1 || all[0] != s {
		t.Errorf("got %+v", all)
	}
	if err := exchange(t, f, c, mad.MethodDelete, &s, key...); err != nil {
		t.Error(err)
	}
	checkStatus(t, exchange(t, f, c, mad.MethodDelete, &s, key...), mad.StatusNoRecords)

	i := mad.InformInfo{LIDBegin: 0xffff, Generic: 1, Subscribe: 1, Type: 0xffff, TrapNumber: 64}
	for range 2 {
		if err := exchange(t, f, c, mad.MethodSet, &i); err != nil {
			t.Fatal(err)
		}
	}
	if all := query(t, c, &mad.InformInfoRecord{}); len(all) != 1 || all[0].SubscriberGID != f.master.gid() || all[0].InformInfo.TrapNumber != 64 {
		t.Errorf("got %+v", all)
	}
	i.Subscribe = 0
	if err := exchange(t, f, c, mad.MethodSet, &i); err != nil || len(query(t, c, &mad.InformInfoRecord{})) != 0 {
		t.Errorf("after the subscription was removed: got %v or a subscription", err)
	}
	checkStatus(t, exchange(t, f, c, mad.MethodSet, &i), mad.StatusInvalidRequest)
}

// TestAdministration_Loss reads a table through a fabric that loses packets.
func TestAdministration_Loss(t *testing.T) {
	_, c := saClient(t, "fat-tree:levels=2,radix=8,pods=4", "", func(f *Fabric) {
		f.Model.Loss, f.Model.Duplicate, f.Model.Seed = 0.02, 0.02, 7
	})
	if n := len(query(t, c, &mad.NodeRecord{})); n < 20 {
		t.Errorf("got %d nodes, want at least 20", n)
	}
}

// TestAdministration_Transfers checks that replies without acknowledgements are
// discarded.
func TestAdministration_Transfers(t *testing.T) {
	f, _ := saClient(t, "demo", "", nil)
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	var m umad.Message
	for tid := range uint64(200) {
		m.Addr = umad.Addr{LID: f.master.Info.LID, QPN: 1}
		m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSA, ClassVersion: 2, Method: mad.MethodGetTable, Attr: mad.AttrNodeRecord, TID: tid})
		if err := p.Send(&m); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.admin.transfers); n != maxTransfers {
		t.Errorf("got %d replies in progress, want %d", n, maxTransfers)
	}
}

func TestAdministration_NoRMPP(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	f.NoRMPP = true
	table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.NodeRecord{}})
	if err != nil || table.Len() != 1 || !table.Clipped {
		t.Fatalf("got %+v, %v", table, err)
	}
	q := mad.NodeRecord{LID: f.master.Info.LID}
	table, err = c.GetTable(t.Context(), &umad.TableRequest{Match: &q, Mask: mad.Components(&q, &q.LID)})
	if err != nil || table.Len() != 1 || table.Clipped {
		t.Errorf("got %+v, %v", table, err)
	}
}

// FuzzAdministration sends arbitrary packets. The reply to a request must be a response;
// the reply to a response is the next segment, or an abort.
func FuzzAdministration(f *testing.F) {
	f.Add(uint8(mad.MethodGetTable), uint16(mad.AttrPathRecord), uint64(0x1c), []byte{})
	f.Add(uint8(mad.MethodSet), uint16(mad.AttrMCMemberRecord), ^uint64(0), []byte{0xff, 0x12})
	f.Add(uint8(mad.MethodGetTable), uint16(0), uint64(0), []byte{})
	fabric, err := Build("single-switch:hosts=3")
	if err != nil {
		f.Fatal(err)
	}
	s := fabric.NewSender(fabric.firstAdapter())
	f.Fuzz(func(t *testing.T, method uint8, attr uint16, mask uint64, data []byte) {
		var p mad.Packet
		p.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassSA, ClassVersion: 2, Method: mad.Method(method), Attr: mad.AttrID(attr), TID: 1})
		p.SetSA(mad.SAHeader{SMKey: mad.Key(mask & 1), ComponentMask: mad.ComponentMask(mask)})
		copy(p.Data(), data)
		if attr == 0 {
			copy(p[24:], data)
		}
		d, ok := s.Route(fabric.master.Info.LID, 1, &p)
		if !ok {
			t.Fatal("got no route to the administration")
		}
		s.Exchange(d, &p, func(_ time.Time, r *mad.Packet, answered bool) {
			if answered && !r.Method().IsResponse() && !mad.Method(method).IsResponse() {
				t.Errorf("%v: got reply %v, want a response", mad.Method(method), r.Method())
			}
		})
	})
}

// BenchmarkNodeTable reads the records for all 10,368 end ports in a fabric.
func BenchmarkNodeTable(b *testing.B) {
	_, c := saClient(b, "fat-tree:levels=3,radix=36,pods=32", "", nil)
	for b.Loop() {
		b.ReportMetric(float64(len(query(b, c, &mad.NodeRecord{}))), "records")
	}
}
