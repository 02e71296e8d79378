//go:build packages

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestContainer runs the binary as a container built from packaging/Containerfile does: in
// a root directory with no other file, not even /proc, /sys and /tmp, in separate
// namespaces, as a user without privileges.
func TestContainer(t *testing.T) {
	binary, err := os.ReadFile(one(t, "ibkit_linux_amd64_v1/ibkit"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "ibkit"), binary, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args string
		want string
		code int
	}{
		{"linkinfo --sim demo --problems", "3 links with problems", 3},
		{"linkinfo --sim demo --json", `"schema":"ibkit/linkinfo/4"`, 3},
		{"iblinkinfo --sim demo", "Could be", 0},
		{"ping --sim demo --count 1 3", "1", 0},
		{"version", "linux/amd64", 0},
		{"version", "0.0.0~git", 0},
		{"devinfo", "", 1},
		{"linkinfo", "--sim", 1},
	} {
		t.Run(test.args, func(t *testing.T) {
			run := exec.Command("/ibkit", strings.Fields(test.args)...)
			run.Dir, run.Env = "/", []string{"TERM=xterm"}
			run.SysProcAttr = &syscall.SysProcAttr{
				Chroot:     root,
				Credential: &syscall.Credential{Uid: 65532, Gid: 65532},
				Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
			}
			out, _ := run.CombinedOutput()
			if code := run.ProcessState.ExitCode(); code != test.code || !strings.Contains(string(out), test.want) {
				t.Errorf("got exit code %d, want %d with %q\n%s", code, test.code, test.want, out)
			}
		})
	}
}
