//go:build guest

package kernels_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/guest"
	"github.com/ibkit/ibkit/test/releases"
)

// pid matches the process ID in infiniband-diags warnings.
var pid = regexp.MustCompile(`\[[0-9]+\]`)

// devices compares the classic names of devinfo with the release's programs.
func devices(t *testing.T, g *guest.Guest, r *debian.Release) {
	lines := []string{
		"ibv_devices", "ibv_devinfo", "ibv_devinfo -l", "ibv_devinfo -v", "ibv_devinfo -d nosuch", "ibv_devinfo -d rxe0 -i 2",
		"ibstat", "ibstat -l", "ibstat -p", "ibstat -s", "ibstat nosuch", "ibstatus", "ibstatus rxe0:2",
	}
	if r == debian.Sid { // older releases end at such a port
		lines = append(lines, "ibstat rxe0 2", "ibstat rxe0 x")
	}
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			want := comparable(args[0], g.MustRun(t, args...))
			got := comparable(args[0], g.MustRun(t, append([]string{"ibkit"}, args...)...))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("C tool (-), ibkit (+):\n%s", d)
			}
		})
	}
}

// comparable returns the result of a program with the output of the release that ibkit
// follows, without the lines that only some releases have.
func comparable(program string, r guest.Result) string {
	r.Stdout = releases.Common(program, releases.Upgrade(program, r.Stdout))
	return result(r)
}

// result returns the output and the exit code.
func result(r guest.Result) string {
	return fmt.Sprintf("%s%sexit code %d\n", r.Stdout, pid.ReplaceAllString(r.Stderr, "[]"), r.Code)
}

// newMethods are uverbs methods that newer kernels introduced, and that Soft-RoCE has.
var newMethods = map[string]*debian.Release{
	"DEVICE QUERY_PORT": debian.Bullseye, "MR REG_DMABUF_MR": debian.Bookworm, "MW MW_DESTROY": debian.Bookworm, "DEVICE QUERY_PORT_SPEED": debian.Sid,
}

// methods checks which new methods the kernel has, as ibkit devinfo lists them.
func methods(t *testing.T, g *guest.Guest, r *debian.Release) {
	has := map[string]bool{}
	for line := range strings.Lines(g.Must(t, "ibkit", "devinfo", "--uapi")) {
		if f := strings.Fields(line); len(f) == 3 {
			has[f[0]+" "+f[1]] = f[2] == "yes"
		}
	}
	for method, since := range newMethods {
		if got, want := has[method], !r.Before(since); got != want {
			t.Errorf("%s: got %v, want %v", method, got, want)
		}
	}
}
