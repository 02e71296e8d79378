//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/ibsim"
)

// subscribe runs ibkit trap at node02.
func subscribe(t *testing.T, s *ibsimtest.Sim, args ...string) *ibsimtest.Daemon {
	t.Helper()
	return s.NewDaemon(t, "node02", "subscribed to notices", ibkit(), append([]string{"trap", "--sim", "ibsim", "--json"}, args...)...)
}

// notices returns the names of the notices that a subscriber has received, with their
// subjects' names or GIDs, sorted.
func notices(t *testing.T, d *ibsimtest.Daemon) (all []string) {
	t.Helper()
	out, _ := d.Output()
	for line := range strings.Lines(out) {
		if !strings.HasSuffix(line, "\n") {
			break // not yet complete
		}
		var event struct {
			Subject string
			Data    struct{ Notice *struct{ Name string } }
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if n := event.Data.Notice; n != nil {
			all = append(all, n.Name+" "+event.Subject)
		}
	}
	slices.Sort(all)
	return all
}

// TestTrap_OpenSM checks that opensm forwards notices to a subscription: it sweeps only
// because of traps.
func TestTrap_OpenSM(t *testing.T) {
	s := serveLive(t, "--sm=off", "demo")
	s.NewSM(t, "node01", "sweep_interval 600")
	d := subscribe(t, s)
	var want []string
	expect := func(more ...string) {
		t.Helper()
		want = slices.Sorted(slices.Values(append(want, more...)))
		within(t, time.Minute, strings.Join(more, ", "), func() bool { return len(notices(t, d)) >= len(want) })
		if got := notices(t, d); !slices.Equal(got, want) {
			t.Fatalf("got notices %q, want %q", got, want)
		}
	}
	ctl(t, s, "unlink node06[1]")
	expect("link-state leaf2", "out-of-service node06")
	ctl(t, s, "link node06[1]")
	expect("link-state leaf2", "in-service node06")
	ctl(t, s, "describe node03 a new name")
	expect("capabilities a new name")
	multicast(t, s, mad.MethodSet)
	expect("group-created " + group.String())
	multicast(t, s, mad.MethodDelete)
	expect("group-deleted " + group.String())
}

var group = ib.GID{0: 0xff, 1: 0x12, 2: 0xa0, 15: 0x77}

// multicast makes node05 join or leave a new multicast group.
func multicast(t *testing.T, s *ibsimtest.Sim, method mad.Method) {
	t.Helper()
	o := ibsim.Options{Node: "node05"}
	for _, v := range s.Env() {
		if name, value, _ := strings.Cut(v, "="); name == "IBSIM_SOCKNAME" {
			o.SockName = value
		}
	}
	p, err := ibsim.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r := &mad.MCMemberRecord{
		MGID: group, PortGID: ib.MakeGID(p.Attr().GIDPrefix, p.Attr().PortGUID), JoinState: 1, PKey: 0xffff, QKey: 7,
		MTUSelector: mad.SelectExactly, MTU: ib.MTU2048, RateSelector: mad.SelectExactly, Rate: ib.Rate10, Scope: 2,
	}
	mask := mad.Components(r, &r.MGID, &r.PortGID, &r.JoinState, &r.QKey, &r.PKey, &r.SL, &r.FlowLabel, &r.TrafficClass,
		&r.MTUSelector, &r.MTU, &r.RateSelector, &r.Rate)
	_, err = umad.NewClient(p, umad.ClientOptions{}).Call(t.Context(), &umad.Request{
		To: umad.Target{LID: p.Attr().SMLID}, Method: method, Value: r, Mask: mask,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// forwarded are the notices that opensm forwards for the ibsendtrap traps, with the number
// of traps. It forwards no traps 129 to 131 (opensm/osm_trap_rcv.c).
var forwarded = map[string]int{
	"capabilities node05": 2, "system-image node05": 1, "m-key node05": 2, "p-key node01": 1, "q-key node01": 1,
}

var sendtraps = []string{
	"node_desc_change", "link_speed_enabled_change", "local_link_integrity", "sys_image_guid_change", "mkey_lid", "mkey_dr", "pkey", "qkey",
}

// TestIbsendtrap_OpenSM checks that no trap is lost although ibsendtrap ends at once, on both
// simulators.
func TestIbsendtrap_OpenSM(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func() (s *ibsimtest.Sim, manager, sender, listener string){
		"sim serve": func() (*ibsimtest.Sim, string, string, string) {
			return serveLive(t, "--sm=off", "demo"), "node01", "node05", "node02"
		},
		"ibsim": func() (*ibsimtest.Sim, string, string, string) {
			return ibsimtest.New(t, "../nets/multi-port-hosts.net"), "both-on-one", "gateway", "one-on-each"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, manager, sender, listener := start()
			s.NewSM(t, manager, "sweep_interval 600")
			d := s.NewDaemon(t, listener, "subscribed to notices", ibkit(), "trap", "--sim", "ibsim", "--json")
			const rounds = 3
			sum := 0
			for range rounds {
				for _, trap := range sendtraps {
					if r := s.MustRun(t, sender, ibkit(), "ibsendtrap", "--sim", "ibsim", trap); r.Code != 0 {
						t.Fatalf("%s: got exit code %d, %s%s", trap, r.Code, r.Stdout, r.Stderr)
					}
				}
			}
			want := map[string]int{}
			for kind, n := range forwarded {
				kind, _, _ = strings.Cut(kind, " ")
				want[kind] += rounds * n
				sum += rounds * n
			}
			received := func() map[string]int {
				got := map[string]int{}
				for _, n := range notices(t, d) {
					if kind, _, _ := strings.Cut(n, " "); want[kind] > 0 {
						got[kind]++
					}
				}
				return got
			}
			within(t, time.Minute, fmt.Sprint(sum, " notices"), func() bool { return maps.Equal(received(), want) })
		})
	}
}

// TestTrapSend_OpenSM checks that opensm represses each trap.
func TestTrapSend_OpenSM(t *testing.T) {
	s := serveLive(t, "--sm=off", "demo")
	s.NewSM(t, "node01", "sweep_interval 600")
	for _, kind := range []string{"link-state", "link-integrity", "capabilities", "system-image", "m-key", "p-key", "q-key"} {
		if r := s.MustRun(t, "node05", ibkit(), "trap", "send", "--sim", "ibsim", kind); r.Code != 0 || !strings.Contains(r.Stdout, "repressed after") {
			t.Errorf("%s: got exit code %d, %s%s", kind, r.Code, r.Stdout, r.Stderr)
		}
	}
}

// TestTrap_Subscriptions reads the subscriptions with saquery: renewals do not add any, and SIGTERM
// ends them.
func TestTrap_Subscriptions(t *testing.T) {
	s := serveLive(t, "--sm=off", "demo")
	s.NewSM(t, "node01", "sweep_interval 600")
	count := func() int {
		return strings.Count(s.MustRunC(t, "node05", "saquery", "IIR").Stdout, "InformInfoRecord dump")
	}
	before := count()
	d := subscribe(t, s, "--renew", "50ms", "-v", "-v")
	renewals := func() bool {
		_, stderr := d.Output()
		return strings.Count(stderr, "sent: SubnAdm Set InformInfo") >= 10
	}
	within(t, time.Minute, "renewals", renewals)
	if got := count() - before; got != 2 {
		t.Errorf("got %d subscriptions, want 2", got)
	}
	if r := d.MustEnd(t, syscall.SIGTERM); r.Code != 0 {
		t.Errorf("got exit code %d, %s", r.Code, r.Stderr)
	}
	if got := count() - before; got != 0 {
		t.Errorf("after the end: got %d subscriptions, want 0", got)
	}
	if r := s.MustRun(t, "node02", ibkit(), "trap", "--sim", "ibsim", "--trap", "m-key"); r.Code != 1 || !strings.Contains(r.Stderr, "hint: security traps require the SM_Key") {
		t.Errorf("without the SM_Key: got exit code %d, %s", r.Code, r.Stderr)
	}
}

// TestTrap_Lost checks that the end and the start of opensm are reported.
func TestTrap_Lost(t *testing.T) {
	s := serveLive(t, "--sm=off", "demo")
	sm, err := s.StartSM("node01", "sweep_interval 600")
	if err != nil {
		t.Fatal(err)
	}
	d := subscribe(t, s, "--renew", "200ms", "-t", "200", "--trap", "in-service")
	events := func(kind string, n int) func() bool {
		return func() bool {
			out, _ := d.Output()
			return strings.Count(out, `"kind":"`+kind+`"`) >= n
		}
	}
	if err := sm.Stop(); err != nil {
		t.Fatal(err)
	}
	within(t, time.Minute, "loss", events("source-lost", 1))
	s.NewSM(t, "node01", "sweep_interval 600")
	within(t, time.Minute, "second subscription", events("source-up", 2))
	if r := d.MustEnd(t, syscall.SIGINT); r.Code != 4 {
		t.Errorf("got exit code %d, want 4\n%s", r.Code, r.Stderr)
	}
}

// TestMcmReregTest checks with saquery that the ports have joined, and compares the output
// with the C tool's for ports that joined.
func TestMcmReregTest(t *testing.T) {
	t.Parallel()
	s := serveLive(t, "--sm=off", "demo")
	s.NewSM(t, "node01", "sweep_interval 600")
	list := filepath.Join(t.TempDir(), "guids")
	if err := os.WriteFile(list, []byte("0x0002c90000100501\n0x0002c90000100801\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := "INFO: rereg_send_all... cnt = 2\nINFO: rereg_send_all: sent 4 requests\nINFO: rereg_recv_all...\n" +
		"INFO: rereg_recv_all: got 4 responses\nINFO: rereg_query_all...\nINFO: rereg_query_all: 2 queried.\n"
	for range 2 { // the ports join, leave and join
		if r := s.MustRun(t, "node02", ibkit(), "mcm_rereg_test", "--sim", "ibsim", list); r.Code != 0 || r.Stderr != want {
			t.Errorf("got exit code %d, %s, want %s", r.Code, r.Stderr, want)
		}
		members := s.MustRunC(t, "node05", "saquery", "--smkey", "1", "-m", "0xc000").Stdout
		for _, guid := range []string{"fe80::2:c900:10:501", "fe80::2:c900:10:801"} {
			if !strings.Contains(members, guid) {
				t.Errorf("got members\n%s\nwant %s", members, guid)
			}
		}
	}
}
