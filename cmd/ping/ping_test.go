package ping

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ping"
)

var program = cmdtest.Native(New)

// Lost probes are something wrong, unless so many may be.
func TestPingExitCodes(t *testing.T) {
	for _, test := range []struct {
		args string
		code int
	}{
		{"3 4-5", cmdutil.ExitOK},
		{"--via sma 0,1 0x3", cmdutil.ExitOK},
		{"node05 leaf* name:leaf1 node05/1", cmdutil.ExitOK},
		{"--switches --cas --via sma", cmdutil.ExitOK},
		{"-t 1 77", cmdutil.ExitFindings},
		{"-t 1 3 77", cmdutil.ExitFindings},
		{"-t 1 --max-loss 100 77", cmdutil.ExitOK},
		{"--sim-model service=1us --max-p99 1ns 3", cmdutil.ExitFindings},
		{"3 node99", cmdutil.ExitPartial},
		{"3 0x0002c90300000bad", cmdutil.ExitPartial},
		{"node99", cmdutil.ExitFailed},
		{"nod*99", cmdutil.ExitFailed},
		{"--max-loss 101 3", cmdutil.ExitUsage},
		{"--expect " + cmdtest.WriteFile(t, "node05 # a name\n\n4-5\n0x0002c90000100301\n"), cmdutil.ExitOK},
		{"-t 1 --max-loss 100 --expect " + cmdtest.WriteFile(t, "node05\n77\n"), cmdutil.ExitFindings},
		{"--expect " + cmdtest.WriteFile(t, "node05\nnode99\n"), cmdutil.ExitFindings},
		{"--expect " + cmdtest.WriteFile(t, "node99\n"), cmdutil.ExitFindings},
		{"--switches --expect " + cmdtest.WriteFile(t, "leaf1\n"), cmdutil.ExitOK},
	} {
		t.Run(test.args, func(t *testing.T) {
			args := append([]string{"ping", "--sim", "demo", "-c", "1", "-f", "-q"}, strings.Fields(test.args)...)
			if code, out, err := program.RunInBubble(t, nil, args...); code != test.code {
				t.Errorf("got exit code %d, want %d\n%s%s", code, test.code, out, err)
			}
		})
	}
}

// Errors of a command line are reported before the first packet is sent.
func TestPingUsage(t *testing.T) {
	list := cmdtest.WriteFile(t, "3\n\n# a comment\n7-5 # behind it\nnode05 # fine\n0xc000\n")
	for _, test := range []struct{ args, want string }{
		{"", "no target given"},
		{"65536", "65536 is not the LID of a port"},
		{"0,x", "not a port number"},
		{"-G 3 leaf1", `parse GUID "leaf1"`},
		{"--Direct 0,1,x", "not a port number"},
		{"0x12345678z", "not a hexadecimal digit"},
		{"ff02::1", "multicast group"},
		{"10.0.0.1", "a simulated fabric has no IP addresses"},
		{"[", "a bracket in the pattern is not closed"},
		{"--targets-file " + list, list + ":4: parse address \"7-5\""},
		{"--targets-file " + list + "-not", "no such file"},
		{"--expect " + list, list + ":4: parse address \"7-5\""},
		{"--expect " + list + "-not", "no such file"},
		{"--expect " + cmdtest.WriteFile(t, "# empty\n"), "the list is empty"},
		{"--expect " + cmdtest.WriteFile(t, "3\nnode*\n"), ":2: invalid address \"node*\": a pattern does not name a single host"},
		{"--expect " + cmdtest.WriteFile(t, "10.0.0.1\n"), ":1: invalid target \"10.0.0.1\": a simulated fabric has no IP addresses"},
		{"--expect - --targets-file -", "cannot both be standard input"},
		{"--via smp 3", `want one of auto, vendor, sma, pma`},
		{"--via sma --payload-size 3 3", "--payload-size has no effect with --via sma"},
		{"--via pma 0,1", "only subnet management agents"},
		{"--payload-size 129 3", "invalid --payload-size"},
		{"--payload xy 3", "invalid --payload"},
		{"--oui 0x1000000 3", "24 bits"},
		{"-c -1 3", "invalid --count -1"},
		{"-i -1s 3", "invalid --interval"},
		{"--rate 0 3", "invalid --rate"},
		{"-w 0 3", "invalid --deadline"},
		{"-f -i 1s 3", "are mutually exclusive"},
		{"--json --json-lines 3", "are mutually exclusive"},
		{"-q --timestamps 3", "are mutually exclusive"},
		{"-q --lines 3", "are mutually exclusive"},
	} {
		t.Run(test.args, func(t *testing.T) {
			code, out, err := program.RunInBubble(t, nil, append([]string{"ping", "--sim", "demo"}, strings.Fields(test.args)...)...)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and error %q", code, out, err, cmdutil.ExitUsage, test.want)
			}
		})
	}
}

