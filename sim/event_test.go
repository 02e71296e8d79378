package sim

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
)

// do carries out a command.
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
	if _, err := f.Open("host001"); err != nil { // from now on it is in use
		t.Fatal(err)
	}
	sw := f.Node("switch1")
	host := f.Node("host002")
	state := func() ib.PortState { return host.Ports[1].Info.State }

	do(t, f, `unlink "host002"[1]`)
	if host.Ports[1].Peer != nil || state() != ib.PortDown || sw.Switch.PortStateChange != 1 {
		t.Errorf("unlinked: %v, switch %+v", state(), sw.Switch)
	}
	do(t, f, `link switch1[2]`)
	if host.Ports[1].Peer != &sw.Ports[2] || state() != ib.PortActive {
		t.Errorf("linked again: %v", state())
	}
	do(t, f, "down host002")
	if sw.Ports[2].Info.State != ib.PortDown || !host.Silent {
		t.Errorf("without power: %v at the switch", sw.Ports[2].Info.State)
	}
	do(t, f, "unlink host002")
	do(t, f, "link host002[1] switch1[4]")
	if sw.Ports[4].Info.State != ib.PortDown {
		t.Errorf("a node without power has a link")
	}
	do(t, f, "up host002")
	if state() != ib.PortActive || sw.Ports[4].Info.State != ib.PortActive {
		t.Errorf("with power again: %v", state())
	}
	do(t, f, "hang switch1")
	do(t, f, "resume switch1")
	do(t, f, "ping all")
	do(t, f, "ping host003 off")
	if sw.Silent || host.PingServer != "host002" || f.Node("host003").PingServer != "" {
		t.Errorf("ping servers %q and %q", host.PingServer, f.Node("host003").PingServer)
	}
	do(t, f, "sm host003[1]")
	if lid := f.Node("host003").Ports[1].Info.LID; host.Ports[1].Info.SMLID != lid || sw.Ports[0].Info.SMLID != lid {
		t.Errorf("SM at LID %d", host.Ports[1].Info.SMLID)
	}
	do(t, f, "model loss=0.5,jitter=2us hop=1us")
	if f.Model != (Model{Loss: 0.5, Jitter: 2 * time.Microsecond, Hop: time.Microsecond}) {
		t.Errorf("model %+v", f.Model)
	}
	do(t, f, "sweep")
	if got := do(t, f, "dump host001"); !strings.Contains(got, `[1] lid 1 Active/LinkUp "switch1"[1]`) {
		t.Errorf("dump:\n%s", got)
	}
	if got := do(t, f, "help"); strings.Count(got, "\n") != len(verbs) {
		t.Errorf("help:\n%s", got)
	}
}

func TestCommandFails(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	for text, want := range map[string]string{
		"link host001[1] host002[1]": `f:3:1: link host001[1] host002[1]: connect "host001"[1] to "host002"[1]`,
		"link switch1[4]":            "name the port at its other end",
	} {
		c, err := f.ParseCommand("f", 3, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if err := f.Do(c, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
}

func TestEventErrors(t *testing.T) {
	f := build(t, "single-switch:hosts=2,radix=4")
	for text, want := range map[string]string{
		"soon down host001":            `f:1:1: expected a time such as 1.5s or 20us, not "soon down host001"`,
		"-1s down host001":             "f:1:1: expected a time",
		"@0 down host001":              "f:1:1: expected a time such as 1.5s, or @ and a number of packets",
		"\n# nothing\n1s":              "f:3:3: expected a command (unlink, link, ",
		"1s explode host001":           "f:1:4: expected a command",
		"1s down":                      "f:1:8: expected a node at the end of the line",
		"1s down nobody":               `f:1:9: expected a node of the fabric, and "nobody" is none`,
		"1s down host001 now":          `f:1:17: expected the end of the line, not "now"`,
		`1s link "host001"[1] switch1`: "f:1:29: expected a port number in brackets at the end of the line",
		"1s unlink switch1[9]":         "f:1:18: expected a port from 1 to 4",
		"1s flap switch1[1] often":     "f:1:20: expected how long the link is down",
		"1s model loss=2":              "f:1:15: expected a part of all packets, from 0 to 1",
		"1s model colour=red":          "f:1:10: expected NAME=VALUE",
		"1s dump":                      "f:1:4: expected a command that changes the fabric",
	} {
		events, err := f.ParseEvents(strings.NewReader("\n"+text), "f")
		// The empty line before is not counted in what is wanted.
		if err == nil || !strings.HasPrefix(strings.Replace(err.Error(), "f:2:", "f:1:", 1), want) &&
			!strings.HasPrefix(strings.Replace(err.Error(), "f:4:", "f:3:", 1), want) || events != nil {
			t.Errorf("%q: %d events, error %v, want %s", text, len(events), err, want)
		}
	}
}

// Events happen at their time, and between those that wait for packets.
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
				t.Errorf("after %v: up %v", time.Since(start), !want)
			}
			time.Sleep(time.Millisecond)
		}
		if len(failed) != 1 || !strings.Contains(failed[0].Error(), "f:6:5: link switch1[1] switch1[4]") {
			t.Errorf("failed: %v", failed)
		}
		for i := range 4 {
			if other.Silent {
				t.Errorf("silent after %d packets", i)
			}
			if err := p.Send(&umad.Message{Addr: umad.Addr{LID: 1}}); err != nil {
				t.Fatal(err)
			}
		}
		if !other.Silent {
			t.Error("the third packet changes nothing")
		}
	})
}

// The same seed makes the same events.
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
		t.Errorf("events\n%s", one)
	}
	for _, bad := range []string{"random:seed=x", "random:colour=1", "random:seed=1;", "/nonexistent"} {
		if _, err := f.ReadEvents(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// FuzzEvents checks that any script can come, and that one which is taken can be
// played.
func FuzzEvents(f *testing.F) {
	f.Add("1.5s down host001\n@3 flap \"switch1\"[2] 1ms 4\n")
	f.Add("1ms model loss=0.1,queue=3 seed=0x7\n2ms ping all off\n3ms sm host002[1]\n")
	f.Add("1ms unlink host001\n2ms link host001[1]\n# nothing\n3ms sweep\n")
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
