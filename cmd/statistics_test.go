package cmd

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// TestStatistics checks that -v of the native commands that send MADs prints how many were
// sent, as their help texts promise.
func TestStatistics(t *testing.T) {
	counted := regexp.MustCompile(`(?m)\b[0-9]+ (MADs?|packets?) sent, including [0-9]+ retr(y|ies); [0-9]+ timed out`)
	lines := slices.Concat(queries, []string{"trap --for 1ms", "trap send capabilities", "port --yes leaf1 1 mtu=2048", "watch --sources traps --for 1ms"})
	for _, line := range lines {
		args := strings.Fields(line + " -v")
		if registry[args[0]].command == nil {
			continue // -v of classic tools has the output of the C tools
		}
		var out, errOut bytes.Buffer
		env := &cmdutil.Env{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(name string) string {
			return map[string]string{"IBKIT_SIM": "demo", "IBKIT_SYSFS": t.TempDir()}[name]
		}}
		if c, _, err := newRoot(env, args).Find(args); err != nil || c.Flags().Lookup("outstanding-smps") == nil {
			continue // has no fabric flags
		}
		t.Run(line, func(t *testing.T) {
			cmdtest.OutsideBubbles()
			synctest.Test(t, func(t *testing.T) { run(t.Context(), env, args) })
			if !counted.Match(errOut.Bytes()) {
				t.Errorf("got %q, want a line with the number of packets", &errOut)
			}
		})
	}
}
