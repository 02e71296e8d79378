//go:build guest

package devices_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/doctor"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
)

const roceDevice = "rxe9"

// newRoCE boots a guest with a RoCE device on a network device with data center bridging.
func newRoCE(t *testing.T) *guest.Guest {
	t.Helper()
	g := guest.New(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}}, // loads the modules
		Tools:   []string{"dcb", "ethtool", "ip", "rdma"}, Programs: []guest.Program{guest.Ibkit},
		Insert: []string{guest.Module(t, debian.Bookworm, "testdata/dcbtest")},
	})
	g.Must(t, "sh", "-exc", "mount -t configfs none /sys/kernel/config; ip link set dcb0 up; ip address add 10.9.0.1/24 dev dcb0; rdma link add "+roceDevice+" type rxe netdev dcb0")
	return g
}

// TestRoCE compares settings with the program dcb, before and after the repair commands that
// ibkit prints, which must leave no mismatch.
func TestRoCE(t *testing.T) {
	t.Parallel()
	g := newRoCE(t)
	compareSettings(t, g)
	var seen []string
	for range 2 * 8 { // more repairs than settings
		r := g.MustRun(t, "ibkit", "doctor", "--json", "--only", "lossless")
		var found doctor.Result
		if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
			t.Fatalf("%v\n%s%s", err, r.Stdout, r.Stderr)
		}
		i := slices.IndexFunc(found.Items, func(i doctor.Item) bool { return i.Subject == roceDevice+"/1" && len(i.Fix) > 0 })
		if i < 0 {
			if ok := found.Items[len(found.Items)-1]; ok.Verdict != doctor.OK || r.Code != 0 {
				t.Errorf("after %v: got %+v, exit code %d, want no mismatch", seen, ok, r.Code)
			}
			break
		}
		seen = append(seen, found.Items[i].Found)
		t.Logf("%s\n%s", found.Items[i].Found, strings.Join(found.Items[i].Fix, "\n"))
		g.Must(t, "sh", "-exc", strings.Join(found.Items[i].Fix, "\n"))
		compareSettings(t, g)
	}
	for _, want := range []string{"PFC is off", "no DSCP is mapped", "priority 3 has buffer 0 together", "priority 3 has queue 0 together", "programs that set no traffic class"} {
		if !slices.ContainsFunc(seen, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("got mismatches %q, want %q", seen, want)
		}
	}
	o := settings(t, g)
	const marking = "traffic class 106 (rdma_cm) → DSCP 26 → priority 3 → PFC on → buffer 1 (64 KiB) → queue 1 (strict)"
	if m := o.Ports[0].Links[0].Markings; len(m) != 1 || m[0].String() != marking {
		t.Errorf("got %v, want %s", m, marking)
	}
}

