package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestHangup_End checks that SIGHUP ends commands in order, as SIGTERM does: with the
// result exit code, and not by the signal.
func TestHangup_End(t *testing.T) {
	name := fmt.Sprintf("hangup-%d", os.Getpid())
	served := ibkit(t, "sim", "serve", "--name", name, "demo")
	output, err := served.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := served.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = served.Process.Kill() })
	if _, err := output.Read(make([]byte, 1)); err != nil { // it is ready
		t.Fatal(err)
	}
	for _, test := range []struct {
		line, after string
		code        int
	}{
		{"linkinfo --sim demo --sim-model service=100ms,queue=100 -t 60000 -vv", "Get PortInfo modifier 0x2", 4},
		{"watch --sim demo", "watching ", 0},
		{"trap --sim demo", "subscribed to notices", 0},
		{"ping -c 0 -i 10ms --lines --sim demo 3", "seq=2 ", 0},
		{"ping --serve --sim ibsim", "serving pings at ", 0},
		{"query --serve --sim ibsim", "serving Ping", 0},
		{"sim serve --name other-" + name + " demo", "Network simulator ready", 0},
	} {
		t.Run(test.line, func(t *testing.T) {
			c := ibkit(t, strings.Fields(test.line)...)
			c.Env = append(os.Environ(), "IBSIM_SOCKNAME="+name)
			if code, out := signalled(t, c, step{test.after, syscall.SIGHUP}); code != test.code {
				t.Errorf("got exit code %d, want %d\n%s", code, test.code, out)
			}
		})
	}
}

// TestHangup_Reload checks that SIGHUP does not end the exporter.
func TestHangup_Reload(t *testing.T) {
	c := ibkit(t, "exporter", "--listen", "127.0.0.1:0", "--sim", "single-switch")
	code, out := signalled(t, c,
		step{"serving metrics at ", syscall.SIGHUP}, step{"reloaded all files", syscall.SIGHUP}, step{"reloaded all files", syscall.SIGTERM})
	if code != 0 {
		t.Errorf("got exit code %d, want 0\n%s", code, out)
	}
}

// TestHangup_Ignored checks that a command that ignores SIGHUP from the start, as under
// nohup(1), goes on.
func TestHangup_Ignored(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ibkit") // the shell uses it as the program name
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	shell := ibsimtest.Command(t, "sh", "-c", `trap "" HUP; exec "$0" ping -c 0 -i 10ms --lines --sim demo 3`, path)
	code, out := signalled(t, shell, step{"seq=2 ", syscall.SIGHUP}, step{"seq=9 ", os.Interrupt})
	if code != 0 {
		t.Errorf("got exit code %d, want 0\n%s", code, out)
	}
}
