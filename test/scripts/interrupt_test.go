package scripts

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// slow makes each agent in a simulated fabric respond so slowly that a scan takes many
// seconds.
const slow = "service=100ms,queue=100"

// A step is a signal that a command gets after an output line that contains a text.
type step struct {
	text   string
	signal os.Signal
}

// signalAt sends signals to a running command in sequence. It waits until the command ends
// and returns the output.
func signalAt(t *testing.T, c *exec.Cmd, output io.Reader, steps ...step) string {
	t.Helper()
	var all strings.Builder
	for lines := bufio.NewScanner(output); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if len(steps) == 0 || !strings.Contains(lines.Text(), steps[0].text) {
			continue
		}
		if err := c.Process.Signal(steps[0].signal); err != nil {
			t.Fatalf("send %v: %v", steps[0].signal, err)
		}
		steps = steps[1:]
	}
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if len(steps) > 0 {
		t.Fatalf("%v ended without %q:\n%s", c.Args, steps[0].text, &all)
	}
	return all.String()
}

// interrupt runs a command, interrupts it after its first request for a switch port, and
// returns the results. The arguments include -v -v, which prints the requests.
func interrupt(t *testing.T, dir string, args ...string) (code int, signal syscall.Signal, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c := ibsimtest.Command(t, self, args[1:]...)
	c.Args[0], c.Dir, c.Stdout = args[0], dir, &out
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	text := signalAt(t, c, pipe, step{"Get PortInfo modifier 0x2", os.Interrupt})
	status := c.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		signal = status.Signal()
	}
	return c.ProcessState.ExitCode(), signal, out.String(), text
}

// TestInterrupt_Linkinfo interrupts a scan: the summary reports a partial result, the
// table has only ports with data, and the stored fabric remains.
func TestInterrupt_Linkinfo(t *testing.T) {
	dir := t.TempDir()
	cache := filepath.Join(dir, "baseline")
	store := []string{"linkinfo", "--sim", "demo", "--save", cache}
	if code, out := runOnce(t, "ibkit", store...); code != 3 {
		t.Fatalf("%v: got exit code %d, want 3\n%s", store, code, out)
	}
	want, err := os.ReadFile(cache)
	if err != nil {
		t.Fatal(err)
	}
	scan := []string{"ibkit", "linkinfo", "--sim", "demo", "--sim-model", slow, "-t", "60000", "-vv", "--save", cache}
	for _, test := range []struct {
		view string
		want *regexp.Regexp
	}{
		{"", regexp.MustCompile(`(?m)^1 switch, 1 channel adapter, .* partial result, no problems found$`)},
		{"--csv", regexp.MustCompile(`node01`)},
		{"--json", regexp.MustCompile(`"partial":true,\n"findings":\[\],\n"failures":\[\n.*"error":"scan fabric: ended early, .*context canceled"`)},
	} {
		t.Run("linkinfo "+test.view, func(t *testing.T) {
			code, _, stdout, stderr := interrupt(t, dir, append(scan, strings.Fields(test.view)...)...)
			if code != 4 {
				t.Errorf("got exit code %d, want 4\n%s", code, stderr)
			}
			if !test.want.MatchString(stdout) {
				t.Errorf("got %s, want a match for %v", stdout, test.want)
			}
			for _, unread := range []string{"undefined", "NoChange"} {
				if test.view != "--json" && strings.Contains(stdout, unread) {
					t.Errorf("got %q in the output, want only ports with data:\n%s", unread, stdout)
				}
			}
			if !strings.Contains(stderr, "interrupted") || !strings.Contains(stderr, "baseline was not written") {
				t.Errorf("got error output %s, want the interruption and the file that was not written", stderr)
			}
			if got, err := os.ReadFile(cache); err != nil || string(got) != string(want) {
				t.Errorf("got another stored fabric (%d bytes, %v), want the former %d bytes", len(got), err, len(want))
			}
		})
	}
}

// TestInterrupt_Iblinkinfo interrupts the classic name, which ends by the signal and
// without output as the C tool does.
func TestInterrupt_Iblinkinfo(t *testing.T) {
	_, signal, stdout, _ := interrupt(t, t.TempDir(), "iblinkinfo", "--sim", "demo", "--sim-model", slow, "-t", "60000", "-v", "-v")
	if signal != syscall.SIGINT || stdout != "" {
		t.Errorf("got signal %v, output %q; want SIGINT, no output", signal, stdout)
	}
}

// runOnce runs a command in this process's program until it ends.
func runOnce(t *testing.T, name string, args ...string) (code int, output string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := ibsimtest.Command(t, self, args...)
	c.Args[0] = name
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}