var times = regexp.MustCompile(`\d+(\.\d+)?(ns|µs|ms|s)\b *`)

// maskPing makes round trips comparable.
func maskPing(s string) string { return times.ReplaceAllString(s, "T ") }

func TestPingText(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"-c 2 -i 1ms 3", `LID 3: no reply from a ping server; pinging the performance management agent instead (--via pma)
LID 3: seq=0 time=T 
LID 3: seq=1 time=T 

--- LID 3 (via pma) ---
2 sent, 2 received, 0 lost, 0 late, 0 duplicated, 0 corrupted, 0 from a wrong source, 0% loss in T 
round trip min T , avg T , median T , p90 T , p99 T , p99.9 T , max T , stddev T , jitter T 
`},
		{"-c 1 -t 1 --via pma 0xbfff", `LID 49151: seq=0 lost

--- LID 49151 (via pma) ---
1 sent, 0 received, 1 lost, 0 late, 0 duplicated, 0 corrupted, 0 from a wrong source, 100% loss in T 
`},
		{"-c 1 -f -t 1 --via pma -q --problems 3 77", `TARGET  VIA  SENT  RECEIVED  LOSS  MIN  AVG  MEDIAN  P90  P99  P99.9  MAX  STDDEV  JITTER  PROBLEM
LID 77  pma  1     0         100%  -    -    -       -    -    -      -    -       -       1 lost

--- total of 2 targets ---
2 sent, 1 received, 1 lost, 0 late, 0 duplicated, 0 corrupted, 0 from a wrong source, 50% loss in T 
round trip min T , avg T , median T , p90 T , p99 T , p99.9 T , max T , stddev T , jitter T 
`},
		{"-c 1 -f --via sma node05", `node05: seq=0 time=T from GUID

--- node05 (via sma) ---
1 sent, 1 received, 0 lost, 0 late, 0 duplicated, 0 corrupted, 0 from a wrong source, 0% loss in T 
round trip min T , avg T , median T , p90 T , p99 T , p99.9 T , max T , stddev T , jitter T 
`},
	} {
		t.Run(test.args, func(t *testing.T) {
			_, out, err := program.Run(t, nil, append([]string{"ping", "--sim", "demo"}, strings.Fields(test.args)...)...)
			got := regexp.MustCompile(`0x[0-9a-f]{16}`).ReplaceAllString(maskPing(out), "GUID")
			if got != test.want || err != "" {
				t.Errorf("got\n%s%s\nwant\n%s", got, err, test.want)
			}
		})
	}
}

func TestPingHistogram(t *testing.T) {
	_, out, _ := program.Run(t, nil, "ping", "--sim", "demo", "-q", "-f", "-c", "50", "--histogram", "3")
	bars := regexp.MustCompile(`(?m)^ +\S+ to \S+ +#* +(\d+) \(\S+%\)$`).FindAllStringSubmatch(out, -1)
	if len(bars) < 2 || len(bars) > mostBars || !strings.Contains(out, strings.Repeat("#", 40)) {
		t.Errorf("%d bars in\n%s", len(bars), out)
	}
}

