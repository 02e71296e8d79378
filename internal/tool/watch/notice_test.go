package watch

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

func TestRun_Notices(t *testing.T) {
	traps, both := Options{Sources: []Source{Traps}}, Options{Sources: []Source{Links, Traps}}
	checkAll(t, []scenario{
		{
			name: "without links", script: "12s unlink node06[1]\n25s link node06[1]\n", options: traps,
			want: []string{
				"12s notice leaf2: link-state: link of a switch went up or down",
				"12s notice node06: out-of-service: port is not reachable any more",
				"25s notice leaf2: link-state: link of a switch went up or down",
				"25s notice node06: in-service: port is reachable",
			},
		},
		{
			name: "cause a check and a scan", script: "12s unlink node06[1]\n25s link node06[1]\n", options: both,
			want: []string{
				"12s notice leaf2: link-state: link of a switch went up or down",
				"12s notice node06: out-of-service: port is not reachable any more",
				"12s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"12s node-removed node06: left the fabric",
				"25s notice leaf2: link-state: link of a switch went up or down",
				"25s notice node06: in-service: port is reachable",
				"25s link-up leaf2[4] - node06[1]: 4X NDR Active",
				"25s node-added node06: in the fabric",
			},
		},
		{
			name: "cause a scan for a new description", script: "12s describe leaf2 new\n", options: both,
			want: []string{
				"12s notice new: capabilities: changed: NodeDescription",
				`12s node-changed new: name "new", before "leaf2"`,
			},
		},
		{
			name: "the subnet manager does not respond for a while", script: "0s sm node05[1]\n12s hang node05\n30s resume node05\n", options: traps,
			want: []string{
				"15s source-lost traps: Set SubnAdm InformInfo of LID 9, sent 3 times: no reply in time",
				"31s source-up traps: subscribed to the subnet manager at LID 9",
			},
		},
		{
			name: "the subnet manager responds later", script: "0s sm node05[1]\n0s hang node05\n12s resume node05\n", options: traps,
			want: []string{
				"0s source-lost traps: subscribe to notices: Set SubnAdm InformInfo of LID 9, sent 3 times: no reply in time",
				"21s source-up traps: subscribed to the subnet manager at LID 9",
			},
		},
	})
}

// A notice about a link is a change, and a notice about a port out of service a problem,
// until it is in service again.
func TestNoticeEvent_Severity(t *testing.T) {
	w := &fabricWatch{run: &run{}}
	for _, test := range []struct {
		name   string
		notice mad.Notice
		want   report.Severity
	}{
		{"link state", mad.Notice{Generic: 1, Type: mad.NoticeUrgent, TrapNumber: mad.TrapLinkState}, report.Info},
		{"in service", mad.Notice{Generic: 1, Type: mad.NoticeSubnetManager, TrapNumber: mad.TrapGIDInService}, report.Recovery},
		{"out of service", mad.Notice{Generic: 1, Type: mad.NoticeSubnetManager, TrapNumber: mad.TrapGIDOutOfService}, report.Error},
		{"wrong M_Key", mad.Notice{Generic: 1, Type: mad.NoticeSecurity, TrapNumber: mad.TrapBadMKey}, report.Error},
		{"capabilities", mad.Notice{Generic: 1, Type: mad.NoticeInfo, TrapNumber: mad.TrapCapabilities}, report.Info},
		{"of a vendor", mad.Notice{Type: mad.NoticeUrgent, TrapNumber: 7}, report.Info},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := w.noticeEvent(&trap.Notice{Report: mad.Report{Notice: test.notice}})
			if e.Severity != test.want || (e.Data.Notice.Trap == nil) != (test.notice.Generic == 0) {
				t.Errorf("got %v, trap %v, want %v", e.Severity, e.Data.Notice.Trap, test.want)
			}
		})
	}
}

