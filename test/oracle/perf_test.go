//go:build oracle

package oracle

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWideCounters reads and resets 64-bit counters with perfquery. They are separate from the
// 32-bit counters, which stop at their maximum: a reset of one kind does not change the other.
func TestWideCounters(t *testing.T) {
	s := serveLive(t, "single-switch:hosts=3")
	sw := lidOfSwitch(t, s, "switch1")
	ctl(t, s, "perfcaps all 0x9300 2") // with 64-bit error counters
	set := map[string]string{
		"PortXmitData": "5000000000000", "PortMulticastRcvPkts": "18446744073709551615",
		"SymbolErrorCounter": "1099511627776", "LinkDownedCounter": "300", "ExcessiveBufferOverrunErrors": "16",
	}
	for name, value := range set {
		ctl(t, s, "counter switch1[1] "+name+" "+value)
	}
	read := func(args ...string) map[string]string {
		t.Helper()
		r := s.MustRunC(t, "", "perfquery", append(args, sw, "1")...)
		found := counterValues(r.Stdout)
		if r.Code != 0 || len(found) == 0 {
			t.Fatalf("perfquery %v: exit code %d: %s%s", args, r.Code, r.Stdout, r.Stderr)
		}
		// libumad2sim.so does not forward the end of a MAD.
		for _, cut := range []string{"VL15Dropped", "PortXmitWait"} {
			delete(found, cut)
		}
		maps.DeleteFunc(found, func(_, value string) bool { return value == "0" })
		return found
	}
	narrow := map[string]string{
		"PortXmitData": "4294967295", "SymbolErrorCounter": "65535", "LinkDownedCounter": "255", "ExcessiveBufferOverrunErrors": "15",
	}
	for _, step := range []struct {
		reset        string
		wide, narrow []string // counters that are 0 from now on
	}{
		{},
		{reset: "-x -R SW 1 0x1", wide: []string{"PortXmitData", "SymbolErrorCounter", "LinkDownedCounter", "ExcessiveBufferOverrunErrors"}},
		{reset: "-R SW 1 0x1004", narrow: []string{"PortXmitData", "LinkDownedCounter"}},
		{reset: "-x -r SW 1", wide: []string{"PortMulticastRcvPkts"}},
		{reset: "-r SW 1", narrow: []string{"SymbolErrorCounter", "ExcessiveBufferOverrunErrors"}},
	} {
		if step.reset != "" {
			args := strings.Fields(strings.Replace(step.reset, "SW", sw, 1))
			if r := s.MustRunC(t, "", "perfquery", args...); r.Code != 0 {
				t.Fatalf("perfquery %s: exit code %d: %s", step.reset, r.Code, r.Stderr)
			}
		}
		for _, name := range step.wide {
			delete(set, name)
		}
		for _, name := range step.narrow {
			delete(narrow, name)
		}
		if d := cmp.Diff(set, read("-x")); d != "" {
			t.Errorf("after %q, -x: set (-), read (+)\n%s", step.reset, d)
		}
		if d := cmp.Diff(narrow, read()); d != "" {
			t.Errorf("after %q: set (-), read (+)\n%s", step.reset, d)
		}
	}
}

// TestDataCounters shows and clears traffic counters with ibqueryerrors, and shows them
// next to errors.
func TestDataCounters(t *testing.T) {
	s := serveLive(t, "single-switch:hosts=3")
	for _, counter := range []string{"PortXmitData 5000000000", "PortRcvPkts 77", "PortUnicastRcvPkts 70", "VL15Dropped 4"} {
		ctl(t, s, "counter host002[1] "+counter)
	}
	run := func(line string) string {
		t.Helper()
		return s.MustRunC(t, "", "ibqueryerrors", strings.Fields("-t 100 --ca "+line)...).Stdout
	}
	has := func(line string, want bool, texts ...string) {
		t.Helper()
		out := run(line)
		for _, text := range texts {
			if strings.Contains(out, text) != want {
				t.Errorf("ibqueryerrors %s: %q there is %v, want %v, in\n%s", line, text, !want, want, out)
			}
		}
	}
	sent, got, unicast, dropped := "[PortXmitData == 5000000000 ", "[PortRcvPkts == 77 ", "[PortUnicastRcvPkts == 70 ", "[VL15Dropped == 4]"
	has("--counters", true, sent, got, unicast)
	has("--counters", false, dropped)
	has("--data", true, sent, got, unicast, dropped)
	has("", true, dropped)
	has("", false, sent)
	has("-K", true, dropped) // clears sent and received
	has("--counters", false, sent, got, unicast)
	has("-k", true, dropped)
	has("", false, dropped)
}

// TestAllPortsByOne makes perfquery add up the ports on an adapter that does not
// support this itself.
func TestAllPortsByOne(t *testing.T) {
	s := serveLive(t, "single-switch:hosts=3")
	ctl(t, s, "counter host001[1] PortRcvErrors 40000")
	r := s.MustRunC(t, "", "perfquery", "-a", lidOf(t, s, "host001"))
	if counterValues(r.Stdout)["PortRcvErrors"] != "40000" || !strings.Contains(r.Stdout, "PortSelect:......................255") ||
		!strings.Contains(r.Stderr, "Emulating AllPortSelect") {
		t.Errorf("%s%s", r.Stdout, r.Stderr)
	}
	sw := lidOfSwitch(t, s, "switch1")
	ctl(t, s, "counter switch1[1] PortRcvErrors 40000")
	ctl(t, s, "counter switch1[2] PortRcvErrors 40000")
	for _, caps := range []string{"0x9300", "0x9200"} { // the switch does it, or perfquery
		ctl(t, s, "perfcaps switch1 "+caps)
		r = s.MustRunC(t, "", "perfquery", "-a", sw)
		if emulated := strings.Contains(r.Stderr, "Emulating"); counterValues(r.Stdout)["PortRcvErrors"] != "65535" || emulated != (caps == "0x9200") {
			t.Errorf("%s: %s%s", caps, r.Stdout, r.Stderr)
		}
	}
}