func TestPingTimestamps(t *testing.T) {
	_, out, _ := program.Run(t, nil, "ping", "--sim", "demo", "-f", "-c", "1", "--timestamps", "--via", "pma", "3")
	if !regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d LID 3: seq=0 time=`).MatchString(out) {
		t.Error(out)
	}
}

// The JSON conforms to the schema and decodes into the types of package ping without loss.
func TestPingJSON(t *testing.T) {
	names := cmdtest.WriteFile(t, "0x0002c90300000001 \"a \\\"name\\\" ü\"\n")
	for _, test := range []struct {
		args  string
		lines int
		want  string
	}{
		{"--json 3", 1, `"loss_percent":0`},
		{"--json --histogram 3 4", 1, `"histogram":[{"from_ns":`},
		{"--json -t 1 3 77", 1, `"lost":2,`},
		{"--json --via sma 0,1 node05 node99", 1, `"failures":[{"subject":"node99",`},
		{"--json --expect " + cmdtest.WriteFile(t, "3\n4\nnode99\n77\n") + " -t 1", 1,
			`"expected":{"hosts":4,"missing":["node99","77"]}`},
		{"--json --expect " + cmdtest.WriteFile(t, "3\n4\nnode99\n77\n") + " -t 1", 1,
			`"subject":"node99","node_guid":null,"port":null,"detail":"find name node99: no node has this name"},{"kind":"no-reply","severity":"error","subject":"77","node_guid":null,"port":null,"detail":"no reply"}`},
		{"--json 3", 1, `"expected":null`},
		{"--json-lines 3 4", 5, `"outcome":"received"`},
		{"--json-lines -t 1 77", 3, `"outcome":"lost"`},
		{"--json-lines --via sma --node-name-map " + names + " 3", 3, `"node_guid":"0x`},
	} {
		t.Run(test.args, func(t *testing.T) {
			args := append([]string{"ping", "--sim", "demo", "-c", "2", "-f"}, strings.Fields(test.args)...)
			_, out, _ := program.RunInBubble(t, nil, args...)
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			if len(lines) != test.lines || !strings.Contains(out, test.want) {
				t.Errorf("got %d lines, want %d with %s:\n%s", len(lines), test.lines, test.want, out)
			}
			for _, line := range lines {
				var into any = new(ping.Report)
				if strings.Contains(line, `"type":"probe"`) {
					into = new(ping.ReportProbe)
				}
				cmdtest.CheckDocument(t, "../../schema/ping.json", line, into)
			}
		})
	}
}

// With -v, the numbers of unexpected packets and of all packets are printed.
func TestPingVerbose(t *testing.T) {
	_, _, err := program.RunInBubble(t, nil, "ping", "--sim", "demo", "-f", "-c", "1", "-q", "-v", "--via", "pma", "3")
	if want := "ibkit ping: 0 unexpected packets received\n1 MAD sent, including 0 retries; 0 timed out\n"; err != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// A signal shows how things stand, and an interrupt ends with the same.
func TestPingSignals(t *testing.T) {
	r := program.Start(nil, "ping", "--sim", "demo", "-c", "0", "-i", "1ms", "--via", "pma", "3")
	r.Out.Await(t, "seq=1 ")
	if err := syscall.Kill(os.Getpid(), syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	r.Out.Await(t, "--- LID 3 (via pma) ---")
	if code := r.End(); code != cmdutil.ExitOK {
		t.Errorf("exit code %d: %s", code, r.ErrOut)
	}
	if n := strings.Count(r.Out.String(), ", 0% loss in "); n != 2 {
		t.Errorf("%d accounts:\n%s", n, r.Out)
	}
}

// The server's name is shown as it is safe for a terminal and for JSON.
func TestPingHost(t *testing.T) {
	if got := render.Printable([]byte("a\x1b[31m\"b\\\xff")); got != `a [31m"b\ ` {
		t.Errorf("%q", got)
	}
	var s string
	if err := json.Unmarshal(appendJSONText(nil, []byte("a\x1b\"b\\\xff")), &s); err != nil || s != `a "b\ ` {
		t.Errorf("%q: %v", s, err)
	}
}

// TestPing_Hang pings all adapters of a fabric in which one hangs: its place is reported
// by the switch port that leads to it, and its name if it is expected.
func TestPing_Hang(t *testing.T) {
	events := cmdtest.WriteFile(t, "0s hang node07\n")
	args := []string{"ping", "--sim", "demo", "--sim-events", events, "--cas", "-c", "1", "-f", "-t", "100"}
	code, out, err := program.RunInBubble(t, nil, append(args, "-q", "--max-loss", "100")...)
	if code != cmdutil.ExitPartial || !strings.Contains(err, "find peer of leaf2[5]: ") || strings.Contains(out, "node07") {
		t.Errorf("got exit code %d\n%s%s, want %d and the port", code, out, err, cmdutil.ExitPartial)
	}
	code, out, err = program.RunInBubble(t, nil, append(args, "-q", "--expect", cmdtest.WriteFile(t, "node05\nnode07\n"))...)
	if code != cmdutil.ExitFindings || !strings.Contains(out, "\n1 of 2 expected hosts replied\nmissing: node07: no reply\n") || !strings.Contains(err, "find peer of leaf2[5]: ") {
		t.Errorf("got exit code %d\n%s%s, want %d and the name", code, out, err, cmdutil.ExitFindings)
	}
	code, out, _ = program.RunInBubble(t, nil, append(args, "--json")...)
	if code != cmdutil.ExitPartial || !strings.Contains(out, `"failures":[{"subject":"peer of leaf2[5]",`) {
		t.Errorf("got exit code %d\n%s, want %d and the port", code, out, cmdutil.ExitPartial)
	}
}

// TestPing_Quiet checks that quiet output begins with the statistics.
func TestPing_Quiet(t *testing.T) {
	for args, want := range map[string]string{
		"-q 3":        "--- LID 3 (via pma) ---\n",
		"-q 3 4":      "TARGET ",
		"-q --json 3": "{\"schema\":",
	} {
		t.Run(args, func(t *testing.T) {
			line := append([]string{"ping", "--sim", "demo", "-c", "1", "-f", "--via", "pma"}, strings.Fields(args)...)
			if code, out, stderr := program.RunInBubble(t, nil, line...); code != cmdutil.ExitOK || !strings.HasPrefix(out, want) {
				t.Errorf("got exit code %d, output %q, error output %q, want %q first", code, out, stderr, want)
			}
		})
	}
}
