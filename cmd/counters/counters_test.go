package counters

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

var program = cmdtest.Native(New)

// growing are the counters of the demo that grow while a test runs.
var growing = regexp.MustCompile(`SymbolErrorCounter \d+`)

// sampled is the time of a sample.
var sampled = regexp.MustCompile(`(?m)^20[^,]*,`)

func TestCounters(t *testing.T) {
	for _, test := range []struct {
		name, line string
		code       int
	}{
		{"default", "counters --sim demo", cmdutil.ExitPartial},
		{"switches", "counters --sim demo --switches", cmdutil.ExitFindings},
		{"node", "counters --sim demo --node leaf4", cmdutil.ExitFindings},
		{"port", "counters --sim demo leaf4/4", cmdutil.ExitFindings},
		{"clean", "counters --sim demo --node leaf2", cmdutil.ExitOK},
		{"ports", "counters --sim demo --node leaf3 --ports 1-5 --all --columns LinkDowned,XmitDiscards", cmdutil.ExitFindings},
		{"vl", "counters --sim demo --vl leaf4/4", cmdutil.ExitFindings},
		{"details", "counters --sim demo --details leaf1/1", cmdutil.ExitFindings},
		{"phy", "counters --sim optics --phy --all --node leaf1", cmdutil.ExitFindings},
		{"phy-csv", "counters --sim optics --phy --columns LinkDowned --csv --node host1,host2", cmdutil.ExitOK},
		{"phy-absent", "counters --sim single-switch:hosts=2 --phy --all --node host001", cmdutil.ExitPartial},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, out, err := program.Run(t, nil, strings.Fields(test.line)...)
			if code != test.code {
				t.Errorf("exit code: got %d, want %d", code, test.code)
			}
			cmdtest.Golden(t, test.name+".golden", sampled.ReplaceAllString(growing.ReplaceAllString(out+err, "SymbolErrorCounter N"), "TIME,"))
		})
	}
}

