package route

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// checkAs checks a simulated fabric with an SM_Key.
func checkAs(t *testing.T, f *sim.Fabric, key mad.Key) *Analysis {
	t.Helper()
	a, err := Check(t.Context(), Options{Source: fabric.Source{OpenPort: f.Opener("")}, SMKey: key})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// details returns finding details, each on its own line.
func details(a *Analysis) string {
	var b strings.Builder
	for _, f := range a.Findings(nil) {
		b.WriteString(f.Text() + "\n")
	}
	return b.String()
}

// Trees are compared with the members that subnet administration returns to trusted
// requests.
func TestCheck_Members(t *testing.T) {
	const (
		split = "LID 0xc010: packets of other members do not reach 1 of 3 members, for example host00009\n"
		lost  = "LID 0xc010: no entry leads to 1 of 4 members, for example host00013\n"
		loop  = "LID 0xc011: a loop through leaf002[6]\n"
	)
	f := build(t, "broken-multicast")
	if a := checkAs(t, f, 0); a.Routing.Members != nil || a.Routing.NoMembers == nil || details(a) != split+loop {
		t.Errorf("untrusted: got members %v, %v and findings\n%s", a.Routing.Members, a.Routing.NoMembers, details(a))
	}
	a := checkAs(t, f, 1)
	if details(a) != split+lost+loop {
		t.Errorf("trusted: got findings\n%swant\n%s", details(a), split+lost+loop)
	}
	if a.Partial() || a.Routing.CountMembers() != 7 {
		t.Errorf("got partial %v, %d members, want 7", a.Partial(), a.Routing.CountMembers())
	}
}

// A memberPort counts the requests for group members.
type memberPort struct {
	umad.Port
	requests map[uint64]bool // by transaction: acknowledgements have its ID, too
}

func (p *memberPort) Send(m *umad.Message) error {
	if m.MAD.Class() == mad.ClassSA && m.MAD.Attr() == mad.AttrMCMemberRecord {
		p.requests[m.MAD.TID()] = true
	}
	return p.Port.Send(m)
}

// The members are read again to confirm a defective tree, but not to confirm an incomplete table.
func TestCheck_MemberReads(t *testing.T) {
	for _, test := range []struct {
		name, preset, defect string
		want                 int
	}{
		{"sound", "fat-tree:radix=4,pods=2,spines=2", "", 1},
		{"no entry", "fat-tree:radix=4,pods=2,spines=2", "lft leaf001 4 255", 1},
		{"defective trees", "broken-multicast", "", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, p := build(t, test.preset), &memberPort{requests: map[uint64]bool{}}
			if test.defect != "" {
				do(t, f, test.defect)
			}
			a, err := Check(t.Context(), Options{Source: fabric.Source{OpenPort: func(context.Context) (_ umad.Port, err error) {
				p.Port, err = f.Open("")
				return p, err
			}}})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.requests) != test.want || (len(a.Findings(nil)) > 0) != (test.name != "sound") {
				t.Errorf("got %d requests with findings\n%swant %d", len(p.requests), details(a), test.want)
			}
		})
	}
}

func TestMulticastCheck_Compare(t *testing.T) {
	f := build(t, "fat-tree:radix=4,pods=2,spines=2")
	r := mustRead(t, f)
	host := func(id string) *Port { return endOf(t, r, f, id) }
	// Hosts 1 and 2 are linked to ports 1 and 2 on leaf001, hosts 3 and 4 to leaf002.
	mask := func(ports ...uint8) (m mad.PortMask) {
		for _, p := range ports {
			m.Add(p)
		}
		return m
	}
	for _, test := range []struct {
		name string
		m    Members
		want string
	}{
		{"all members", Members{Receivers: []*Port{host("host00001"), host("host00003")}}, ""},
		{"a member without an entry", Members{Receivers: []*Port{host("host00001"), host("host00003"), host("host00004")}}, "no entry leads to 1 of 3 members, for example host00004"},
		{"a port that is not a member", Members{Receivers: []*Port{host("host00001")}}, "entries for 1 port without a membership, for example of host00003"},
		{"a member with another GUID", Members{Receivers: []*Port{host("host00001")}, Unknown: 1}, ""},
		{"a sender", Members{Receivers: []*Port{host("host00001"), host("host00003")}, Senders: []*Port{host("host00002")}}, ""},
		{"a sender that receives", Members{Receivers: []*Port{host("host00001")}, Senders: []*Port{host("host00003")}}, ""},
		{"a switch", Members{Receivers: []*Port{host("host00001"), host("host00003"), host("spine002")}}, "no entry leads to 1 of 3 members, for example spine002"},
		{"no members", Members{}, "entries for 2 ports without a membership, for example of host00001"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const group = 0xc001
				for id, m := range map[string]mad.PortMask{"leaf001": mask(1, 3), "spine001": mask(1, 2), "leaf002": mask(1, 3)} {
					r.NodeByGUID(f.Node(id).Info.NodeGUID).SetMulticast(group, m)
				}
				r.Members = map[ib.LID]*Members{group: &test.m}
				got := strings.TrimSuffix(strings.ReplaceAll(details(mustAnalyze(t, r, AnalyzeOptions{})), "LID 0xc001: ", ""), "\n")
				if got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		})
	}
	// Without entries, a single member is sound, and several members are not.
	for _, n := range r.Switches() {
		n.Tables.MFT = nil
	}
	for count, want := range map[int]string{1: "", 2: "LID 0xc001: no entry leads to 2 of 2 members, for example host00001\n"} {
		r.Members = map[ib.LID]*Members{0xc001: {Receivers: []*Port{host("host00001"), host("host00003")}[:count]}}
		if got := details(mustAnalyze(t, r, AnalyzeOptions{})); got != want {
			t.Errorf("%d members: got %q, want %q", count, got, want)
		}
	}
	r.Members[0xc001] = &Members{Receivers: []*Port{host("host00003")}, Senders: []*Port{host("host00001")}}
	if got, want := details(mustAnalyze(t, r, AnalyzeOptions{})), "LID 0xc001: no entry leads to 1 of 2 members, for example host00003\nLID 0xc001: no entry at the switch of 1 sender, for example of host00001\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
