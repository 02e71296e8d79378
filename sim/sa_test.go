package sim

import (
	"errors"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// saClient returns a client at a node of a fabric.
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

// query returns the records that match.
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

func TestNodeTable(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	want := 0
	for range f.endPorts() {
		want++
	}
	all := query(t, c, &mad.NodeRecord{})
	if len(all) != want || want < 10 {
		t.Fatalf("%d records, want %d", len(all), want)
	}
	leaf := f.Node("leaf1")
	q := mad.NodeRecord{LID: leaf.Ports[0].Info.LID}
	one := query(t, c, &q, &q.LID)
	if len(one) != 1 || one[0].Description.String() != "leaf1" || one[0].NodeInfo.PortGUID != leaf.Ports[0].GUID {
		t.Errorf("got %+v", one)
	}
	q = mad.NodeRecord{NodeInfo: mad.NodeInfo{NodeType: mad.NodeTypeSwitch}}
	for _, r := range query(t, c, &q, &q.NodeInfo.NodeType) {
		if r.NodeInfo.NodeType != mad.NodeTypeSwitch {
			t.Errorf("%q is no switch", r.Description)
		}
	}
	if q.LID = 0xbfff; len(query(t, c, &q, &q.LID)) != 0 {
		t.Error("a LID that nobody has")
	}
}

// TestPortTables asks for what belongs to ports.
func TestPortTables(t *testing.T) {
	f, c := saClient(t, "single-switch:hosts=3", "", nil)
	sw := f.named("switch")
	if sw == nil {
		sw = f.master.Peer.Node
	}
	lid := sw.Ports[0].Info.LID
	port := mad.PortInfoRecord{LID: lid}
	if all := query(t, c, &port, &port.LID); len(all) != len(sw.Ports) || all[1].PortInfo.State != sw.Ports[1].Info.State {
		t.Errorf("%d ports of the switch, want %d", len(all), len(sw.Ports))
	}
	links := query(t, c, &mad.LinkRecord{})
	if len(links) != 6 {
		t.Errorf("%d links", len(links))
	}
	for _, l := range links {
		if l.FromLID != lid && l.ToLID != lid || l.FromLID == l.ToLID {
			t.Errorf("link %+v", l)
		}
	}
	lft := mad.LinearForwardingTableRecord{LID: lid}
	if all := query(t, c, &lft, &lft.LID); len(all) != 1 || all[0].Table.Ports[lid] != 0 {
		t.Errorf("got %d blocks", len(all))
	}
	sl := mad.SLtoVLMappingTableRecord{LID: lid, InPort: 1}
	if all := query(t, c, &sl, &sl.LID, &sl.InPort); len(all) != len(sw.Ports)-1 {
		t.Errorf("%d mappings", len(all))
	}
	if all := query(t, c, &mad.SMInfoRecord{}); len(all) != 1 || all[0].LID != f.master.Info.LID || all[0].SMInfo.State != mad.SMMaster {
		t.Errorf("managers %+v", all)
	}
	if all := query(t, c, &mad.SwitchInfoRecord{}); len(all) != 1 || all[0].SwitchInfo != sw.Switch {
		t.Errorf("switches %+v", all)
	}
	if all := query(t, c, &mad.GUIDInfoRecord{}); len(all) != 4 || all[0].Table.GUIDs[0] == 0 {
		t.Errorf("%d GUID tables", len(all))
	}
	_, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.PKeyTableRecord{}})
	checkStatus(t, err, mad.StatusInvalidRequest)
	table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.PKeyTableRecord{}, SMKey: trustedKey})
	if err != nil || table.Len() == 0 {
		t.Errorf("with the key: %v", err)
	}
	sm := mad.PortInfoRecord{PortInfo: mad.PortInfo{CapMask: mad.CapSM}}
	table, err = c.GetTable(t.Context(), &umad.TableRequest{
		Match: &sm, Mask: mad.Components(&sm, &sm.PortInfo.CapMask), Modifier: mad.MatchCapMask,
	})
	if err != nil || table.Len() != 1 {
		t.Errorf("ports of managers: %v", err)
	}
}

func checkStatus(t *testing.T, err error, want mad.Status) {
	t.Helper()
	var got mad.StatusError
	if !errors.As(err, &got) || mad.Status(got) != want {
		t.Errorf("got %v, want status 0x%04x", err, uint16(want))
	}
}

// askAbout sends a request about one record, which it overwrites with the answer.
func askAbout(t *testing.T, f *Fabric, c *umad.Client, method mad.Method, r mad.Attribute, fields ...any) error {
	t.Helper()
	payload, err := mad.SAPayload(mad.SAHeader{ComponentMask: mad.Components(r, fields...)}, r)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := c.Call(t.Context(), &umad.Request{
		To: umad.Target{LID: f.master.Info.LID}, Class: mad.ClassSA, Method: method, Attr: r.ID(), Payload: payload,
	})
	if err != nil {
		return err
	}
	return mad.Decode(r, reply.Data())
}

