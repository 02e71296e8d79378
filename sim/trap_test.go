package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// subscriber returns a fabric, and a client at a node that has subscribed to all notices in
// the specification.
func subscriber(t *testing.T, description, node string) (*Fabric, *umad.Client) {
	t.Helper()
	f, c := saClient(t, description, node, nil)
	inform(t, c, 1)
	return f, c
}

// inform begins or ends the subscription.
func inform(t *testing.T, c *umad.Client, subscribe uint8) {
	t.Helper()
	info := &mad.InformInfo{LIDBegin: 0xffff, Generic: 1, Subscribe: subscribe, Type: 0xffff, TrapNumber: 0xffff, QPN: 1, ProducerType: 0xffffff}
	if err := c.Set(t.Context(), umad.Target{LID: c.Local().SMLID}, info); err != nil {
		t.Fatal(err)
	}
}

// reported returns the notices that were reported to a port since the last call, as the
// trap number and the LID or GUID that the trap is about.
func reported(t *testing.T, f *Fabric, to *Port) (all []string) {
	t.Helper()
	for _, n := range f.Notifications() {
		if n.To != to || n.MAD.Method() != mad.MethodReport {
			continue
		}
		var r mad.Report
		if err := n.MAD.Decode(&r); err != nil {
			t.Fatal(err)
		}
		about := any(r.IssuerGID.GUID())
		switch d := r.Notice.DecodeDetails().(type) {
		case *mad.GIDNotice:
			about = d.GID.GUID()
		case *mad.SwitchNotice:
			about = d.LID
		case *mad.CapabilityNotice:
			about = fmt.Sprint(d.LID, d.Changes.Names())
		case *mad.MKeyNotice:
			about = fmt.Sprint(d.Method, d.Attr, uint64(d.MKey))
		}
		all = append(all, fmt.Sprintf("%d %v", r.Notice.TrapNumber, about))
	}
	slices.Sort(all)
	return all
}

func TestReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := subscriber(t, "demo", "node02")
		at := f.Node("node02").Ports[1].Management()
		lid := func(node string) ib.LID { return f.Node(node).firstPort().Info.LID }
		guid := func(node string) ib.GUID { return f.Node(node).firstPort().GUID }
		leaf2, node06 := lid("leaf2"), guid("node06")
		for _, step := range []struct {
			name   string
			change func()
			want   []string
		}{
			{"nothing", func() {}, nil},
			{"link down", func() { do(t, f, "unlink node06[1]") }, []string{fmt.Sprint("128 ", leaf2), fmt.Sprint("65 ", node06)}},
			{"link up", func() { do(t, f, "link node06[1]") }, []string{fmt.Sprint("128 ", leaf2), fmt.Sprint("64 ", node06)}},
			{"hang", func() { do(t, f, "hang node06") }, []string{fmt.Sprint("65 ", node06)}},
			{"resume", func() { do(t, f, "resume node06") }, []string{fmt.Sprint("64 ", node06)}},
			{"description", func() { do(t, f, "describe node03 a new name") }, []string{fmt.Sprintf("144 %d [NodeDescription]", lid("node03"))}},
			{"M_Key", func() {
				p := f.Node("node03").firstPort()
				p.Info.MKey, p.Info.MKeyProtect = 5, 2
				keyed := umad.NewClient(mustOpen(t, f, "node02"), umad.ClientOptions{MKey: 7, Attempts: 1, Timeout: 1})
				if _, err := keyed.Call(t.Context(), &umad.Request{To: umad.Target{LID: p.Info.LID}, Attr: mad.AttrPortInfo}); err == nil || p.Info.MKeyViolations != 1 {
					t.Errorf("got error %v and %d violations, want no reply and 1", err, p.Info.MKeyViolations)
				}
			}, []string{"256 Get PortInfo 7"}},
		} {
			step.change()
			if got := reported(t, f, at); !slices.Equal(got, step.want) {
				t.Errorf("%s: got %q, want %q", step.name, got, step.want)
			}
		}
		inform(t, c, 0)
		do(t, f, "unlink node06[1]")
		if got := reported(t, f, at); len(got) > 0 {
			t.Errorf("after the end of the subscription: got %q, want none", got)
		}
	})
}

