//go:build oracle

package oracle

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/netgen"
)

// TestTenDeadHosts checks that ten hosts that drop requests are reported one by one, and
// cost three attempts each.
func TestTenDeadHosts(t *testing.T) {
	b := newRig(t, ibsimtest.WriteNet(t, "ft100", netgen.Shapes["ft100"]), false)
	text, err := os.ReadFile(b.net)
	if err != nil {
		t.Fatal(err)
	}
	hosts := hostLine.FindAllStringSubmatch(string(text), -1)
	for _, h := range hosts[10:20] {
		b.MustCommand(t, `Error "`+h[1]+`" 100`)
	}
	r := b.MustRun(t, b.host, native(), "linkinfo", "--sim", "ibsim", "-v", "--csv")
	if r.Code != 4 {
		t.Errorf("exit code %d", r.Code)
	}
	if n := strings.Count(r.Stderr, "sent 3 times: no reply in time"); n != 10 {
		t.Errorf("%d failures told, want 10:\n%s", n, r.Stderr)
	}
	if !regexp.MustCompile(`including 20 retries; 30 timed out`).MatchString(r.Stderr) {
		t.Errorf("more than three attempts for each of ten hosts:\n%s", r.Stderr)
	}
	if n := strings.Count(r.Stdout, "no-peer"); n != 10 {
		t.Errorf("%d links without a peer, want 10", n)
	}
}

// TestSimulatorDies checks that a scan ends with a partial result when the simulator
// dies.
func TestSimulatorDies(t *testing.T) {
	t.Parallel()
	b := newRig(t, ibsimtest.WriteNet(t, "ft1k", netgen.Shapes["ft1k"]), false)
	cmd := ibsimtest.Command(t, native(), "linkinfo", "--sim", "ibsim", "-vv")
	cmd.Env = append(os.Environ(), append(b.Env(), "SIM_HOST="+b.host)...)
	var out strings.Builder
	cmd.Stdout = &out
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watchdog := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	defer watchdog.Stop()
	lines := bufio.NewReader(stderr)
	for range 1000 { // a line for each MAD
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Stop(); err != nil {
		t.Log(err) // it was ended on purpose
	}
	rest, _ := io.ReadAll(lines)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("got error %v", err)
	}
	if !strings.Contains(string(rest), "ibsim has ended") {
		t.Errorf("does not say why: %.2000s", rest)
	}
	if !strings.Contains(out.String(), "links:") {
		t.Errorf("no partial result: %.500s", out.String())
	}
}
