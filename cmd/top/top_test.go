package top

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/top"
)

var program = cmdtest.Native(New)

const tree = "fat-tree:radix=4,pods=2,spines=2"

// run runs a command line on a simulated fabric.
func run(t *testing.T, line string) (code int, out, err string) {
	t.Helper()
	return program.Run(t, map[string]string{"IBKIT_SIM": tree}, append([]string{"top"}, strings.Fields(line)...)...)
}

// times are the parts of a screen that differ between runs.
var times = regexp.MustCompile(` *\d\d:\d\d:\d\d|  window [\d.]+ s`)

func TestTop_Once(t *testing.T) {
	var all strings.Builder
	for _, line := range []string{"", "--limit 2 --sort name --reverse", "--filter spine001", "--problems", "leaf001", "host00001/1", "host00001 host00004", "1 4"} {
		code, out, stderr := run(t, "--once --interval 10ms "+line)
		all.WriteString("$ ibkit top --once " + line + "\n" + times.ReplaceAllString(out, "") + stderr)
		if code != 0 {
			t.Errorf("%s: got exit code %d", line, code)
		}
	}
	cmdtest.Golden(t, "once.golden", all.String())
}

// The screen of a port has the values from registers at both ends, or the reason why there are
// none, also in JSON.
func TestTop_PHY(t *testing.T) {
	var all strings.Builder
	for _, fabric := range []string{"optics", tree} {
		target := map[string]string{"optics": "leaf1[1]", tree: "leaf001[1]"}[fabric]
		_, out, stderr := program.RunInBubble(t, map[string]string{"IBKIT_SIM": fabric}, "top", "--once", "--interval", "5s", "--phy", target)
		all.WriteString("$ ibkit top --once --phy " + target + "\n" + times.ReplaceAllString(out, "") + stderr)
	}
	cmdtest.Golden(t, "phy.golden", all.String())
	_, out, _ := program.RunInBubble(t, map[string]string{"IBKIT_SIM": "optics"}, "top", "--once", "--interval", "5s", "--phy", "--json", "leaf1[1]")
	var r top.Report
	cmdtest.CheckDocument(t, "../../schema/top.json", out, &r)
	if e := r.Port.Ends[0].PHY; e == nil || *e.Rx != -11.94 || math.Abs(*e.EffectiveBER-3e-9) > 1e-15 || r.Port.Ends[1].PHY == nil {
		t.Errorf("got %+v", e)
	}
}

func TestTop_JSON(t *testing.T) {
	for _, line := range []string{"", "--filter nosuch", "leaf001", "host00001/1", "host00001 host00004", "--sim demo --problems", "--sim demo --sort wait --limit 0"} {
		t.Run(line, func(t *testing.T) {
			code, out, stderr := run(t, "--once --json --interval 10ms "+line)
			if want := map[bool]int{true: 4}[strings.Contains(line, "demo")]; code != want {
				t.Errorf("got exit code %d, want %d: %s", code, want, stderr)
			}
			cmdtest.CheckDocument(t, "../../schema/top.json", out, new(top.Report))
		})
	}
}

func TestTop_Errors(t *testing.T) {
	for _, test := range []struct {
		line string
		code int
		want string
	}{
		{"", 2, "standard input or standard output is not a terminal"},
		{"", 2, "hint: ibkit counters --interval 5s --watch"},
		{"--once --interval 0s", 2, "invalid --interval 0s"},
		{"--once --rescan -1s", 2, "invalid --rescan -1s"},
		{"--history 1", 2, "invalid --history 1"},
		{"--once --history 10", 2, "are mutually exclusive"},
		{"--once --limit -1", 2, "invalid --limit -1"},
		{"--json", 2, "--once"},
		{"--once --vs-key 1", 2, "--vs-key has no effect without --phy"},
		{"--once --sort nosuch", 2, "want one of severity, errors, util, wait, findings, name"},
		{"--once a b c", 2, "number of targets: got 3, want at most 2"},
		{"--once 3-4", 2, "find LID 3-4: want a single LID"},
		{"--once --interval 1ms 192.0.2.1", 1, "find IP 192.0.2.1: a simulated fabric has no IP addresses"},
		{"--once --interval 1ms leaf01", 1, "find name leaf01: no node has this name"},
		{"--once --interval 1ms leaf001/9", 1, "find leaf001[9]: the ports"},
		{"--once --interval 1ms host00001 nosuch", 1, "find name nosuch"},
		{"--once --interval 1ms --sim /nonexistent/file", 2, "/nonexistent/file"},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, stderr := run(t, test.line)
			if code != test.code || !strings.Contains(stderr, test.want) {
				t.Errorf("got exit code %d, %s%s, want %d and %s", code, out, stderr, test.code, test.want)
			}
		})
	}
}