func mustOpen(t *testing.T, f *Fabric, node string) umad.Port {
	t.Helper()
	p, err := f.Open(node)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A multicast group is reported with its first and its last member.
func TestReports_Groups(t *testing.T) {
	f, c := subscriber(t, "demo", "node02")
	at := f.Node("node02").Ports[1].Management()
	r := &mad.MCMemberRecord{MGID: ib.GID{0: 0xff, 1: 0x12, 15: 9}, PortGID: at.gid(), JoinState: 1, PKey: 0xffff}
	mask := mad.Components(r, &r.MGID, &r.PortGID, &r.JoinState, &r.QKey, &r.PKey, &r.SL, &r.FlowLabel, &r.TrafficClass)
	for _, test := range []struct {
		method mad.Method
		want   string
	}{{mad.MethodSet, "66 0x0000000000000009"}, {mad.MethodDelete, "67 0x0000000000000009"}} {
		_, err := c.Call(t.Context(), &umad.Request{To: umad.Target{LID: c.Local().SMLID}, Method: test.method, Value: new(*r), Mask: mask})
		if err != nil {
			t.Fatal(err)
		}
		if got := reported(t, f, at); !slices.Equal(got, []string{test.want}) {
			t.Errorf("%v: got %q, want %q", test.method, got, test.want)
		}
	}
}

func TestCovers(t *testing.T) {
	all := mad.InformInfo{LIDBegin: anyOf, Generic: 1, Type: anyOf, TrapNumber: anyOf, ProducerType: anyProducer}
	with := func(change func(*mad.InformInfo)) mad.InformInfo {
		s := all
		change(&s)
		return s
	}
	r := &mad.Report{
		Notice:    mad.Notice{Generic: 1, Type: mad.NoticeUrgent, ProducerType: 2, TrapNumber: 128, IssuerLID: 7},
		IssuerGID: ib.MakeGID(0xfe80000000000000, 9),
	}
	for name, test := range map[string]struct {
		s    mad.InformInfo
		want bool
	}{
		"all":            {all, true},
		"vendors":        {with(func(s *mad.InformInfo) { s.Generic = 0 }), false},
		"type":           {with(func(s *mad.InformInfo) { s.Type = 1 }), true},
		"other type":     {with(func(s *mad.InformInfo) { s.Type = 4 }), false},
		"trap":           {with(func(s *mad.InformInfo) { s.TrapNumber = 128 }), true},
		"other trap":     {with(func(s *mad.InformInfo) { s.TrapNumber = 64 }), false},
		"producer":       {with(func(s *mad.InformInfo) { s.ProducerType = 2 }), true},
		"other producer": {with(func(s *mad.InformInfo) { s.ProducerType = 1 }), false},
		"LID":            {with(func(s *mad.InformInfo) { s.LIDBegin = 7 }), true},
		"LIDs":           {with(func(s *mad.InformInfo) { s.LIDBegin, s.LIDEnd = 5, 9 }), true},
		"other LID":      {with(func(s *mad.InformInfo) { s.LIDBegin = 6 }), false},
		"GID":            {with(func(s *mad.InformInfo) { s.GID, s.LIDBegin = r.IssuerGID, 1 }), true},
		"other GID":      {with(func(s *mad.InformInfo) { s.GID[15]++ }), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := covers(&test.s, r); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

// The manager represses a client's trap and reports it. After a handover, the new manager
// does not know the subscription.
func TestTraps_Client(t *testing.T) {
	f, c := subscriber(t, "demo", "node02")
	at := f.Node("node02").Ports[1].Management()
	send := func() error {
		n := &mad.Notice{Generic: 1, TrapNumber: 144, IssuerLID: at.Info.LID}
		r, err := c.Call(t.Context(), &umad.Request{To: umad.Target{LID: f.master.Info.LID}, Method: mad.MethodTrap, Value: n})
		if err == nil && r.MAD.Method() != mad.MethodTrapRepress {
			t.Errorf("got %v, want %v", r.MAD.Method(), mad.MethodTrapRepress)
		}
		return err
	}
	if err := send(); err != nil {
		t.Fatal(err)
	}
	if got := reported(t, f, at); len(got) != 1 || !strings.HasPrefix(got[0], "144 ") {
		t.Errorf("got %q, want trap 144", got)
	}
	do(t, f, "sm node05[1]")
	if err := send(); err != nil {
		t.Fatal(err)
	}
	if got := reported(t, f, at); len(got) != 0 {
		t.Errorf("after a handover: got %q, want none", got)
	}
}