// A place has the node that the last scan found, that left the fabric, or that subnet
// administration names.
func TestPlaceOf(t *testing.T) {
	known, gone := &fabric.Node{GUID: 0x10, Desc: mad.NewNodeDescription("known")}, &fabric.Node{GUID: 0x20, Desc: mad.NewNodeDescription("gone")}
	known.Info.NodeType = mad.NodeTypeSwitch
	w := &fabricWatch{run: &run{}, gone: map[ib.GUID]*fabric.Node{0x21: gone}, known: &fabric.Fabric{Nodes: []*fabric.Node{known}}}
	for _, test := range []struct {
		name  string
		place trap.Place
		want  string
	}{
		{"named by the administration", trap.Place{LID: 4, Node: &trap.Node{GUID: 0x30, Description: mad.NewNodeDescription("named")}}, "named 0x0000000000000030 4"},
		{"that left", trap.Place{GID: ib.MakeGID(0xfe80<<48, 0x21)}, "gone 0x0000000000000020 0"},
		{"unknown", trap.Place{GID: ib.MakeGID(0xfe80<<48, 0x99)}, "fe80::99"},
		{"LID only", trap.Place{LID: 7}, "LID 7"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, node := w.placeOf(&test.place)
			got := p.String()
			if node != nil {
				lid := ib.LID(0)
				if p.LID != nil {
					lid = *p.LID
				}
				got = fmt.Sprintf("%s %v %d", *p.Name, *p.NodeGUID, lid)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Changes to local devices become events with their severity; states at the start do not.
func TestDeviceChange(t *testing.T) {
	for _, test := range []struct {
		change devinfo.Change
		want   string // kind, severity, subject and detail
	}{
		{devinfo.Change{Kind: devinfo.Initial, Port: 1, State: 4}, ""},
		{devinfo.Change{Kind: devinfo.Initial, Port: 1, State: 1}, "source-up recovery local: rxe0[1] is Down"},
		{devinfo.Change{Kind: devinfo.Added}, "device-added info rxe0: the kernel registered the device"},
		{devinfo.Change{Kind: devinfo.Removed}, "device-removed error rxe0: the kernel removed the device"},
		{devinfo.Change{Kind: devinfo.Up, Port: 1}, "device-event recovery rxe0[1]: PORT_ACTIVE"},
		{devinfo.Change{Kind: devinfo.Down, Port: 2}, "device-event error rxe0[2]: PORT_ERR"},
		{devinfo.Change{Kind: devinfo.Other, Port: 1, Event: "LID_CHANGE"}, "device-event info rxe0[1]: LID_CHANGE"},
		{devinfo.Change{Kind: devinfo.Other, Event: "DEVICE_FATAL"}, "device-event error rxe0: DEVICE_FATAL"},
		{devinfo.Change{Kind: devinfo.Failed, Err: errors.New("no memory")}, "source-lost unknown local: events of rxe0: no memory"},
	} {
		t.Run(test.want, func(t *testing.T) {
			r := &run{queue: queue{wake: make(chan struct{}, 1)}}
			test.change.Device = "rxe0"
			r.deviceChange(test.change)
			got := ""
			if e, _, ok := r.queue.take(); ok {
				got = fmt.Sprintf("%v %v %s: %s", e.Kind, e.Severity, e.Subject, e.Detail)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The stream ends after a number of events, without events about the stream, and with an
// event that is not accepted it goes on.
func TestRun_Count(t *testing.T) {
	for _, test := range []struct {
		name   string
		count  int
		accept func(*Event) bool
		want   []string
	}{
		{"first", 1, nil, []string{"20s link-down leaf2[4] - node06[1]: was 4X NDR Active"}},
		{"first of a kind", 1, func(e *Event) bool { return e.Kind == report.NodeRemoved }, []string{"20s node-removed node06: left the fabric"}},
		{"fewer than wanted", 9, func(e *Event) bool { return e.Kind == report.NodeRemoved }, []string{"20s node-removed node06: left the fabric"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := scenario{script: "12s unlink node06[1]\n", options: Options{Count: test.count, Accept: test.accept}, want: test.want}
			r := s.check(t)
			if r.summary.Events != len(test.want) {
				t.Errorf("got %d events, want %d", r.summary.Events, len(test.want))
			}
			for i, e := range r.events {
				if e.Sequence != uint64(i+1) || e.Schema != Schema {
					t.Errorf("event %d: got sequence %d, schema %q", i+1, e.Sequence, e.Schema)
				}
			}
		})
	}
}

// Known gets the first fabric with other nodes, before the event that the sources work.
func TestRun_Known(t *testing.T) {
	for _, test := range []struct {
		name, script string
		want         []string
	}{
		{"at the start", "", []string{"22 nodes", "source-up"}},
		{"without a local link at first", "0s unlink node01[1]\n12s link node01[1]\n30s unlink node06[1]\n", []string{"source-lost", "22 nodes", "source-up", "link-down", "node-removed"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var (
				mu  sync.Mutex
				got []string
			)
			add := func(what string) {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, what)
			}
			s := scenario{script: test.script}
			s.options.Known = func(f *fabric.Fabric) { add(fmt.Sprint(len(f.Nodes), " nodes")) }
			s.options.Accept = func(*Event) bool { return true }
			s.emit = func(e *Event) error {
				add(string(e.Kind))
				return nil
			}
			s.watch(t)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}

}