// A session is a running ibkit top on a screen in memory.
type session struct {
	tcell.SimulationScreen
	ended chan error
	stop  context.CancelFunc

	mu      sync.Mutex
	lines   string
	colours int // cells with a colour
}

// Show stores what the screen shows.
func (s *session) Show() {
	s.SimulationScreen.Show()
	cells, width, height := s.GetContents()
	var b strings.Builder
	colours := 0
	for y := range height {
		var line strings.Builder
		for _, c := range cells[y*width : (y+1)*width] {
			line.WriteString(string(c.Runes))
			if fg, bg, _ := c.Style.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
				colours++
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines, s.colours = b.String(), colours
}

// start starts ibkit top on a screen in memory.
func start(t *testing.T, width, height int, env map[string]string, args ...string) *session {
	t.Helper()
	c := &command{env: &cmdutil.Env{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard, Getenv: func(k string) string { return env[k] }}}
	cmd := &cobra.Command{}
	c.define(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	c.once = true // the screen is not that of env
	if err := c.complete(t.Context(), cmd.Flags(), cmd.Flags().Args()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	s := &session{SimulationScreen: tcell.NewSimulationScreen("UTF-8"), ended: make(chan error, 1), stop: stop}
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	s.SetSize(width, height)
	go func() { s.ended <- c.show(ctx, s) }()
	t.Cleanup(stop)
	return s
}

// text returns the lines of the screen.
func (s *session) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines
}

// await waits until the screen has all texts.
func (s *session) await(t *testing.T, texts ...string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		screen, missing := s.text(), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the screen does not have %q:\n%s", missing, screen)
		}
	}
}

// keys presses keys: a text, and keys in between.
func (s *session) keys(keys ...any) {
	for _, k := range keys {
		switch k := k.(type) {
		case string:
			for _, r := range k {
				s.InjectKey(tcell.KeyRune, r, tcell.ModNone)
			}
		case tcell.Key:
			s.InjectKey(k, 0, tcell.ModNone)
		}
	}
}

func (s *session) end(t *testing.T) {
	t.Helper()
	if err := testenv.Receive(t, "end of ibkit top", s.ended); err != nil {
		t.Error(err)
	}
}

func TestTop_Keys(t *testing.T) {
	dir := t.TempDir()
	s := start(t, 80, 24, nil, "--sim", tree, "--interval", "20ms", "--export-dir", dir)
	s.await(t, "8 links by severity", "window")
	s.keys(tcell.KeyEnter)
	s.await(t, "leaf001[1] - host00001[1]  4X HDR  Active", "errors per second", "samples from")
	s.keys(tcell.KeyEscape, tcell.KeyDown, "jk", "n")
	s.await(t, "leaf001  Switch", "4 of 4 ports up")
	s.keys("n")
	s.await(t, "host00001  CA", "1 of 1 port up")
	s.keys("e")
	s.await(t, "wrote "+clip(dir, 20)[:19])
	s.keys(tcell.KeyBackspace, tcell.KeyEscape, "s")
	s.await(t, "8 links by errors")
	s.keys("sssss")
	s.await(t, "8 links by severity")
	s.keys("r")
	s.await(t, "8 links by severity, reversed")
	s.keys("r/spine001", tcell.KeyEnter)
	s.await(t, `2 links by severity, filter "spine001"`)
	s.keys("/", tcell.KeyCtrlU, "x", tcell.KeyBackspace, tcell.KeyEnter)
	s.await(t, "8 links by severity")
	s.keys("x")
	s.await(t, "0 links by severity, only links with errors or findings", "no links")
	s.keys("xg", "leaf002/3", tcell.KeyEnter)
	s.await(t, "leaf002[3] - spine001[2]", "lost by waiting")
	s.keys("g", "nosuch", tcell.KeyEnter)
	s.await(t, "find name nosuch")
	s.keys(tcell.KeyEscape, "p", "host00001 host00004", tcell.KeyEnter)
	s.await(t, "host00001 to host00004, LID", "host00004 to host00001, LID")
	s.keys(tcell.KeyDown, tcell.KeyEnter)
	s.await(t, "errors per second")
	s.keys(tcell.KeyEscape, tcell.KeyEscape, tcell.KeyEscape, "p", "host00001", tcell.KeyEnter)
	s.await(t, "got 1 addresses, want 2")
	s.keys(" ")
	s.await(t, "sample", "ago")
	s.keys(tcell.KeyLeft, tcell.KeyLeft, tcell.KeyRight, " ")
	s.await(t, "window")
	s.keys("?")
	s.await(t, "any key returns")
	s.keys("q")
	s.await(t, "8 links")
	for _, size := range [][2]int{{132, 50}, {40, 10}, {20, 5}, {3, 2}, {80, 24}} {
		s.SetSize(size[0], size[1])
		s.keys(tcell.KeyPgDn, tcell.KeyPgUp, tcell.KeyEnd, tcell.KeyHome, tcell.KeyCtrlL)
	}
	s.await(t, "8 links by severity")
	s.keys("q")
	s.end(t)
	files, err := filepath.Glob(filepath.Join(dir, "ibkit-top-node-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got files %q, %v", files, err)
	}
	document, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	cmdtest.CheckDocument(t, "../../schema/top.json", string(document), new(top.Report))
}

// Targets select the first screen, and an interrupt ends ibkit top.
func TestTop_Targets(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"leaf002"}, "leaf002  Switch"},
		{[]string{"leaf002/1"}, "leaf002[1] - host00003[1]"},
		{[]string{"host00001", "host00003"}, "host00003 to host00001, LID"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			s := start(t, 80, 24, nil, append([]string{"--sim", tree, "--interval", "10ms"}, test.args...)...)
			s.await(t, test.want)
			s.stop()
			s.end(t)
		})
	}
}

