//go:build oracle

package oracle

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// A checkedNode is a root directory with a host's sysfs, and its manifest.
type checkedNode struct {
	t              *testing.T
	root, manifest string
}

// newCheckedNode returns a host with an active first port.
func newCheckedNode(t *testing.T) *checkedNode {
	t.Helper()
	n := &checkedNode{t, t.TempDir(), filepath.Join(t.TempDir(), "node.yaml")}
	if err := os.Symlink(testenv.Host(t, "mlx5-ib"), filepath.Join(n.root, "sys")); err != nil {
		t.Fatal(err)
	}
	if out, err := ibsimtest.Command(t, native(), "check", "node", "--root", n.root, "--write-expect", n.manifest).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return n
}

// set changes a file of the first port.
func (n *checkedNode) set(name, text string) {
	n.t.Helper()
	path := filepath.Join(n.root, "sys/class/infiniband/mlx5_0/ports/1", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		n.t.Fatal(err)
	}
	// A rename, because a check may be reading.
	if err := os.WriteFile(path+".new", []byte(text+"\n"), 0o600); err != nil {
		n.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		n.t.Fatal(err)
	}
}

// TestCheckNode_Slurm lets slurmd run the packaged health check: it drains the node while a
// port is down, and while it flaps, and leaves a node alone that an administrator has drained.
func TestCheckNode_Slurm(t *testing.T) {
	t.Parallel()
	n := newCheckedNode(t)
	script, err := filepath.Abs("../../packaging/slurm-healthcheck")
	if err != nil {
		t.Fatal(err)
	}
	host := shortHostname(t)
	settings := filepath.Join(t.TempDir(), "settings")
	state := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(settings, []byte(fmt.Sprintf("IBKIT_CHECK_OPTIONS='--root %s --expect %s --state-file %s'\n", n.root, n.manifest, state)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t, `TaskPlugin=task/none
HealthCheckProgram=%[4]s/health
HealthCheckInterval=1
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=1
PartitionName=p Nodes=%[1]s Default=YES
`)
	// The health check finds ibkit in PATH, and its settings through a variable.
	c.write("health", fmt.Sprintf("#!/bin/sh\nexport PATH=%s:/usr/bin:/bin SLURM_CONF=%s IBKIT_CHECK_CONFIG=%s\nexec %s\n",
		filepath.Dir(native()), c.conf(), settings, script), 0o700)
	c.start("slurmctld", "slurmd")
	show := []string{"--oneliner", "show", "node", host}
	idle := func(text string) bool {
		return strings.Contains(text, " State=IDLE ") && !strings.Contains(text, "Reason=")
	}
	drained := func(reason string) func(string) bool {
		return func(text string) bool {
			return strings.Contains(text, " State=IDLE+DRAIN ") && strings.Contains(text, "Reason="+reason)
		}
	}
	c.wait(idle, show...)

	n.set("state", "1: DOWN")
	c.wait(drained("ibkit: ports/port-state mlx5_0/1: state: got DOWN, want ACTIVE [root@"), show...)
	n.set("state", "4: ACTIVE")
	c.wait(idle, show...)

	n.set("counters/link_downed", "0")
	c.wait(func(string) bool { return strings.Contains(stored(t, state), `"link_downed": 0`) }, show...)
	n.set("counters/link_downed", "2")
	c.wait(drained("ibkit: flaps/flapping mlx5_0/1: the link went down 2 times within 6h0m0s"), show...)

	if _, err := c.scontrol(t.Context(), "update", "NodeName="+host, "State=DRAIN", "Reason=maintenance"); err != nil {
		t.Fatal(err)
	}
	// The health check resumes only nodes with its own reason. Without the state, the node
	// is healthy; the second state from now on is from a check that began later.
	for range 2 {
		if err := os.Remove(state); err != nil {
			t.Fatal(err)
		}
		c.wait(func(string) bool { return stored(t, state) != "" }, show...)
	}
	if text := c.wait(func(string) bool { return true }, show...); !drained("maintenance")(text) {
		t.Errorf("got %s, want the reason of the administrator", text)
	}
}

// stored returns a node's state, "" without a file.
func stored(t *testing.T, state string) string {
	t.Helper()
	text, err := os.ReadFile(state)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// TestCheck_Nagios lets negate from the Monitoring Plugins interpret the results: it
// exchanges states, and with -s their names in the output.
func TestCheck_Nagios(t *testing.T) {
	t.Parallel()
	n := newCheckedNode(t)
	broken := newCheckedNode(t)
	broken.set("state", "1: DOWN")
	thresholds := filepath.Join(t.TempDir(), "thresholds.yaml")
	if err := os.WriteFile(thresholds, []byte("sm_wait: 0s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, line string
		want       string // state that the plugin reports
	}{
		{"healthy", "node --root " + n.root + " --expect " + n.manifest, "OK"},
		{"port down", "node --root " + broken.root + " --expect " + broken.manifest, "CRITICAL"},
		{"warnings", "fabric --sim unbalanced-leaf --only routing", "WARNING"},
		{"errors", "fabric --sim demo --thresholds " + thresholds + " --only links,speed", "CRITICAL"},
		{"unknown", "fabric --sim demo --only counters --thresholds " + thresholds, "UNKNOWN"},
		{"wrong file", "node --expect /nonexistent", "UNKNOWN"},
		{"wrong flag", "node --nosuch", "UNKNOWN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			words := strings.Fields(test.line)
			line := append([]string{native(), "check", words[0], "--format", "nagios"}, words[1:]...)
			// Each state becomes the next state.
			negate := ibsimtest.Command(t, "/usr/lib/nagios/plugins/negate", append([]string{"-s", "-o", "WARNING", "-w", "CRITICAL", "-c", "UNKNOWN", "-u", "OK"}, line...)...)
			out, err := negate.Output()
			states := []string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}
			got := -1
			if negate.ProcessState != nil {
				got = negate.ProcessState.ExitCode()
			}
			for i, s := range states {
				if s != test.want {
					continue
				}
				next := (i + 1) % len(states)
				if got != next || !strings.HasPrefix(string(out), "IBKIT "+strings.ToUpper(words[0])+" "+states[next]+" - ") {
					t.Errorf("got exit code %d, %v and\n%s\nwant %d for %s", got, err, out, next, test.want)
				}
			}
		})
	}
}

// readJUnit prints the test cases of a report with the results that junitparser reads.
const readJUnit = `
import sys
from junitparser import JUnitXml
for suite in JUnitXml.fromfile(sys.argv[1]):
    print(suite.name, suite.tests, suite.failures, suite.errors, suite.skipped)
    for case in suite:
        print(case.name, *[type(r).__name__ for r in case.result])
`

// TestCheck_JUnit reads reports with junitparser.
func TestCheck_JUnit(t *testing.T) {
	events := filepath.Join(t.TempDir(), "events")
	if err := os.WriteFile(events, []byte("0s describe node06 <]]>&\"' \x1b\n0s pkeys node06[1] 0x8001\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "report.xml")
	text, err := ibsimtest.Command(t, native(), "check", "fabric", "--sim", "demo", "--sim-events", events,
		"--only", "links,names,pkeys,counters,plan", "--format", "junit").Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 4 {
		t.Fatalf("got error %v, want exit code 4", err)
	}
	if err := os.WriteFile(report, text, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ibsimtest.Command(t, "/usr/bin/python3", "-c", readJUnit, report).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, got, text)
	}
	const want = `ibkit check fabric 5 2 1 1
names
links Failure
pkeys Failure
counters Error
plan Skipped
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