func TestGet(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	n := mad.NodeRecord{LID: f.Node("leaf1").Ports[0].Info.LID}
	if err := askAbout(t, f, c, mad.MethodGet, &n, &n.LID); err != nil || n.Description.String() != "leaf1" {
		t.Errorf("got %q, %v", n.Description, err)
	}
	n.LID = 0xbfff
	checkStatus(t, askAbout(t, f, c, mad.MethodGet, &n, &n.LID), mad.StatusNoRecords)
	checkStatus(t, askAbout(t, f, c, mad.MethodGet, &n), mad.StatusTooManyRecords)
	checkStatus(t, askAbout(t, f, c, mad.MethodSet, &n), mad.StatusBadMethodAttr)
	checkStatus(t, askAbout(t, f, c, mad.MethodGetMulti, &n), mad.StatusBadMethod)
	checkStatus(t, askAbout(t, f, c, mad.MethodGet, new(mad.SMInfo)), mad.StatusTooManyRecords) // the number of LinkRecord
	checkStatus(t, askAbout(t, f, c, mad.MethodGet, new(mad.PortInfoExtended)), mad.StatusInvalidRequest)
	var info mad.ClassPortInfo
	if err := askAbout(t, f, c, mad.MethodGet, &info); err != nil || info.ClassVersion != 2 {
		t.Errorf("got %+v, %v", info, err)
	}
}

// TestPath follows forwarding tables that were changed by hand.
func TestPath(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	from := f.master
	to := f.Node("leaf1").Ports[0]
	guid := to.GUID
	if lid, err := c.ResolveGUID(t.Context(), guid, 0); err != nil || lid != to.Info.LID {
		t.Errorf("LID %d, %v", lid, err)
	}
	p := mad.PathRecord{SLID: from.Info.LID, DLID: to.Info.LID}
	all := query(t, c, &p, &p.SLID, &p.DLID)
	if len(all) != 1 || all[0].MTU != ib.MTU4096 || all[0].Reversible != 1 || all[0].DGID != to.gid() ||
		all[0].Rate != ib.RateOf(from.Info.LinkWidthActive, from.Info.ActiveSpeed(&from.Info, from.Ext)) {
		t.Errorf("got %+v", all)
	}
	from.Info.NeighborMTU = ib.MTU1024
	p.MTU, p.MTUSelector = ib.MTU1024, mad.SelectGreater
	if all := query(t, c, &p, &p.SLID, &p.DLID, &p.MTU, &p.MTUSelector); len(all) != 0 {
		t.Errorf("got %+v", all)
	}
	p.MTUSelector = mad.SelectLess
	if all := query(t, c, &p, &p.SLID, &p.DLID, &p.MTU, &p.MTUSelector); len(all) != 1 || all[0].MTU != ib.MTU512 {
		t.Errorf("got %+v", all)
	}
	reached := 0
	for end := range f.endPorts() {
		if _, ok := f.routeLID(from, end.Info.LID, false); ok {
			reached++
		}
	}
	if half := query(t, c, &p, &p.SLID); len(half) != reached || reached < 20 {
		t.Errorf("%d paths from one port, want %d", len(half), reached)
	}
	from.Peer.Node.LFT[to.Info.LID] = noRoute
	if all := query(t, c, &p, &p.SLID, &p.DLID); len(all) != 0 && from.Peer.Node != to.Node {
		t.Errorf("a path without a route: %+v", all)
	}
}