// Without colour, roles differ by attributes.
func TestTop_NoColour(t *testing.T) {
	for _, test := range []struct {
		env    map[string]string
		colour bool
	}{{nil, true}, {map[string]string{"NO_COLOR": "1"}, false}} {
		s := start(t, 80, 24, test.env, "--sim", "demo", "--interval", "100ms", "-t", "200")
		s.await(t, "slow: HDR")
		s.mu.Lock()
		colours := s.colours
		s.mu.Unlock()
		if (colours > 0) != test.colour {
			t.Errorf("NO_COLOR=%q: got %d cells with a colour", test.env["NO_COLOR"], colours)
		}
	}
}

// A link that goes down leaves the screen; the samples before still have it.
func TestTop_Rescan(t *testing.T) {
	events := cmdtest.WriteFile(t, "1s unlink leaf002[1]\n")
	s := start(t, 80, 24, nil, "--sim", tree, "--sim-events", events, "--interval", "100ms", "leaf002/1")
	s.await(t, "leaf002[1] - host00003[1]  4X HDR  Active", "samples from")
	s.await(t, missing)
	s.keys(tcell.KeyEscape)
	s.await(t, "7 links by severity")
}

// The list of keys fits a terminal, and has all keys.
func TestTop_Help(t *testing.T) {
	s := start(t, 80, 24, nil, "--sim", tree, "--interval", "20ms")
	s.await(t, "8 links by severity")
	s.keys("?")
	s.await(t, "any key returns")
	screen := s.text()
	for _, want := range []string{"Up Down PgUp PgDn j k", "Home End", "severity, errors, util, wait, findings, name\n", "Ctrl-U clears it\n", "? h "} {
		if !strings.Contains(screen, want) {
			t.Errorf("got\n%s\nwant %q", screen, want)
		}
	}
}

