package perfquery

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/mad"
)

var (
	program = cmdtest.Classic(New)
	pid     = regexp.MustCompile(`\[\d+\]`)
)

// The C tool prints the expected output; test/oracle has more cases.
func TestPerfquery(t *testing.T) {
	const failed = "perfquery: iberror: failed: "
	for line, want := range map[string]struct {
		code     int
		out, err string // parts
	}{
		"3 1":                    {0, "# Port counters: Lid 3 port 1 (CapMask: 0x9300)\nPortSelect:......................1\n", ""},
		"-x 3 1":                 {0, "# Port extended counters: Lid 3 port 1 (CapMask: 0x9300 CapMask2: 0x0000002)\n", ""},
		"-D 3 1":                 {0, "# PortXmitDiscardDetails counters: Lid 3 port 1\nPortSelect:......................1\n", ""},
		"-T 3 1":                 {0, "# PortExtendedSpeedsCounters counters: Lid 3 port 1\n", ""},
		"-c 3 1":                 {0, "Tick:............................0x07\n", ""},
		"-a 3":                   {0, "# Port counters: Lid 3 port 255", ""},
		"-a 3 1-3":               {0, "# Port counters: Lid 3 port 255", ""},
		"-l 3 1,2":               {0, "# Port counters: Lid 3 port 2", ""},
		"-r 3 1":                 {0, "# Port counters: Lid 3 port 1", ""},
		"-R 3 1":                 {0, "", ""},
		"-a 4":                   {0, "# Port counters: Lid 4 port 255", "ibwarn: [] main: Emulating AllPortSelect by iterating through all ports\n"},
		"-l -a -x 4":             {0, "# Port extended counters: Lid 4 port 1 ", ""},
		"-R -x -a 4":             {0, "", "Emulating"},
		"4 255":                  {255, failed + "AllPortSelect not supported\n", ""},
		"3 200":                  {255, failed + "perfquery\n", ""},
		"-x 3 200":               {255, failed + "perfextquery\n", ""},
		"-e 3 200":               {255, failed + "perfquery\n", "ibwarn: [] mad_rpc: MAD completed with error status 0x1c; dport (Lid 3)\n"},
		"-R 3 200":               {255, failed + "perf reset\n", ""},
		"-x -R 3 200":            {255, failed + "perf ext reset\n", ""},
		"-D 3 200":               {255, failed + "cannot query PortXmitDiscardDetails\n", ""},
		"-D -R 3 200":            {255, failed + "cannot reset PortXmitDiscardDetails\n", ""},
		"-T -R 3 200":            {255, failed + "cannot reset PortExtendedSpeedsCounters\n", ""},
		"-c 3 200":               {255, failed + "sampctlquery\n", ""},
		"--swportvlcong 4 1":     {255, failed + "cannot query SwPortVLCongestion\n", ""},
		"-t 20 9999":             {255, failed + "classportinfo query\n", "ibwarn: [] mad_rpc: _do_madrpc failed; dport (Lid 9999)\n"},
		"-e -t 20 9999":          {255, failed, "_do_madrpc: retry 2 (timeout 20 ms)\nibwarn: [] _do_madrpc: timeout after 3 retries, 60 ms\n"},
		"-l 3 3-3":               {255, failed + "max port must be greater than min port in range\n", ""},
		"-l 3 1-300":             {255, failed + "a range has at most 255 ports\n", ""},
		"x":                      {255, failed + "can't resolve destination port x\n", ""},
		"--no-such":              {2, "", "Usage: perfquery"},
		"-K":                     {2, "", "Usage: perfquery"},
		"-V":                     {0, "", "BUILD VERSION"},
		"--extended_s -v 3 1":    {0, "# PortExtendedSpeedsCounters counters", ""},
		"-l 3 " + list(256):      {255, failed + "a list has at most 255 ports\n", ""},
		"-G 0x2c90000100a01 1 0": {0, "# Port counters: Lid 11 port 1", ""},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, errs := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"perfquery"}, strings.Fields(line)...)...)
			errs = pid.ReplaceAllString(errs, "[]")
			if code != want.code || !strings.Contains(out, want.out) || !strings.Contains(errs, want.err) || want.err == "" && errs != "" && want.code == 0 {
				t.Errorf("got exit code %d and\n%s%s\nwant %d and\n%s%s", code, out, errs, want.code, want.out, want.err)
			}
		})
	}
}

// list returns an n-port list.
func list(n int) string { return strings.TrimSuffix(strings.Repeat("1,", n), ",") }

// TestAddCounters checks that sums stop at each field's largest value.
func TestAddCounters(t *testing.T) {
	total := &mad.PortCounters{SymbolErrors: 65000, LocalLinkIntegrity: 10, XmitData: 1}
	port := &mad.PortCounters{
		PortSelection: mad.PortSelection{PortSelect: 3, CounterSelect: 7}, SymbolErrors: 1000, LocalLinkIntegrity: 10, XmitData: 2,
	}
	addCounters(total, port)
	want := mad.PortCounters{
		PortSelection: mad.PortSelection{PortSelect: allPorts, CounterSelect: 7}, SymbolErrors: 65535, LocalLinkIntegrity: 15, XmitData: 3,
	}
	if *total != want {
		t.Errorf("got %+v, want %+v", *total, want)
	}
	extended := &mad.PortCountersExtended{XmitData: 1<<64 - 2}
	addCounters(extended, &mad.PortCountersExtended{XmitData: 5})
	if extended.XmitData != 1<<64-1 {
		t.Errorf("got XmitData %d, want the largest", extended.XmitData)
	}
}
