package sim

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// do runs a command and returns its output.
func do(t *testing.T, f *Fabric, text string) string {
	t.Helper()
	c, err := f.ParseCommand("test", 1, text)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := f.Do(c, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCommands(t *testing.T) {
	f := build(t, "single-switch:hosts=3,radix=4")
	if _, err := f.Open("host001"); err != nil { // the fabric is in use
		t.Fatal(err)
	}
	sw := f.Node("switch1")
	host := f.Node("host002")
	state := func() ib.PortState { return host.Ports[1].Info.State }

	do(t, f, `unlink "host002"[1]`)
	if host.Ports[1].Peer != nil || state() != ib.PortDown || sw.Switch.PortStateChange != 1 {
		t.Errorf("after unlink: got %v, switch %+v, want a port that is down and a port state change", state(), sw.Switch)
	}
	do(t, f, `link switch1[2]`)
	if host.Ports[1].Peer != &sw.Ports[2] || state() != ib.PortActive {
		t.Errorf("after link: got %v, want Active", state())
	}
	do(t, f, "down host002")
	if sw.Ports[2].Info.State != ib.PortDown || !host.Silent {
		t.Errorf("after down: got %v at the switch, silent %v, want Down, true", sw.Ports[2].Info.State, host.Silent)
	}
	do(t, f, "unlink host002")
	do(t, f, "link host002[1] switch1[4]")
	if sw.Ports[4].Info.State != ib.PortDown {
		t.Errorf("powered-off node: got a link in state %v, want Down", sw.Ports[4].Info.State)
	}
	do(t, f, "up host002")
	if state() != ib.PortActive || sw.Ports[4].Info.State != ib.PortActive {
		t.Errorf("after up: got %v, %v at the switch, want Active", state(), sw.Ports[4].Info.State)
	}
	do(t, f, "hang switch1")
	do(t, f, "resume switch1")
	do(t, f, "ping all")
	do(t, f, "ping host003 off")
	if sw.Silent || host.PingServer != "host002" || f.Node("host003").PingServer != "" {
		t.Errorf("got ping servers %q and %q, silent %v, want host002 only, false", host.PingServer, f.Node("host003").PingServer, sw.Silent)
	}
	do(t, f, "sm host003[1]")
	if lid := f.Node("host003").Ports[1].Info.LID; host.Ports[1].Info.SMLID != lid || sw.Ports[0].Info.SMLID != lid {
		t.Errorf("got SM LID %d, want %d", host.Ports[1].Info.SMLID, lid)
	}
	do(t, f, "model loss=0.5,jitter=2us hop=1us")
	if f.Model != (Model{Loss: 0.5, Jitter: 2 * time.Microsecond, Hop: time.Microsecond}) {
		t.Errorf("got model %+v", f.Model)
	}
	do(t, f, "lft switch1 300 7")
	do(t, f, "top switch1 0xbfff")
	if sw.LFT[300] != 7 || sw.LFT[299] != noRoute || sw.Switch.LinearFDBTop != 0xbfff {
		t.Errorf("got port %d of LID 300, top %d, want 7, 49151", sw.LFT[300], sw.Switch.LinearFDBTop)
	}
	do(t, f, "mute switch1 linearforwardingtable 2")
	do(t, f, "mute switch1 SwitchInfo")
	for _, want := range []struct {
		attr     mad.AttrID
		modifier uint32
		muted    bool
	}{{mad.AttrLinearForwardingTable, 2, true}, {mad.AttrLinearForwardingTable, 1, false}, {mad.AttrSwitchInfo, 9, true}, {mad.AttrNodeInfo, 0, false}} {
		t.Run(fmt.Sprint(want.attr, " ", want.modifier), func(t *testing.T) {
			var p mad.Packet
			p.PutSMP(mad.SMPRequest{Method: mad.MethodGet, Attr: want.attr, Modifier: want.modifier})
			if sw.isMuted(&p) != want.muted {
				t.Errorf("%v %d: got muted %v, want %v", want.attr, want.modifier, !want.muted, want.muted)
			}
		})
	}
	if do(t, f, "mute switch1 off"); len(sw.muted) > 0 {
		t.Errorf("got %d muted attributes, want none", len(sw.muted))
	}
	do(t, f, "sweep")
	if got := do(t, f, "dump host001"); !strings.Contains(got, `[1] lid 1 Active/LinkUp "switch1"[1]`) {
		t.Errorf("got dump:\n%s", got)
	}
	help := do(t, f, "help")
	for _, c := range commands {
		if !strings.Contains(help, "  "+strings.TrimSpace(c.name+" "+c.usage)) || !strings.Contains(help, " "+c.about+"\n") {
			t.Errorf("got no command %s, %s:\n%s", c.name, c.about, help)
		}
	}
	// Descriptions begin in the same column, below commands that are longer.
	for _, want := range []string{
		"\n  sweep                          run the fabric's own subnet manager once\n",
		"\n  firmware NODE MAJOR MINOR SUBMINOR\n                                 set the version of the firmware (vendor)\n",
	} {
		if !strings.Contains(help, want) {
			t.Errorf("got %s, want the lines %s", help, want)
		}
	}
}

// TestCommand_PKeys sets a partition table, which the port's agent returns.
func TestCommand_PKeys(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	do(t, f, "pkeys host002[1] 0xffff 0x8001")
	port, err := f.Open("host002")
	if err != nil {
		t.Fatal(err)
	}
	r, err := umad.NewClient(port, umad.ClientOptions{}).Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.Local}, Attr: mad.AttrPKeyTable})
	if err != nil {
		t.Fatal(err)
	}
	var table mad.PKeyTable
	if err := r.MAD.Decode(&table); err != nil || table.PKeys[1] != 0x8001 || table.PKeys[2] != 0 {
		t.Errorf("got %v, %v, want P_Key 0x8001 at index 1", table.PKeys, err)
	}
	for text, want := range map[string]string{
		"pkeys host002[1]":                                  "a P_Key",
		"pkeys host002[1] 65536":                            "a P_Key",
		"pkeys host002[1]" + strings.Repeat(" 0x7fff", 129): "more than 128 P_Keys",
	} {
		if _, err := f.ParseCommand("f", 3, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30s: got %v, want %s", text, err, want)
		}
	}
}