// TestSources compares the counters of a fabric from a scan, from subnet administration and
// from a cache.
func TestSources(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	f, err := sim.Build("demo")
	if err != nil {
		t.Fatal(err)
	}
	port, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	found, err := fabric.Discover(t.Context(), umad.NewClient(port, umad.ClientOptions{}), fabric.DiscoverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := found.WriteCacheFile(cache); err != nil {
		t.Fatal(err)
	}
	_, want, _ := program.Run(t, nil, "counters", "--sim", "demo", "--switches")
	for _, source := range [][]string{{"--from", "sweep"}, {"--from", "sa"}, {"--fabric", cache}} {
		code, got, errOut := program.Run(t, nil, append([]string{"counters", "--sim", "demo", "--switches"}, source...)...)
		plain := func(s string) string { return growing.ReplaceAllString(s, "") }
		if code != cmdutil.ExitFindings || plain(got) != plain(want) || !strings.Contains(got, "leaf4") {
			t.Errorf("%v: got exit code %d and\n%s%s\nwant %d and\n%s", source, code, got, errOut, cmdutil.ExitFindings, want)
		}
	}
}

// TestInterval checks that each of several windows has the time of its end.
func TestInterval(t *testing.T) {
	code, out, errOut := program.Run(t, nil, "counters", "--sim", "demo", "--node", "leaf2", "--interval", "20ms", "--count", "2")
	ends := regexp.MustCompile(`(?m)^window \S+ until \d\d:\d\d:\d\d; 6 ports without`).FindAllString(out, -1)
	if code != cmdutil.ExitOK || len(ends) != 2 {
		t.Errorf("got exit code %d and\n%s%s\nwant 0 and two windows", code, out, errOut)
	}
}

// TestWatch checks that each window replaces the one before on a terminal, until the command
// is interrupted.
func TestWatch(t *testing.T) {
	terminal, screen := cmdtest.NewTerminal(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	e := &cmdutil.Env{In: terminal, Out: terminal, ErrOut: io.Discard, Getenv: func(string) string { return "" }}
	exit := make(chan int, 1)
	go func() {
		exit <- program(ctx, e, []string{"counters", "--sim", "demo", "--interval", "20ms", "--watch", "leaf1/1"})
		terminal.Close()
	}()
	var text []byte
	for b := make([]byte, 4096); ; {
		n, err := screen.Read(b)
		text = append(text, b[:n]...)
		if err != nil {
			break // the command has closed the terminal
		}
		if bytes.Count(text, []byte("1 switch, 0 channel adapters, 1 port: ")) >= 3 {
			interrupt()
		}
	}
	if code := <-exit; code != cmdutil.ExitOK && code != cmdutil.ExitFindings || bytes.Count(text, []byte("\x1b[H\x1b[2JNODE ")) < 3 {
		t.Errorf("got exit code %d and\n%q\nwant three screens", code, text)
	}
}

// TestUsage checks that wrong command lines and files are reported with exit code 2.
func TestUsage(t *testing.T) {
	file := func(text string) string { return cmdtest.WriteFile(t, text) }
	other := file("ibkit counters baseline 1\nnode 0x0102c90000100000 caps 0x1200 caps2 0x2 \"h\"\nend 0\n")
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--window", "0s"}, "want a time above 0"},
		{[]string{"--window", "1s", "--interval", "1s"}, "are mutually exclusive"},
		{[]string{"--count", "3"}, "no effect without --interval"},
		{[]string{"--ber"}, "no effect without --window"},
		{[]string{"--sort", "util"}, "requires a window"},
		{[]string{"--top", "0"}, "want at least 1"},
		{[]string{"--columns", "Odd"}, `unknown counter "Odd"`},
		{[]string{"--ports", "3-1"}, "1 is below 3"},
		{[]string{"--node", "["}, "invalid pattern"},
		{[]string{"--max-wait", "101"}, "percentage"},
		{[]string{"--reset", "errors"}, "requires a selection"},
		{[]string{"--reset", "errors", "--all"}, "use --yes"},
		{[]string{"--top", "3"}, "--top requires a window: --window, --interval or --since (or --sort errors)"},
		{[]string{"--threshold-file", file("# none\nSymbolErrorCounter 5\n")}, `:2: got "SymbolErrorCounter 5", want COUNTER=NUMBER`},
		{[]string{"--threshold-file", file("Odd=1\n")}, `:1: unknown error counter "Odd"`},
		{[]string{"--threshold-file", file("VL15Dropped=x\n")}, `:1: limit of VL15Dropped: got "x"`},
		{[]string{"--since", "/nonexistent"}, "read baseline"},
		{[]string{"--since", file("\x7fELF\n")}, ":1: not a baseline of ibkit counters"},
		{[]string{"--since", file("ibkit counters baseline 2\n")}, ":1: version: got 2, want 1"},
		{[]string{"--since", file("ibkit counters baseline 1\n")}, ":2: the file is truncated"},
		{[]string{"--since", file("ibkit counters baseline 1\nend 0\n")}, ": the baseline has no port of this fabric"},
		{[]string{"--since", other}, "read baseline: " + other + ": the baseline has no port of this fabric"},
		{[]string{"--fabric", file("x")}, "read fabric"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			args := append([]string{"counters", "--sim", "demo"}, test.args...)
			code, out, err := program.Run(t, nil, args...)
			if code != cmdutil.ExitUsage || !strings.Contains(err, test.want) || out != "" {
				t.Errorf("%q: got exit code %d, output %q, error output %q, want error %q", test.args, code, out, err, test.want)
			}
		})
	}
}

// TestJSON validates documents against the schema, with one pass and with a window.
func TestJSON(t *testing.T) {
	for _, line := range []string{
		"--sim demo --json",
		"--sim demo --json --all --vl --details",
		"--sim demo --json --all --window 20ms",
		"--sim demo --json --columns SymbolError --window 20ms",
		"--sim demo --json --all --phy",
	} {
		t.Run(line, func(t *testing.T) {
			code, out, errOut := program.Run(t, nil, append([]string{"counters"}, strings.Fields(line)...)...)
			if code != cmdutil.ExitPartial || !strings.HasPrefix(errOut, "warning: node10 ") {
				t.Errorf("got exit code %d, error output %q, want %d and the failure at node10[1]", code, errOut, cmdutil.ExitPartial)
			}
			var r counters.Report
			cmdtest.CheckDocument(t, "../../schema/counters.json", out, &r)
			isOther := func(f report.Failure) bool { return f.Subject != "node10[1]" }
			if !r.Partial || len(r.Failures) == 0 || slices.ContainsFunc(r.Failures, isOther) {
				t.Errorf("got failures %+v, want node10[1]", r.Failures)
			}
		})
	}
}

