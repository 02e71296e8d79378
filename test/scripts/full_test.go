package scripts

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFullDevice writes help texts and each view to a full device: the commands fail
// and report the cause.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = full.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"help", "help linkinfo", "--help", "linkinfo --help", "perf --help", "ping --help", "addr --help", "devinfo --help",
		"doctor --help", "sim --help", "sim serve --help", "completion --help", "version --help", "--version",
		"version", "version --json",
		"completion bash", "completion fish", "completion zsh",
		"linkinfo --sim demo", "linkinfo --sim demo --json", "linkinfo --sim demo --csv",
		"addr --sim demo 3", "addr --sim demo --json 3", "addr --sim demo --plain 3", "addr --sim demo --columns lid 3",
		"ping --sim demo -c 1 3", "ping --sim demo -c 1 -q 3", "ping --sim demo -c 1 --json 3", "ping --sim demo -c 1 --json-lines 3",
		"doctor --root .", "doctor --root . --json", "doctor --list",
		"sim list", "sim export demo", "sim export --format json demo", "sim export --format topology demo",
		"iblinkinfo --sim demo", "iblinkinfo --sim demo -l", "ibaddr --sim demo 3", "ibaddr --sim demo -g 3",
		"ibstatus -h",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var stderr strings.Builder
			c := exec.Command(self, strings.Fields(line)...)
			c.Args[0], c.Stdout, c.Stderr = "ibkit", full, &stderr
			c.Env = append(os.Environ(), "IBKIT_SYSFS="+t.TempDir())
			err := c.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() < 0 {
				t.Errorf("got %v, want an exit code other than 0", err)
			}
			if want := ": write standard output: no space left on device\n"; strings.Count(stderr.String(), want) != 1 || strings.Contains(stderr.String(), "write output") {
				t.Errorf("got error output %q, want one %q", &stderr, want)
			}
		})
	}
}