// settings returns the settings of the device.
func settings(t *testing.T, g *guest.Guest) *roce.Overview {
	t.Helper()
	r := g.MustRun(t, "ibkit", "devinfo", "--roce", "--json", roceDevice)
	var o roce.Overview
	if err := json.Unmarshal([]byte(r.Stdout), &o); err != nil || len(o.Ports) != 1 || len(o.Ports[0].Links) != 1 {
		t.Fatalf("got exit code %d, %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	return &o
}

// compareSettings compares the settings with the program dcb.
func compareSettings(t *testing.T, g *guest.Guest) {
	t.Helper()
	l := settings(t, g).Ports[0].Links[0]
	onOff := func(p int) string { return map[bool]string{true: "on", false: "off"}[slices.Contains(l.PFC, p)] }
	class := func(p int) string {
		i := slices.IndexFunc(l.Classes, func(c roce.TrafficClass) bool { return slices.Contains(c.Priorities, p) })
		return fmt.Sprint(l.Classes[i].Number)
	}
	buffer := func(p int) string {
		i := slices.IndexFunc(l.Buffers, func(b roce.Buffer) bool { return slices.Contains(b.Priorities, p) })
		return fmt.Sprint(l.Buffers[i].Number)
	}
	size := func(n int) string {
		for _, b := range l.Buffers {
			if b.Number == n && b.Size > 0 {
				return fmt.Sprintf("%dKb", b.Size>>10)
			}
		}
		return "0b"
	}
	line := func(name string, value func(int) string) string {
		for i := range 8 {
			name += fmt.Sprintf(" %d:%s", i, value(i))
		}
		return name
	}
	theirs := ""
	for _, object := range []string{"pfc", "ets", "buffer", "dcbx", "app"} {
		theirs += g.MustRun(t, "dcb", "-s", "-N", object, "show", "dev", "dcb0").Stdout
	}
	theirs = regexp.MustCompile(`[ \t]+`).ReplaceAllString(theirs, " ")
	want := []string{line("prio-pfc", onOff), line("prio-tc", class), line("prio-buffer", buffer), line("buffer-size", size), *l.DCBX}
	for code, priority := range l.DSCP {
		want = append(want, fmt.Sprintf("%s:%d", code, priority))
	}
	for _, w := range want {
		if !strings.Contains(theirs, w) {
			t.Errorf("got %q from ibkit, dcb has\n%s", w, theirs)
		}
	}
}

// TestRoCE_Statistics compares statistics with ethtool and rdma, and judges their increase.
func TestRoCE_Statistics(t *testing.T) {
	t.Parallel()
	g := newRoCE(t)
	ours := local(t, g)
	if o := settings(t, g).Ports[0].Optional; o == nil || len(o) > 0 {
		t.Errorf("got optional counters %v, want an empty list, as Soft-RoCE has", o)
	}
	for _, line := range strings.Split(g.MustRun(t, "ethtool", "-S", "dcb0").Stdout, "\n") {
		name, value, found := strings.Cut(strings.TrimSpace(line), ": ")
		got, known := ours[roce.StatisticPrefix+name]
		switch {
		case !found:
		case known != (name != "rx_prio3_bytes"):
			t.Errorf("%s: got known %v, want all but the bytes", name, known)
		case known && fmt.Sprint(got) != value:
			t.Errorf("%s: got %d, want %s", name, got, value)
		}
	}
	fields := strings.Fields(g.MustRun(t, "rdma", "statistic", "show", "link", roceDevice+"/1").Stdout)
	if len(fields) < 4 {
		t.Fatalf("got %q from rdma, want counters", fields)
	}
	for i := 2; i+1 < len(fields); i += 2 {
		if got, known := ours[fields[i]]; !known || fmt.Sprint(got) != fields[i+1] {
			t.Errorf("%s: got %d, known %v, want %s", fields[i], got, known, fields[i+1])
		}
	}
	// $i counts the seconds.
	for _, test := range []struct{ stats, verdict string }{
		{"1000,2000,3,4,50,60,7,80", "ok: no loss and no harmful pause within"},
		{"1000,2000,3,4,$((50+i*900000)),60,7,80", "error: the peer paused this port for "},
		{"1000,2000,3,$((i*10000)),50,60,7,80", "warning: this port paused its peer, with 0 packets in this direction: ethtool_tx_prio3_pause +"},
	} {
		r := g.MustRun(t, "sh", "-c", `i=0; while :; do echo "`+test.stats+`" >/sys/module/dcbtest/parameters/stats; i=$((i+1)); sleep 1; done &
			ibkit doctor --json --only traffic --window 5s; kill $!`)
		var found doctor.Result
		if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
			t.Fatalf("%v\n%s%s", err, r.Stdout, r.Stderr)
		}
		i := slices.IndexFunc(found.Items, func(i doctor.Item) bool { return i.Subject == roceDevice+"/1" })
		if got := fmt.Sprintf("%s: %s", found.Items[i].Verdict, found.Items[i].Found); !strings.HasPrefix(got, test.verdict) {
			t.Errorf("got %s, want %s", got, test.verdict)
		}
	}
}

// local returns the counters of the device.
func local(t *testing.T, g *guest.Guest) map[string]uint64 {
	t.Helper()
	r := g.MustRun(t, "ibkit", "counters", "--local", "--json")
	var l counters.ReportLocal
	if err := json.Unmarshal([]byte(r.Stdout), &l); err != nil {
		t.Fatalf("%v\n%s%s", err, r.Stdout, r.Stderr)
	}
	i := slices.IndexFunc(l.Ports, func(p *counters.LocalPort) bool { return p.Device == roceDevice })
	return l.Ports[i].Counters
}