// TestBaseline stores a baseline, and finds a link that went down and came up since.
func TestBaseline(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "baseline")
	code, _, errOut := program.Run(t, nil, "counters", "--sim", "single-switch:hosts=4", "--save", path)
	if code != cmdutil.ExitOK {
		t.Fatalf("save: got exit code %d: %s", code, errOut)
	}
	events := filepath.Join(dir, "events")
	if err := os.WriteFile(events, []byte("0s counter switch1[2] LinkDownedCounter 3\n0s counter switch1[3] SymbolErrorCounter 4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errOut := program.Run(t, nil, "counters", "--sim", "single-switch:hosts=4", "--sim-events", events, "--since", path, "--json")
	if code != cmdutil.ExitFindings {
		t.Errorf("exit code: got %d, want %d: %s", code, cmdutil.ExitFindings, errOut)
	}
	var document struct {
		Findings []struct {
			Kind, Severity, Subject string
			Data                    counters.FindingData
		}
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range document.Findings {
		found = append(found, strings.Join([]string{f.Severity, f.Kind, f.Subject, *f.Data.Counter}, " "))
	}
	if got, want := strings.Join(found, ", "), "error flapped switch1[2] LinkDownedCounter, error increased switch1[3] SymbolErrorCounter"; got != want {
		t.Errorf("findings: got %s, want %s", got, want)
	}
}

// A flap that begins before the first reading goes on in the window, in which no packet is
// sent; its first change is not there, and a warning says so.
func TestRate_EarlyFlap(t *testing.T) {
	events := cmdtest.WriteFile(t, "0s flap switch1[2] 20ms 2000\n")
	_, out, errOut := program.Run(t, nil, "counters", "--sim", "single-switch:hosts=4", "--sim-events", events, "-t", "100", "--window", "1s", "--json", "switch1[2]")
	var report counters.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s", err, errOut)
	}
	if len(report.Nodes) != 1 || len(report.Nodes[0].Ports) != 1 {
		t.Fatalf("got %s, want one port: %s", out, errOut)
	}
	// 25 times in a second.
	if downs := report.Nodes[0].Ports[0].Increase["LinkDownedCounter"]; downs == nil || *downs < 10 {
		t.Errorf("got no LinkDownedCounter, or less than 10: %s", out)
	}
	if want := "warning: simulate fabric: 1 event before the first reading of counters: the changes are in no window\n"; !strings.Contains(errOut, want) {
		t.Errorf("got %q, want %q", errOut, want)
	}
}

// TestBaseline_Simulation compares with a baseline of another process, in which the simulated
// fabric began an hour earlier.
func TestBaseline_Simulation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline")
	line := []string{"counters", "--sim", "demo", "--switches"}
	begun := time.Now().Unix()
	program.Run(t, nil, append(line, "--save", path, "--save-partial")...)
	text, err := os.ReadFile(path)
	began := regexp.MustCompile(`(?m)^simulation (\d+)\.`).FindSubmatch(text)
	if err != nil || began == nil {
		t.Fatalf("got %v, %.100s", err, text)
	}
	seconds, err := strconv.ParseInt(string(began[1]), 10, 64)
	if err != nil || seconds < begun || seconds > time.Now().Unix() {
		t.Fatalf("got %s, %v, want the time of the run", began[0], err)
	}
	earlier := strings.Replace(string(text), string(began[0]), fmt.Sprintf("simulation %d.", seconds-3600), 1)
	if err := os.WriteFile(path, []byte(earlier), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, errOut := program.Run(t, nil, append(line, "--since", path)...)
	if !strings.Contains(out, "SymbolErrorCounter +") || strings.Contains(out, "cleared") {
		t.Errorf("got\n%s%s\nwant the symbol errors of an hour", out, errOut)
	}
}

// TestReset clears the counters of one switch and prints the values.
func TestReset(t *testing.T) {
	code, out, errOut := program.Run(t, nil, "counters", "--sim", "demo", "--reset", "errors", "--yes", "leaf4")
	if code != cmdutil.ExitOK || !strings.Contains(out, "leaf4[4]: PortXmitDiscards 1822, PortXmitWait ") || !strings.Contains(out, "cleared the counters (errors) of") {
		t.Errorf("got exit code %d, output\n%s%s", code, out, errOut)
	}
}

// A dry run shows the values and does not clear them.
func TestReset_DryRun(t *testing.T) {
	code, out, errOut := program.Run(t, nil, "counters", "--sim", "demo", "--reset", "errors", "--dry-run", "leaf4")
	if code != cmdutil.ExitOK || !strings.Contains(out, "leaf4[4]: PortXmitDiscards 1822, ") || !strings.HasSuffix(out, "would clear the counters (errors) of 16 ports\n") {
		t.Errorf("got exit code %d, output\n%s%s", code, out, errOut)
	}
}

func TestReset_Log(t *testing.T) {
	_, _, log := program.Run(t, nil, "counters", "--sim", "demo", "--reset", "errors,details", "--yes", "--log", "-", "leaf4[4]")
	const change = ` user=\S+ login=\S+ change="reset errors,details" ports=leaf4\[4\]`
	if !regexp.MustCompile(`msg=begin` + change + `\n.*msg=end` + change + ` result=changed\n`).MatchString(log) {
		t.Errorf("got\n%s", log)
	}
	code, out, errOut := program.Run(t, nil, "counters", "--sim", "demo", "--reset", "errors", "--yes", "--log", "/nonexistent/log", "leaf4")
	if code != cmdutil.ExitFailed || strings.Contains(out, "cleared") || !strings.Contains(errOut, "open log: open /nonexistent/log") {
		t.Errorf("got exit code %d, output\n%s%s", code, out, errOut)
	}
}

// TestLocal reads the counters of a host with Soft-RoCE, and of one with InfiniBand.
func TestLocal(t *testing.T) {
	for _, host := range []string{"rxe", "mlx5-roce", "mlx5-ib"} {
		t.Run(host, func(t *testing.T) {
			env := map[string]string{"IBKIT_SYSFS": testenv.Host(t, host)}
			code, out, errOut := program.Run(t, env, "counters", "--local", "--all")
			if code != cmdutil.ExitOK {
				t.Fatalf("exit code: got %d, want 0: %s", code, errOut)
			}
			cmdtest.Golden(t, "local-"+host+".golden", out)
			for _, args := range [][]string{{"counters", "--local", "--json"}, {"counters", "--local", "--json", "--window", "10ms"}} {
				_, out, _ := program.Run(t, env, args...)
				cmdtest.CheckDocument(t, "../../schema/counters-local.json", out, new(counters.ReportLocal))
			}
		})
	}
}

// TestAddTroubles judges RoCE ports by their traffic, other ports by each error counter.
func TestAddTroubles(t *testing.T) {
	for _, test := range []struct {
		name     string
		isRoCE   bool
		increase map[string]uint64
		want     []report.Kind
	}{
		{"congestion control at work", true, map[string]uint64{"np_cnp_sent": 5, "rp_cnp_handled": 6, "ethtool_rx_prio3_pause": 3}, []report.Kind{}},
		{"loss", true, map[string]uint64{"packet_seq_err": 5, "ethtool_rx_prio3_discards": 6}, []report.Kind{report.RoCELoss}},
		{"loss and another error", true, map[string]uint64{"packet_seq_err": 5, "link_downed": 1}, []report.Kind{report.RoCELoss, report.Increased}},
		{"InfiniBand", false, map[string]uint64{"packet_seq_err": 5, "out_of_sequence": 0}, []report.Kind{report.Increased}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := counters.NewReportLocal()
			r.Window = new(10.0)
			p := &counters.LocalPort{Device: "mlx5_0", Number: 1, Increase: map[string]*uint64{"cleared": nil}}
			for name, n := range test.increase {
				p.Increase[name] = &n
			}
			if test.isRoCE {
				p.RoCE = &roce.PortSettings{Device: "mlx5_0", Number: 1}
			}
			r.Ports = append(r.Ports, p)
			addTroubles(r)
			if got := report.KindsOf(r.Findings); !slices.Equal(got, test.want) {
				t.Errorf("got %+v, want %v", r.Findings, test.want)
			}
		})
	}
}

