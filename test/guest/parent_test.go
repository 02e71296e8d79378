//go:build guest

package guest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// childVariable marks the test's child process.
const childVariable = "GUEST_TEST_CHILD"

// TestParentDeath kills a process that has booted a guest and waits for QEMU to
// follow it.
func TestParentDeath(t *testing.T) {
	t.Parallel()
	if os.Getenv(childVariable) != "" {
		g := New(t, Spec{})
		_, _ = fmt.Fprintln(os.Stderr, g.vm.pid)
		select {}
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestParentDeath$")
	child.Env = append(os.Environ(), childVariable+"=1")
	stderr, err := child.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(bufio.NewReader(stderr), &pid); err != nil {
		t.Fatal(err)
	}
	qemu, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(qemu)
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()       // it was killed
	const timeout = 60_000 // milliseconds
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(qemu), Events: unix.POLLIN}}, timeout)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n != 1 || err != nil {
			t.Errorf("QEMU is still there after %d ms (%v)", timeout, err)
		}
		return
	}
}