// A row has all findings of its link.
func TestFindingsText(t *testing.T) {
	for _, test := range []struct {
		findings []string
		want     string
	}{
		{[]string{"narrow: 2X, but both ends have 4X enabled"}, "narrow: 2X, but both ends have 4X enabled"},
		{[]string{"SymbolErrorCounter +12", "narrow: 2X, but both ends have 4X enabled"}, "narrow, SymbolError +12"},
		{[]string{"PortRcvErrors +3", "SymbolErrorCounter +12"}, "RcvErrors +3, SymbolError +12"},
		{[]string{"narrow: 2X, but both ends have 4X enabled", "slow: HDR, but", "narrow: 2X"}, "narrow, slow"},
	} {
		t.Run(test.want, func(t *testing.T) {
			if got := findingsText(test.findings); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAppendRate(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.001: "<0.01", 0.2: "0.20", 9.999: "10.0", 12.34: "12.3", 99.96: "100", 4567: "4567", 99999: "99999", 123456: "123k", 1.25e6: "1.2M", 2e9: "2.0G"} {
		if got := string(appendRate(nil, v)); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}

func TestAppendPercent(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0001: "<0.1", 0.123: "12.3", 0.9999: "100", 1: "100"} {
		if got := string(appendPercent(nil, v)); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}

func TestClipLink(t *testing.T) {
	for _, test := range []struct {
		name  string
		width int
		want  string
	}{
		{"leaf1[3] - node06[1]", 20, "leaf1[3] - node06[1]"},
		{"leaf1[3] - a-very-long-name-of-a-node[1]", 24, "leaf1[3] - a-very-lo…[1]"},
		{"a-very-long-name-of-a-switch[36] - node06[1]", 24, "a-very-…[36] - node06[1]"},
		{"a-very-long-name[36] - a-very-long-name[1]", 25, "a-very…[36] - a-very-…[1]"},
		{"leaf1[3] - node06[1]", 1, "…"},
	} {
		t.Run(fmt.Sprint(test.name, " in ", test.width), func(t *testing.T) {
			if got := clipLink(test.name, test.width); got != test.want && test.width > 1 {
				t.Errorf("%s in %d: got %q, want %q", test.name, test.width, got, test.want)
			}
		})
	}
}

func TestSparkline(t *testing.T) {
	if got, want := sparkline([]float64{9, 0, 1, 4, 8}, 4), "_▂▅█"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// BenchmarkDraw sorts and draws the 31,200 links of 10,400 hosts, with new values each time.
func BenchmarkDraw(b *testing.B) {
	c := &command{env: &cmdutil.Env{In: strings.NewReader(""), Out: io.Discard, ErrOut: io.Discard, Getenv: func(string) string { return "" }}}
	cmd := &cobra.Command{}
	c.define(cmd)
	if err := cmd.ParseFlags([]string{"--once", "--sim", "fat-tree:levels=3,radix=40,pods=26"}); err != nil {
		b.Fatal(err)
	}
	if err := c.complete(b.Context(), cmd.Flags(), nil); err != nil {
		b.Fatal(err)
	}
	u := &ui{state: c.newState(), styles: newStyles(true), now: time.Now, views: []view{{}}}
	c.options.Samples = 1
	var one *top.Sample
	if err := top.Run(b.Context(), c.options, func(s *top.Sample) { one = s }, func(error) {}); err != nil {
		b.Fatal(err)
	}
	screen := tcell.NewSimulationScreen("UTF-8")
	if err := screen.Init(); err != nil {
		b.Fatal(err)
	}
	screen.SetSize(200, 60)
	for b.Loop() {
		b.StopTimer()
		next := *one
		next.Values = make([]top.Value, len(one.Values))
		for i := range next.Values {
			next.Values[i] = top.Value{Errors: rand.Float32(), Xmit: rand.Float32(), Rcv: rand.Float32(), Wait: rand.Float32()}
		}
		b.StartTimer()
		u.add(&next)
		u.draw(screen)
		screen.Show()
	}
	b.ReportMetric(float64(len(one.Links)), "links")
}