func TestMulticast(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	port := f.master
	m := mad.MCMemberRecord{
		MGID: ib.GID{0xff, 0x12, 15: 9}, PortGID: port.gid(), JoinState: mad.JoinFull, PKey: defaultPKey, QKey: 7,
	}
	checkStatus(t, askAbout(t, f, c, mad.MethodSet, &m, &m.MGID, &m.PortGID, &m.JoinState), mad.StatusInsufficientComponents)
	whole := []any{&m.MGID, &m.PortGID, &m.JoinState, &m.QKey, &m.PKey, &m.SL, &m.FlowLabel, &m.TrafficClass}
	if err := askAbout(t, f, c, mad.MethodSet, &m, whole...); err != nil || m.MLID != firstMLID+1 || m.QKey != 7 {
		t.Fatalf("got %+v, %v", m, err)
	}
	m.JoinState = mad.JoinSendOnly
	if err := askAbout(t, f, c, mad.MethodSet, &m, whole...); err != nil || m.JoinState != mad.JoinFull|mad.JoinSendOnly {
		t.Errorf("got %+v, %v", m, err)
	}
	if groups := query(t, c, &mad.MCMemberRecord{}); len(groups) != 2 || groups[1].PortGID != (ib.GID{}) {
		t.Errorf("got %+v", groups)
	}
	table, err := c.GetTable(t.Context(), &umad.TableRequest{Match: &mad.MCMemberRecord{}, SMKey: trustedKey})
	if err != nil {
		t.Fatal(err)
	}
	var member mad.MCMemberRecord
	if err := table.Record(1, &member); err != nil || member.PortGID != port.gid() {
		t.Errorf("got %+v, %v", member, err)
	}
	if err := askAbout(t, f, c, mad.MethodDelete, &m, whole[:3]...); err != nil {
		t.Error(err)
	}
	if groups := query(t, c, &mad.MCMemberRecord{}); len(groups) != 1 {
		t.Errorf("the group is still there: %+v", groups)
	}
	checkStatus(t, askAbout(t, f, c, mad.MethodDelete, &m, whole[:3]...), mad.StatusInvalidRequest)
	m.PortGID[15] ^= 0xff
	checkStatus(t, askAbout(t, f, c, mad.MethodSet, &m, whole...), mad.StatusInvalidGID)
}

func TestServices(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	s := mad.ServiceRecord{ServiceID: 42, GID: f.master.gid(), Lease: 60}
	copy(s.Name[:], "test")
	key := []any{&s.ServiceID, &s.GID, &s.PKey, &s.Lease, &s.Name}
	for range 2 { // the second time it is the same one
		if err := askAbout(t, f, c, mad.MethodSet, &s, key...); err != nil {
			t.Fatal(err)
		}
	}
	if all := query(t, c, &s, &s.Name); len(all) != 1 || all[0] != s {
		t.Errorf("got %+v", all)
	}
	if err := askAbout(t, f, c, mad.MethodDelete, &s, key...); err != nil {
		t.Error(err)
	}
	checkStatus(t, askAbout(t, f, c, mad.MethodDelete, &s, key...), mad.StatusNoRecords)

	i := mad.InformInfo{LIDBegin: 0xffff, Generic: 1, Subscribe: 1, Type: 0xffff, TrapNumber: 64}
	for range 2 {
		if err := askAbout(t, f, c, mad.MethodSet, &i); err != nil {
			t.Fatal(err)
		}
	}
	if all := query(t, c, &mad.InformInfoRecord{}); len(all) != 1 || all[0].SubscriberGID != f.master.gid() || all[0].InformInfo.TrapNumber != 64 {
		t.Errorf("got %+v", all)
	}
	i.Subscribe = 0
	if err := askAbout(t, f, c, mad.MethodSet, &i); err != nil || len(query(t, c, &mad.InformInfoRecord{})) != 0 {
		t.Errorf("still subscribed: %v", err)
	}
	checkStatus(t, askAbout(t, f, c, mad.MethodSet, &i), mad.StatusInvalidRequest)
}

// TestLossyTable: a fabric that loses packets only takes longer.
func TestLossyTable(t *testing.T) {
	_, c := saClient(t, "fat-tree:levels=2,radix=8,pods=4", "", func(f *Fabric) {
		f.Model.Loss, f.Model.Duplicate, f.Model.Seed = 0.02, 0.02, 7
	})
	if n := len(query(t, c, &mad.NodeRecord{})); n < 20 {
		t.Errorf("%d nodes", n)
	}
}

// TestTransfersForgotten: answers that nobody wants do not pile up.
func TestTransfersForgotten(t *testing.T) {
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
		t.Errorf("%d answers are kept", n)
	}
}

func TestClipped(t *testing.T) {
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

// FuzzAdministration sends any packet, and the answer to a request has to be a
// response. What comes to a response is about segments: the next one, or that
// the one that came is refused.
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
		p.SetSA(mad.SAHeader{SMKey: mask & 1, ComponentMask: mad.ComponentMask(mask)})
		copy(p.Data(), data)
		if attr == 0 {
			copy(p[24:], data)
		}
		d, ok := s.Route(fabric.master.Info.LID, 1, &p)
		if !ok {
			t.Fatal("no way to the administration")
		}
		s.Exchange(d, &p, func(_ time.Time, r *mad.Packet, answered bool) {
			if answered && !r.Method().IsResponse() && !mad.Method(method).IsResponse() {
				t.Errorf("%v is answered with %v", mad.Method(method), r.Method())
			}
		})
	})
}

// BenchmarkNodeTable asks a fabric of 10,368 end ports for all of them.
func BenchmarkNodeTable(b *testing.B) {
	_, c := saClient(b, "fat-tree:levels=3,radix=36,pods=32", "", nil)
	for b.Loop() {
		b.ReportMetric(float64(len(query(b, c, &mad.NodeRecord{}))), "records")
	}
}
