package watch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/hook"
	"github.com/ibkit/ibkit/internal/tool/watch"
	"github.com/ibkit/ibkit/report"
)

var program = cmdtest.Native(New)

func TestMain(m *testing.M) {
	if code, ran := hook.Supervise(os.Args); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// run runs a command line at node02 of a simulated fabric, with events.
func run(t *testing.T, events, line string) (code int, out, err string) {
	t.Helper()
	env := map[string]string{"IBKIT_SIM": "fat-tree:radix=4,pods=2,spines=2", "SIM_HOST": "host00001"}
	if strings.Contains(line, "--sim demo") {
		env["SIM_HOST"] = "node02"
	}
	args := append([]string{"watch", "-t", "400"}, strings.Fields(line)...)
	if events != "" {
		args = append([]string{"watch", "--sim-events", cmdtest.WriteFile(t, events), "-t", "400"}, args[1:]...)
	}
	if slices.Contains(args, "--exec") { // waits for another process
		return program.Run(t, env, args...)
	}
	return program.RunInBubble(t, env, args...)
}

// decode checks each line of JSON and returns the events.
func decode(t *testing.T, out string) (all []watch.Event) {
	t.Helper()
	for line := range strings.Lines(out) {
		var e watch.Event
		cmdtest.CheckDocument(t, "../../schema/watch.json", line, &e)
		if want := uint64(len(all) + 1); e.Sequence != want {
			t.Errorf("got sequence %d, want %d", e.Sequence, want)
		}
		all = append(all, e)
	}
	return all
}

func text(e watch.Event) string {
	return strings.TrimSpace(string(e.Kind) + " " + e.Subject)
}

// TestWatch_MissingNode checks the warning about a pattern without a node.
func TestWatch_MissingNode(t *testing.T) {
	code, out, err := run(t, "1s unlink leaf002[1]\n", "--sources links,counters --interval 50ms --node leaf002 --node nosuch --count 1")
	const want = "warning: find name nosuch: no node has this name\n"
	if code != 0 || !strings.Contains(out, "link-down") || strings.Count(err, want) != 1 || strings.Contains(err, "leaf002:") {
		t.Errorf("got exit code %d, output %q, error output %q, want the warning %q once", code, out, err, want)
	}
}

func TestWatch_Events(t *testing.T) {
	const counter = "PortRcvErrors"
	for _, test := range []struct {
		name, events, line string
		want               []string // of events, in any order
	}{
		{"link", "1s unlink leaf002[1]\n2s link leaf002[1]\n", "--sources links --interval 50ms --count 4", []string{
			"link-down leaf002[1]", "node-removed host00003", "link-up leaf002[1]", "node-added host00003",
		}},
		{"local link", "1s unlink host00001[1]\n2s link host00001[1]\n", "--sources links --interval 50ms --count 2", []string{
			"link-down host00001[1]", "link-up host00001[1]",
		}},
		{"description", "1s describe leaf002 new name\n", "--sources links,traps --interval 50ms --count 2", []string{
			"notice new name", "node-changed new name",
		}},
		{"silent", "1s hang leaf002\n3s resume leaf002\n", "--sources links --interval 50ms --node leaf002 --count 2", []string{
			"node-silent leaf002", "node-added leaf002",
		}},
		{"counter", "1s counter leaf001[1] " + counter + " 7\n", "--sources counters --window 100ms --event counter-raised,counter-settled --node leaf001 --count 2", []string{
			"counter-raised leaf001[1]", "counter-settled leaf001[1]",
		}},
		{"cleared", "1s counter leaf001[1] " + counter + " 7\n2s clear leaf001[1]\n", "--sources counters --window 100ms --event counters-cleared --count 1", []string{
			"counters-cleared leaf001[1]",
		}},
		{"trap", "1s unlink leaf002[1]\n", "--sources traps --event notice --severity info --count 1", []string{"notice leaf002"}},
		{"level", "1s unlink leaf001[2]\n2s link leaf001[2]\n", "--sources links --interval 50ms --severity recovery --event link-up --count 1", []string{"link-up leaf001[2]"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			code, out, stderr := run(t, test.events, "--json --for 1m "+test.line)
			if want := map[bool]int{true: 4}[test.name == "local link"]; code != want {
				t.Errorf("got exit code %d, want %d: %s", code, want, stderr)
			}
			var got []string
			for _, e := range decode(t, out) {
				if !e.Kind.IsState() {
					got = append(got, text(e))
				}
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q\n%s", got, test.want, out)
			}
		})
	}
}

// The end of --for ends the programs, also programs that wait for their turn.
func TestWatch_ExecEnd(t *testing.T) {
	t.Parallel()
	code, _, stderr := run(t, "1s unlink leaf002[1]\n", "--sources links --interval 50ms --for 3s --exec sleep --exec-jobs 1 --exec-timeout 1h -- 3600")
	if code != 4 || !strings.Contains(stderr, "warning: run sleep: killed: the time of the watch has ended\n") || !strings.Contains(stderr, "warning: 1 event without a run of sleep\n") {
		t.Errorf("got exit code %d and %s, want 4, one program killed, and one event without a run", code, stderr)
	}
}

// The reason of a loss is printed once for all sources that one port serves, and again if it
// recurs after they worked.
func TestCommand_Report(t *testing.T) {
	const reason = "the link of the local port is down"
	var out strings.Builder
	c := &command{env: &cmdutil.Env{ErrOut: &out}}
	event := func(source watch.Source, kind report.EventKind, detail string) *watch.Event {
		e := &watch.Event{}
		e.Kind, e.Subject, e.Detail = kind, string(source), detail
		return e
	}
	for range 2 {
		c.report(event(watch.Links, report.SourceLost, reason))
		c.report(event(watch.Counters, report.SourceLost, reason))
		c.report(event(watch.Links, report.SourceUp, "2 nodes, 1 link"))
		c.report(event(watch.Counters, report.SourceUp, ""))
	}
	dropped := event(watch.Self, report.Dropped, "too fast")
	dropped.Data.Count = new(1)
	c.report(dropped)
	want := strings.Repeat("warning: no events of links: "+reason+"\nwatching links: 2 nodes, 1 link\nwatching counters\n", 2) + "warning: 1 event: too fast\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// The program gets each event as a line of JSON, and no shell interprets its arguments.
func TestWatch_Exec(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\ntest \"$1\" = '$(id);' && cat >>%s/events\n", dir), 0o700); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := run(t, "1s unlink leaf002[1]\n", "--sources links --interval 50ms --count 2 --json --exec "+script+" --exec-jobs 1 -- $(id);")
	if code != 0 {
		t.Errorf("got exit code %d: %s", code, stderr)
	}
	got, err := os.ReadFile(filepath.Join(dir, "events"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(out) {
		if !strings.Contains(line, `"source-up"`) {
			want = append(want, line)
		}
	}
	if string(got) != strings.Join(want, "") || len(want) != 2 {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWatch_Codes(t *testing.T) {
	for _, test := range []struct {
		line string
		code int
		want string
	}{
		{"--sources nosuch", 2, "want one of links, traps, counters, local"},
		{"--event nosuch", 2, "want one of link-down"},
		{"--interval 0s", 2, "invalid --interval 0s"},
		{"--window -1s", 2, "invalid --window -1s"},
		{"--count 0", 2, "invalid --count 0"},
		{"--for 0s", 2, "invalid --for 0s"},
		{"--exec-jobs 2", 2, "--exec"},
		{"--exec true --exec-jobs 0", 2, "invalid --exec-jobs 0"},
		{"--exec /nonexistent/program", 2, "find program"},
		{"--max-wait 101", 2, "invalid --max-wait"},
		{"--threshold-file /nonexistent/file", 2, "read thresholds"},
		{"--node [", 2, "invalid pattern"},
		{"operand", 2, `unexpected argument "operand"`},
		{"--sources links --for 1s", 0, "watching links: 8 nodes, 8 links"},
		{"--sources links --count 1 --for 10ms", 1, "watch: got 0 of 1 events within 10ms"},
		{"--sim demo,sm=off --sources traps --for 1m", 1, "hint: check that a subnet manager is running"},
		{"--sim demo,sm=off --for 2s --sources links,counters", 4, "no port of another node was read"},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, _, stderr := run(t, "", test.line)
			if code != test.code || !strings.Contains(stderr, test.want) {
				t.Errorf("got exit code %d, %s, want %d and %s", code, stderr, test.code, test.want)
			}
		})
	}
}

// A program that fails, and a source that stops working, make the result partial.
func TestWatch_Partial(t *testing.T) {
	for _, test := range []struct{ name, events, line, want string }{
		{"program", "1s unlink leaf002[1]\n", "--sources links --interval 50ms --count 2 --exec false", "warning: run false: exit status 1"},
		{"links", "1s unlink host00001[1]\n", "--sources links --interval 50ms --for 4s", "warning: no events of links"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := run(t, test.events, test.line)
			if code != 4 || !strings.Contains(stderr, test.want) {
				t.Errorf("got exit code %d, %s, want 4 and %s", code, stderr, test.want)
			}
		})
	}
}

// An interrupt ends the stream at once and without an error.
func TestWatch_Interrupt(t *testing.T) {
	r := program.Start(map[string]string{"IBKIT_SIM": "demo"}, "watch", "--json", "--interval", "1h")
	r.Out.Await(t, `"kind":"source-up","severity":"recovery","subject":"counters"`)
	if code := r.End(); code != 0 {
		t.Errorf("got exit code %d: %s", code, r.ErrOut)
	}
	var e json.RawMessage
	for line := range strings.Lines(r.Out.String()) {
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Errorf("got a line that is cut off: %q", line)
		}
	}
}