func TestCommand_Errors(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	for text, want := range map[string]string{
		"link host001[1] host002[1]": `f:3:1: link host001[1] host002[1]: connect "host001"[1] to "host002"[1]`,
		"link switch1[4]":            "the port had no cable before",
	} {
		t.Run(text, func(t *testing.T) {
			c, err := f.ParseCommand("f", 3, text)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Do(c, nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestParseEvents_Errors(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	for text, want := range map[string]string{
		"soon down host001":             `f:2:1: got "soon down host001", want a time, for example 1.5s or 20us`,
		"-1s down host001":              `f:2:1: got "-1s down host001", want a time`,
		"@0 down host001":               `f:2:1: got "@0 down host001", want a time, for example 1.5s, or @ and a number of packets`,
		"\n# a comment\n1s":             "f:4:3: want a command (unlink, link, ",
		"1s explode host001":            `f:2:4: got "explode host001", want a command`,
		"1s down":                       "f:2:8: want a node at the end of the line",
		"1s down nobody":                `f:2:9: unknown node "nobody"`,
		"1s down host001 now":           `f:2:17: got "now", want the end of the line`,
		`1s link "host001"[1] switch1`:  "f:2:29: want a port number in brackets at the end of the line",
		"1s unlink switch1[9]":          `f:2:18: want a port of node "switch1", from 1 to 4`,
		"1s flap switch1[1] often":      `f:2:20: got "often", want a duration`,
		"1s model loss=2":               `f:2:15: got "2", want a fraction of the packets, from 0 to 1`,
		"1s model colour=red":           `f:2:10: got "colour=red", want NAME=VALUE`,
		"1s dump":                       `f:2:4: got "dump", want a command that changes the fabric`,
		"1s lft host001 1 1":            `f:2:8: "host001" is not a switch`,
		"1s lft switch1 1 256":          `f:2:18: got "256", want a port, or 255 for none`,
		"1s mute switch1 Weather":       `f:2:17: got "Weather", want off, or one of NodeDescription, NodeInfo, SwitchInfo`,
		"1s congest switch1[1] host001": "f:2:30: want a node at the end of the line",
	} {
		t.Run(text, func(t *testing.T) {
			events, err := f.ParseEvents(strings.NewReader("\n"+text), "f")
			if err == nil || !strings.HasPrefix(err.Error(), want) || events != nil {
				t.Errorf("got %d events, %v, want %s", len(events), err, want)
			}
		})
	}
}

// TestPlay checks that events are applied at their times and packet counts.
func TestPlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=3,radix=4")
		events, err := f.ParseEvents(strings.NewReader(
			"2ms up host002\n1ms down host002\n\n@3 hang host003\n4ms flap switch1[2] 1ms 2\n5ms link switch1[1] switch1[4]\n"), "f")
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Open("host001")
		if err != nil {
			t.Fatal(err)
		}
		var failed []error
		f.Play(events, func(err error) { failed = append(failed, err) })
		host, other := f.Node("host002"), f.Node("host003")
		up := func() bool {
			f.Advance()
			return host.Ports[1].up()
		}
		start := time.Now()
		for _, want := range []bool{true, false, true, true, false, true, false, true, true} {
			if up() != want {
				t.Errorf("after %v: got up %v, want %v", time.Since(start), !want, want)
			}
			time.Sleep(time.Millisecond)
		}
		if len(failed) != 1 || !strings.Contains(failed[0].Error(), "f:6:5: link switch1[1] switch1[4]") {
			t.Errorf("got errors %v, want one of the link command", failed)
		}
		for i := range 4 {
			if other.Silent {
				t.Errorf("got a silent node after %d packets, want 3", i)
			}
			if err := p.Send(&umad.Message{Addr: umad.Addr{LID: 1}}); err != nil {
				t.Fatal(err)
			}
		}
		if !other.Silent {
			t.Error("the node is not silent after the third packet")
		}
	})
}

// A flap goes on at its times while no packet is sent: the next packet finds all its changes.
func TestPlay_Idle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=3,radix=4")
		events, err := f.ParseEvents(strings.NewReader("0s flap switch1[2] 10ms 5\n5ms rate switch1[3] SymbolErrorCounter 100\n"), "f")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Open("host001"); err != nil { // the fabric is in use
			t.Fatal(err)
		}
		f.Play(events, func(err error) { t.Error(err) })
		f.Advance()
		time.Sleep(1005 * time.Millisecond)
		f.Advance()
		sw := f.Node("switch1")
		if n, err := f.Counter(&sw.Ports[2], "LinkDownedCounter"); err != nil || n != 5 || !sw.Ports[2].up() {
			t.Errorf("got LinkDownedCounter %d, error %v, link up %v, want 5 and a link that is up", n, err, sw.Ports[2].up())
		}
		if n, err := f.Counter(&sw.Ports[3], "SymbolErrorCounter"); err != nil || n != 100 {
			t.Errorf("got SymbolErrorCounter %d, error %v, want 100: it grows from the time of its event", n, err)
		}
	})
}

