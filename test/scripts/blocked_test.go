package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestInterrupt_Blocked interrupts commands that wait for a FIFO peer or for input. The
// first signal ends them.
func TestInterrupt_Blocked(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"linkinfo --sim demo --save FIFO", "linkinfo --from FIFO", "linkinfo --sim FIFO", "linkinfo --sim demo --diff FIFO",
		"linkinfo --sim demo --node-name-map FIFO", "linkinfo --sim demo --config FIFO", "linkinfo --sim demo --sim-events FIFO",
		"topology --sim demo --plan FIFO", "topology --sim demo --write-plan FIFO", "counters --sim demo --since FIFO", "counters --sim demo --save FIFO --save-partial",
		"counters --sim demo --threshold-file FIFO", "check routes --tables FIFO", "check routes --sim demo --save FIFO", "route --sim demo --targets-file FIFO",
		"addr --sim demo --targets-file FIFO", "addr --sim demo --targets-file -", "ping --sim demo --expect FIFO", "ping --sim demo --targets-file -",
		"route --sim demo --targets-file -", "sim export demo --output FIFO",
		"check node --expect FIFO", "linkinfo --sim demo -y @FIFO", "port --sim demo --yes --log FIFO --force last-link node05 reset",
		"cc --sim demo --settings FIFO",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			var stderr strings.Builder
			c := ibsimtest.Command(t, self, strings.Fields(strings.ReplaceAll(line, "FIFO", fifo))...)
			c.Args[0], c.Stderr = "ibkit", &stderr
			in, err := c.StdinPipe() // that stays open
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			waitUntilIdle(t, c.Process.Pid)
			if err := c.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			testenv.Receive(t, "end after SIGINT", ended)
			if code := c.ProcessState.ExitCode(); code != 1 || !strings.Contains(stderr.String(), "interrupted: ") {
				t.Errorf("got exit code %d, error output %q; want 1 and that it was interrupted", code, &stderr)
			}
		})
	}
}

// waitUntilIdle waits until a process waits to open a file or for input: a thread is in
// the same system call at two points in time.
func waitUntilIdle(t *testing.T, pid int) {
	t.Helper()
	blocking := []string{fmt.Sprintf("%d ", syscall.SYS_OPENAT), fmt.Sprintf("%d 0x0 ", syscall.SYS_READ)}
	before := map[string]string{}
	testenv.Await(t, "blocked system call", func() bool {
		calls, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
		if err != nil {
			t.Fatal(err)
		}
		now := map[string]string{}
		for _, path := range calls {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // the thread has ended
			}
			now[path] = string(text)
			for _, call := range blocking {
				if strings.HasPrefix(now[path], call) && now[path] == before[path] {
					return true
				}
			}
		}
		before = now
		return false
	})
}