// TestPrintLocal checks that each finding has a line below the counters, and its next step.
func TestPrintLocal(t *testing.T) {
	pauses := report.New(report.RoCEPauses, "mlx5_0/1", "paused")
	for _, test := range []struct {
		name     string
		window   *float64
		findings []report.Finding
		want     string
	}{
		{"finding", new(10.0), []report.Finding{pauses.WithHint("ibkit devinfo --roce")}, "roce-pauses: mlx5_0/1: paused\n  next: ibkit devinfo --roce\n1 port of this host, window 10.00 s: 1 finding\n"},
		{"no findings", new(10.0), nil, "1 port of this host, window 10.00 s: no findings\n"},
		{"no window", nil, nil, "1 port of this host; with --window 10s: rates and findings\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := counters.NewReportLocal()
			r.Window = test.window
			r.Add(test.findings...)
			r.Ports = append(r.Ports, &counters.LocalPort{Device: "mlx5_0", Number: 1, Counters: map[string]uint64{"x": 1}})
			var out strings.Builder
			c := &command{env: &cmdutil.Env{Out: &out, Getenv: func(string) string { return "" }}}
			if err := c.printLocal(r, nil); err != nil || !strings.HasSuffix(out.String(), test.want) {
				t.Errorf("got error %v and\n%s\nwant the end\n%s", err, &out, test.want)
			}
		})
	}
}

