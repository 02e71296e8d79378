package watch

import (
	"errors"
	"testing"
	"time"

	"github.com/ibkit/ibkit/umad"
)

// failing fails each port that is opened: the first port after a time, later ports at once
// or, after another time, not any more.
func failing(from, until time.Duration) func(packet) error {
	return func(p packet) error {
		if p.since >= from && (p.opened == 1 || p.since < until) {
			return umad.ErrDeviceRemoved
		}
		return nil
	}
}

// A local port that fails is opened again. Each source is lost and works again once, and the
// changes in between are reported.
func TestRun_PortFails(t *testing.T) {
	for _, s := range []scenario{
		{
			name: "links and counters", script: "22s unlink node06[1]\n",
			options: Options{Sources: []Source{Links, Counters}}, before: failing(15*time.Second, 38*time.Second),
			want: []string{
				"20s source-lost links: device removed",
				"20s source-lost counters: device removed",
				"40s source-up links: 21 nodes, 23 links",
				"40s link-down leaf2[4] - node06[1]: was 4X NDR Active",
				"40s node-removed node06: left the fabric",
				"40s source-up counters",
			},
		},
		{
			name: "traps", script: "35s describe leaf2 new\n",
			options: Options{Sources: []Source{Traps}}, before: failing(14*time.Second, 20*time.Second),
			want: []string{
				"15s source-lost traps: renew subscriptions: Get PortInfo of route 0: device removed",
				"25s source-up traps: subscribed to the subnet manager at LID 4",
				"35s notice new: capabilities: changed: NodeDescription",
			},
		},
		{
			name: "another program receives the notices afterwards", options: Options{Sources: []Source{Links, Traps}},
			before: func(p packet) error {
				if p.opened < 4 && p.since >= time.Duration(p.opened)*14*time.Second {
					return umad.ErrDeviceRemoved
				}
				return nil
			},
			taken: func(opened int) bool { return opened > 1 },
			want: []string{
				"15s source-lost links: renew subscriptions: Get PortInfo of route 0: device removed",
				"15s source-lost traps: renew subscriptions: Get PortInfo of route 0: device removed",
				"25s source-up links: 22 nodes, 24 links",
				"35s source-lost links: device removed",
				"55s source-up links: 22 nodes, 24 links",
			},
		},
	} {
		t.Run(s.name, func(t *testing.T) {
			if r := s.check(t); r.summary.Losses == 0 || r.summary.Complete() {
				t.Errorf("got %+v, want losses", r.summary)
			}
		})
	}
}

// Another program that receives the notices ends the stream only if they are required.
func TestRun_TrapsTaken(t *testing.T) {
	s := scenario{
		options: Options{Sources: []Source{Links, Traps}}, taken: func(int) bool { return true },
		want: []string{"0s source-lost traps: taken by another program"},
	}
	if r := s.check(t); !r.summary.Complete() {
		t.Errorf("got %+v, want no loss: the source did not work at the start", r.summary)
	}
	s.options.Required = []Source{Traps}
	if r := s.watch(t); !errors.Is(r.err, umad.ErrTaken) {
		t.Errorf("required: got error %v, want %v", r.err, umad.ErrTaken)
	}
}
