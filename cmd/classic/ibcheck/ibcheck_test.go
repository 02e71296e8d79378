package ibcheck

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
)

func run(t *testing.T, line string) (code int, out, errs string) {
	args := strings.Fields(line)
	return cmdtest.Classic(New(args[0])).Run(t, map[string]string{"IBKIT_SIM": "demo"}, args...)
}

const topologyFile = `ibwarn: a message
Switch	8 "S-0002c90000800200"		# "leaf1" enhanced port 0 lid 3 lmc 0
[1]	"S-0002c90000800000"[1]		# "spine1" lid 1 4xHDR
[2]	"H-0002c90000100300"[1]		# "node01" lid 4 4xHDR
Ca	1 "H-0002c90000100300"		# "node01"
[1](2c90000100001) 	"S-0002c90000800200"[2]		# lid 4 lmc 0 "leaf1" lid 3 4xHDR
Ca	1 "H-0002c90000100099"		# "gone"
[1](2c90000100999) 	"S-0002c90000800200"[3]		# lid 999 lmc 0 "leaf1" lid 3 4xHDR
`

// The rdma-core 44 scripts print the same output; test/oracle has more cases.
func TestScripts(t *testing.T) {
	file := cmdtest.WriteFile(t, topologyFile)
	thresholds := cmdtest.WriteFile(t, "PortRcvErrors=5000\nSymbolErrorCounter=70000\nLinkDownedCounter=2\n")
	for line, want := range map[string]struct {
		code int
		out  string
	}{
		"ibcheckerrs -N -S 3 1": {255, "#warn: counter SymbolErrorCounter = 48213 \t(threshold 10) lid 3 port 1\n" +
			"#warn: counter PortRcvErrors = 127 \t(threshold 10) lid 3 port 1\nError check on lid 3 (leaf1) port 1: FAILED\n"},
		"ibcheckerrs -b 3 1":                       {255, "Error check on lid 3 (leaf1) port 1: \033[1;031m FAILED \033[0;39m\n"},
		"ibcheckerrs -v 3 2":                       {0, "Error check on lid 3 (leaf1) port 2: \033[1;032m OK \033[0;39m\n"},
		"ibcheckerrs 3 2":                          {0, ""},
		"ibcheckerrs -N -v 4":                      {0, "Error check on lid 4 (node01) port all: AllPortSelect not supported\n"},
		"ibcheckerrs -N 3 99":                      {255, "perfquery: iberror: failed: perfquery\nError check on lid 3 (leaf1) port 99: FAILED\n"},
		"ibcheckerrs -N 0 1":                       {255, "lid 0 address resolution: FAILED\n"},
		"ibcheckerrs -N -G 0x1 1":                  {255, "guid 0x1 address resolution: FAILED\n"},
		"ibcheckerrs -T " + thresholds + " -N 3 1": {255, "#warn: counter LinkDownedCounter = 2 \t(threshold 2) lid 3 port 1\nError check on lid 3 (leaf1) port 1: FAILED\n"},
		"ibdatacounts -N -G 0x2c90000800200 1": {0, "# Port counters: Lid 3 port 1 (CapMask: 0x9300)\nPortXmitData:.........................4294967295\n" +
			"PortRcvData:.........................4294967295\nPortXmitPkts:.........................4294967295\nPortRcvPkts:.........................4294967295\n"},
		"ibdatacounts -N 4": {255, "Error on lid 4 (node01) port all: FAILED\n"},
		"ibcheckerrors -N -t 50 " + file: {0, "ibwarn: a message\n" +
			"#warn: counter SymbolErrorCounter = 48213 \t(threshold 10) lid 3 port 255\n#warn: counter PortRcvErrors = 127 \t(threshold 10) lid 3 port 255\n" +
			"Error check on lid 3 (leaf1) port all: FAILED\n" +
			"#warn: counter SymbolErrorCounter = 48213 \t(threshold 10) lid 3 port 1\n#warn: counter PortRcvErrors = 127 \t(threshold 10) lid 3 port 1\n" +
			"Error check on lid 3 (leaf1) port 1: FAILED\n" +
			"lid 999 address resolution: FAILED\n\n# Ca: nodeguid 0x0002c90000100099 failed\n" +
			"\n*** WARNING ***: this command is deprecated; Please use \"ibqueryerrors\"\n" +
			"## Summary: 3 nodes checked, 1 bad nodes found\n##          4 ports checked, 1 ports have errors beyond threshold\n"},
		"ibclearerrors -t 50 " + file: {0, "ibwarn: a message\nperfquery: iberror: failed: classportinfo query\n" +
			"\n*** WARNING ***: this command is deprecated; Please use \"ibqueryerrors -k\"\n\n## Summary: 3 nodes cleared 1 errors\n"},
		"ibclearcounters -t 50": {0, "perfquery: iberror: failed: classportinfo query\n" +
			"\n*** WARNING ***: this command is deprecated; Please use \"ibqueryerrors -K\"\n\n## Summary: 22 nodes cleared 1 errors\n"},
		"ibcheckerrors /nonexistent":      {1, ""},
		"ibcheckerrors -h":                {255, "Usage: ibcheckerrors [-h] [-b] [-v] [-N | -nocolor] [<topology-file> | -C ca_name -P ca_port -t(imeout) timeout_ms]\n"},
		"ibclearcounters -N":              {255, "Usage: ibclearcounters [-h] [<topology-file> | -C ca_name -P ca_port -t(imeout) timeout_ms]\n"},
		"ibcheckerrs":                     {255, "Usage: ibcheckerrs [-h] [-b] [-v] [-G] [-T <threshold_file>] [-s(how_thresholds)] [-N \\| -nocolor] [-C ca_name] [-P ca_port] [-t(imeout) timeout_ms] <lid|guid> [<port>]\n"},
		"ibcheckerrors a b":               {255, "Usage: ibcheckerrors [-h] [-b] [-v] [-N | -nocolor] [<topology-file> | -C ca_name -P ca_port -t(imeout) timeout_ms]\n"},
		"ibdatacounts -t":                 {255, "Usage: ibdatacounts [-h] [-b] [-v] [-G] [-N | -nocolor] [-C ca_name] [-P ca_port] [-t(imeout) timeout_ms] <lid|guid> [<port>]\n"},
		"ibcheckerrs -T /nonexistent 3 1": {255, "Can't use threshold file '/nonexistent'\nUsage: ibcheckerrs [-h] [-b] [-v] [-G] [-T <threshold_file>] [-s(how_thresholds)] [-N \\| -nocolor] [-C ca_name] [-P ca_port] [-t(imeout) timeout_ms] <lid|guid> [<port>]\n"},
		"ibcheckerrs -s": {0, "SymbolErrorCounter=10\nLinkErrorRecoveryCounter=10\nLinkDownedCounter=10\nPortRcvErrors=10\nPortRcvRemotePhysicalErrors=100\n" +
			"PortRcvSwitchRelayErrors=100\nPortXmitDiscards=100\nPortXmitConstraintErrors=100\nPortRcvConstraintErrors=100\nLocalLinkIntegrityErrors=10\n" +
			"ExcessiveBufferOverrunErrors=10\nVL15Dropped=100\n"},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, errs := run(t, line)
			if d := cmp.Diff(want.out, out); d != "" || code != want.code {
				t.Errorf("got exit code %d, want %d\n%s%s", code, want.code, d, errs)
			}
		})
	}
}

// TestDatacounters checks the summary and the port count.
func TestDatacounters(t *testing.T) {
	code, out, errs := run(t, "ibdatacounters -N -t 50")
	const end = "*** WARNING ***: this command is deprecated; Please use \"ibqueryerrors --counters\n\n## Summary: 22 nodes checked, "
	if code != 0 || !strings.Contains(out, end) || !strings.Contains(out, "# Port counters: Lid 3 port 255 ") {
		t.Errorf("got exit code %d\n%s%s", code, out, errs)
	}
}

// FuzzTopology parses arbitrary topology files.
func FuzzTopology(f *testing.F) {
	f.Add([]byte(topologyFile))
	f.Add([]byte("Ca\nSwitch\n[\n[1]\nRt 1 \"x\"\n[](\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		nodes, err := parseTopology(text)
		if err == nil && (len(nodes) == 0 || nodes[0].kind != "") {
			t.Errorf("got %d nodes, the first %+v", len(nodes), nodes[0])
		}
	})
}