// A counter file that cannot be read does not hide the others, and makes the result
// partial. Reading /proc/self/mem at offset 0 fails for each user.
func TestLocal_Unreadable(t *testing.T) {
	const port = "class/infiniband/mlx5_0/ports/1/"
	env := map[string]string{"IBKIT_SYSFS": testenv.WriteTree(t, map[string]string{
		"class/infiniband/mlx5_0/node_type":              "1: CA",
		port + "link_layer":                              "InfiniBand",
		port + "counters/VL15_dropped -> /proc/self/mem": "",
		port + "counters/link_downed":                    "3",
	})}
	const failure = "ports/1/counters/VL15_dropped: input/output error"
	for _, line := range []string{"counters --local", "counters --local --window 1ms --all"} {
		t.Run(line, func(t *testing.T) {
			code, out, errOut := program.Run(t, env, strings.Fields(line)...)
			if code != cmdutil.ExitPartial || !strings.Contains(out, "link_downed  3 ") || strings.Count(errOut, failure) != 1 {
				t.Errorf("got exit code %d, output\n%s%s", code, out, errOut)
			}
		})
	}
	t.Run("JSON", func(t *testing.T) {
		code, out, errOut := program.Run(t, env, "counters", "--local", "--json")
		var r counters.ReportLocal
		cmdtest.RoundTrip(t, out, &r)
		if code != cmdutil.ExitPartial || errOut != "" || !r.Partial || len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Error, failure) || r.Ports[0].Counters["link_downed"] != 3 {
			t.Errorf("got exit code %d, output\n%s%s", code, out, errOut)
		}
	})
}

// TestTargets_NotFound checks the errors for addresses without a port.
func TestTargets_NotFound(t *testing.T) {
	for target, want := range map[string]string{
		"nosuch":   "ibkit counters: find name nosuch: no node has this name\nhint: list all nodes: ibkit topology --nodes\n",
		"leaf1/99": "ibkit counters: find leaf1[99]: the ports of leaf1 have the numbers 1 to 16\n",
		"999":      "ibkit counters: find LID 999: no port has this LID\n",
	} {
		t.Run(target, func(t *testing.T) {
			code, out, err := program.Run(t, nil, "counters", "--sim", "demo", target)
			if code != cmdutil.ExitFailed || out != "" || err != want {
				t.Errorf("got exit code %d, output %q, error output %q, want %d and %q", code, out, err, cmdutil.ExitFailed, want)
			}
		})
	}
}

// TestReset_Confirmation answers the question on a terminal.
func TestReset_Confirmation(t *testing.T) {
	const endOfInput = "\x04"
	for _, test := range []struct {
		keys    string
		code    int
		cleared bool
	}{
		{"y\n", cmdutil.ExitOK, true},
		{"Yes\n", cmdutil.ExitOK, true},
		{"n\n", cmdutil.ExitFailed, false},
		{"\n", cmdutil.ExitFailed, false},
		{"yesterday\n", cmdutil.ExitFailed, false},
		{endOfInput, cmdutil.ExitFailed, false},
	} {
		t.Run(test.keys, func(t *testing.T) {
			terminal, keyboard := cmdtest.NewTerminal(t)
			if _, err := keyboard.WriteString(test.keys); err != nil {
				t.Fatal(err)
			}
			var out, errOut bytes.Buffer
			e := &cmdutil.Env{In: terminal, Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }}
			code := program(t.Context(), e, []string{"counters", "--sim", "demo", "--reset", "errors", "leaf4"})
			if code != test.code {
				t.Errorf("got exit code %d, want %d: %s", code, test.code, errOut.String())
			}
			if want := "Clear the counters (errors) of 16 ports? [y/N] "; !strings.HasPrefix(errOut.String(), want) {
				t.Errorf("got %q, want the question %q", errOut.String(), want)
			}
			if !strings.Contains(out.String(), "PortXmitDiscards 1822") {
				t.Errorf("got\n%s\nwant the values", out.String())
			}
			if got := strings.Contains(out.String(), "cleared the counters (errors) of 16 ports"); got != test.cleared {
				t.Errorf("cleared: got %t, want %t\n%s", got, test.cleared, out.String())
			}
		})
	}
}