// Events before the first request for counters are counted, by time or packet count, but
// not later changes in a flap.
func TestFabric_EarlyEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "single-switch:hosts=3,radix=4")
		events, err := f.ParseEvents(strings.NewReader("0s flap switch1[2] 10ms 5\n@1 hang host003\n1s resume host003\n"), "f")
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Open("host001")
		if err != nil {
			t.Fatal(err)
		}
		f.Play(events, func(err error) { t.Error(err) })
		get := func(attr mad.AttrID) {
			t.Helper()
			m := umad.Message{Addr: umad.Addr{LID: f.Node("switch1").Ports[0].Info.LID, QPN: 1}}
			m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassPM, ClassVersion: 1, Method: mad.MethodGet, Attr: attr})
			if err := p.Send(&m); err != nil {
				t.Fatal(err)
			}
		}
		get(mad.AttrClassPortInfo)
		get(mad.AttrClassPortInfo)
		if n := f.EarlyEvents(); n != 0 {
			t.Errorf("before the first request: got %d events, want 0", n)
		}
		get(mad.AttrPortCounters)
		time.Sleep(2 * time.Second)
		get(mad.AttrPortCounters)
		if n := f.EarlyEvents(); n != 2 {
			t.Errorf("got %d events, want 2", n)
		}
	})
}

// TestRandomEvents checks that events depend on the seed only.
func TestRandomEvents(t *testing.T) {
	f := build(t, "demo")
	list := func(description string) string {
		events, err := f.ReadEvents(description)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, e := range events {
			b.WriteString(e.After.String() + " " + e.Command.text + "\n")
		}
		return b.String()
	}
	one, two := list("random:seed=7,count=20,within=1s"), list("random:seed=8,count=20,within=1s")
	if one != list("random:seed=7,count=20,within=1s") || one == two || strings.Count(one, "\n") < 20 {
		t.Errorf("got events\n%s", one)
	}
	for _, bad := range []string{"random:seed=x", "random:colour=1", "random:seed=1;", "random:count=100001", "/nonexistent"} {
		if _, err := f.ReadEvents(bad); err == nil {
			t.Errorf("%s: got no error", bad)
		}
	}
}

// FuzzEvents checks that any script is rejected or can be played.
func FuzzEvents(f *testing.F) {
	f.Add("1.5s down host001\n@3 flap \"switch1\"[2] 1ms 4\n")
	f.Add("1ms model loss=0.1,queue=3 seed=0x7\n2ms ping all off\n3ms sm host002[1]\n")
	f.Add("1ms lft switch1 4 200\n2ms top switch1 0xffff\n3ms mute switch1 LinearForwardingTable 0\n4ms mute switch1 off\n")
	f.Add("1ms unlink host001\n2ms link host001[1]\n# a comment\n3ms sweep\n")
	f.Fuzz(func(t *testing.T, script string) {
		fabric := build(t, "single-switch:hosts=2,radix=4")
		events, err := fabric.ParseEvents(strings.NewReader(script), "f")
		if err != nil {
			return
		}
		for i := range events {
			events[i].After = 0
		}
		fabric.Play(events, func(error) {})
		p, err := fabric.Open("host001")
		if err != nil {
			t.Fatal(err)
		}
		_ = p.Send(&umad.Message{Addr: umad.Addr{LID: 1}})
	})
}
