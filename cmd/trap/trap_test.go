package trap

import (
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/report"
)

var program = cmdtest.Native(New)

// events change the fabric demo so that it sends notices of several kinds. The first
// packets are for the subscription and the names, later ones renew the subscription.
const events = `@40 unlink node06[1]
@42 link node06[1]
@44 describe node03 a new name
@46 hang leaf2
`

// limits make a command renew its subscription often, and end if a notice is missing.
const limits = "--renew 10ms --for 2m"

// run runs a command line at node02 of the fabric demo.
func run(t *testing.T, env map[string]string, line string) (code int, out, err string) {
	t.Helper()
	all := map[string]string{"IBKIT_SIM": "demo", "SIM_HOST": "node02"}
	for k, v := range env {
		all[k] = v
	}
	return program.Run(t, all, append([]string{"trap"}, strings.Fields(line)...)...)
}

var (
	clock   = regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d\d\d`)
	elapsed = regexp.MustCompile(` in [\d.]+m?s`)
	sent    = regexp.MustCompile(`\d+ MADs sent, including \d+ retries`)
)

func TestTrap_Output(t *testing.T) {
	t.Parallel()
	file := cmdtest.WriteFile(t, events)
	lines := []string{
		"--count 6", "--count 1 --trap 144", "--count 2 --trap out-of-service --node node0[67]", "--count 2 -v --source sa --trap link-state",
	}
	outputs := make([]string, len(lines))
	var running sync.WaitGroup // not parallel subtests, which are limited to the processors
	for i, line := range lines {
		running.Go(func() {
			code, out, err := run(t, nil, limits+" --sim-events "+file+" "+line)
			outputs[i] = "$ ibkit trap " + line + "\n" + clock.ReplaceAllString(out, "HH:MM:SS.mmm") + sent.ReplaceAllString(elapsed.ReplaceAllString(err, " in N ms"), "N MADs sent, including N retries")
			if code != 0 {
				t.Errorf("%s: got exit code %d, want 0", line, code)
			}
		})
	}
	running.Wait()
	cmdtest.Golden(t, "output.golden", strings.Join(outputs, ""))
}

// Each line of JSON conforms to the schema.
func TestTrap_JSON(t *testing.T) {
	t.Parallel()
	code, out, stderr := run(t, nil, limits+" --json --count 6 --sim-events "+cmdtest.WriteFile(t, events))
	if code != 0 {
		t.Errorf("got exit code %d: %s", code, stderr)
	}
	kinds := map[string]int{}
	for line := range strings.Lines(out) {
		var event trap.Event
		cmdtest.CheckDocument(t, "../../schema/trap.json", line, &event)
		kind := string(event.Kind)
		if event.Kind == report.Notice {
			kind = *event.Data.Notice.Name
			if want := kind + ": "; !strings.HasPrefix(event.Detail, want) || event.Subject != event.Data.Place.String() {
				t.Errorf("got detail %q of subject %q, want %q of %v", event.Detail, event.Subject, want, event.Data.Place)
			}
		}
		kinds[kind]++
	}
	for _, kind := range []string{"source-up", "link-state", "in-service", "out-of-service", "capabilities"} {
		if kinds[kind] == 0 {
			t.Errorf("got no event %s in %v", kind, kinds)
		}
	}
}

func TestTrap_Errors(t *testing.T) {
	for _, test := range []struct {
		line string
		code int
		want string
	}{
		{"--trap nosuch", 2, `parse trap "nosuch"`},
		{"--trap 65535", 2, "parse trap"},
		{"--count 0", 2, "invalid --count 0"},
		{"--for -1s", 2, "invalid --for"},
		{"--renew 0s", 2, "invalid --renew"},
		{"--show-keys", 2, "--json"},
		{"--node [", 2, "invalid pattern"},
		{"nosuch", 2, `unknown command "nosuch"`},
		{"--node nope,node0*,leaf --for 10ms", 0, `warning: find name nope: no node has this name`},
		{"--node nope,node0*,leaf --for 10ms", 0, "warning: find name leaf: no node has this name\nhint: similar names: \"leaf1\", \"leaf2\""},
		{"--count 1 --for 10ms", 1, "receive notices: got 0 of 1 within 10ms"},
		{"--sim demo,sm=off --for 10ms", 1, "hint: check that a subnet manager is running"},
		{"--sm-port 9 -t 10 --for 10ms", 1, "Set SubnAdm InformInfo of LID 9"},
		{"send", 2, "no trap given"},
		{"send nosuch", 2, `parse trap "nosuch"`},
		{"send 5", 2, "does not define its details"},
		{"send capabilities --port 3", 2, "--port has no effect on trap capabilities"},
		{"send 67 --port 3", 2, "--port has no effect on trap group-deleted"},
		{"send --sim demo,sm=off capabilities", 1, "hint: check that a subnet manager is running"},
		{"send --sm-port 9 -t 10 capabilities", 1, "send trap 144: Trap Notice of LID 9"},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, stderr := run(t, nil, test.line)
			if code != test.code || !strings.Contains(stderr, test.want) {
				t.Errorf("got exit code %d, %s%s, want %d and %s", code, out, stderr, test.code, test.want)
			}
		})
	}
}

func TestTrap_Send(t *testing.T) {
	for _, line := range []string{"link-integrity --port 3", "--no-wait 64", "p-key"} {
		if code, out, stderr := run(t, nil, "send "+line); code != 0 || !strings.Contains(out, "sent to LID 4") {
			t.Errorf("%s: got exit code %d, %s%s", line, code, out, stderr)
		}
	}
}

// A change of the subnet manager makes the command subscribe again.
func TestTrap_Handover(t *testing.T) {
	t.Parallel()
	file := cmdtest.WriteFile(t, "@31 sm node05[1]\n@100 unlink node06[1]\n")
	code, out, stderr := run(t, nil, limits+" --count 1 --trap out-of-service --sim-events "+file)
	// The subscription is lost, exit code 4, if the change precedes the second packet of a
	// renewal: the first one reads the LID of the subnet manager.
	if code != 0 && code != 4 || !strings.Contains(out, "node06") || strings.Count(stderr, "subscribed to notices") != 2 {
		t.Errorf("got exit code %d, %s%s, want node06 and two subscriptions", code, out, stderr)
	}
}