// Without a port that was read, there is no verdict.
func TestCounters_NoPort(t *testing.T) {
	code, out, _ := program.Run(t, nil, "counters", "--sim", "demo,sm=off")
	const want = "6 switches, 16 channel adapters, 0 ports: partial result, no port was read\n"
	if code != cmdutil.ExitPartial || !strings.HasSuffix(out, want) {
		t.Errorf("got exit code %d, output\n%s\nwant %d, %q", code, out, cmdutil.ExitPartial, want)
	}
}

// A truncated baseline is compared as far as it can be read.
func TestCounters_DamagedBaseline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baseline")
	program.Run(t, nil, "counters", "--sim", "single-switch:hosts=4", "--save", path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(whole), "\n")
	const kept = 6
	if err := os.WriteFile(path, []byte(strings.Join(lines[:kept], "")), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, warnings := program.Run(t, nil, "counters", "--sim", "single-switch:hosts=4", "--since", path, "--json")
	var r struct {
		Partial  bool
		Failures []report.Failure
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	damage := fmt.Sprintf(`%s:%d: the file is truncated: the line "end" is missing`, path, kept+1)
	want := "warning: the baseline in " + path + " is partial\nwarning: " + damage + "\n"
	if code != cmdutil.ExitPartial || !r.Partial || len(r.Failures) != 1 || r.Failures[0].Error != damage || warnings != want {
		t.Errorf("got exit code %d, partial %v, failures %v, warnings %s\nwant %d, %s", code, r.Partial, r.Failures, warnings, cmdutil.ExitPartial, want)
	}
}

// TestLocal_NoPort checks the error for a host, and for a device, without the port.
func TestLocal_NoPort(t *testing.T) {
	for _, test := range []struct{ host, line, want string }{
		{t.TempDir(), "--local", "this host has no RDMA port\nhint: find the cause: ibkit doctor\n"},
		{testenv.Host(t, "mlx5-roce"), "--local -P 7", "no device has the port 7\nhint: list all ports: ibkit devinfo\n"},
	} {
		t.Run(test.line, func(t *testing.T) {
			env := map[string]string{"IBKIT_SYSFS": test.host}
			code, out, err := program.Run(t, env, append([]string{"counters"}, strings.Fields(test.line)...)...)
			if code != cmdutil.ExitFailed || out != "" || !strings.HasSuffix(err, test.want) {
				t.Errorf("got exit code %d, %q, %q, want %d, %q", code, out, err, cmdutil.ExitFailed, test.want)
			}
		})
	}
}

// A change to optional counters needs a device, a confirmation and a kernel with the counters.
func TestOptional(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": testenv.Host(t, "mlx5-roce")}
	for line, test := range map[string]struct {
		code int
		want string
	}{
		"--optional cc_rx_ce_pkts":                                         {cmdutil.ExitUsage, "--optional has no effect without --local"},
		"--local --optional cc_rx_ce_pkts":                                 {cmdutil.ExitUsage, "--optional requires a device: -C DEVICE"},
		"--local -C mlx5_bond_0 --optional none,cc_rx_ce_pkts":             {cmdutil.ExitUsage, "want names of counters, or none"},
		"--local -C mlx5_bond_0 --optional none --json":                    {cmdutil.ExitUsage, "mutually exclusive"},
		"--local -C mlx5_bond_0 --optional cc_rx_ce_pkts":                  {cmdutil.ExitFailed, "enable counter cc_rx_ce_pkts of mlx5_bond_0/1: optional counters: none"},
		"--local -C mlx5_bond_0 --optional cc_rx_ce_pkts --dry-run":        {cmdutil.ExitFailed, "enable counter cc_rx_ce_pkts of mlx5_bond_0/1: optional counters: none"},
		"--local -C mlx5_bond_0 --optional none --dry-run":                 {cmdutil.ExitFailed, "no port of mlx5_bond_0 has optional counters"},
		"--local -C nosuch --optional none":                                {cmdutil.ExitFailed, "find device nosuch"},
		"--local -C mlx5_bond_0 --optional none --dry-run --log /tmp/file": {cmdutil.ExitUsage, "mutually exclusive"},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, env, append([]string{"counters"}, strings.Fields(line)...)...)
			if code != test.code || out != "" || !strings.Contains(err, test.want) {
				t.Errorf("got exit code %d, %q, %q, want %d, %s", code, out, err, test.code, test.want)
			}
		})
	}
}
