package cmdtest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// pids are in the messages of infiniband-diags.
var pids = regexp.MustCompile(`\[[0-9]+\]`)

// RunOnHosts runs command lines on hosts with adapters of all kinds, and compares
// the output with testdata/HOST.golden.
func (p Program) RunOnHosts(t *testing.T, lines ...string) {
	t.Helper()
	for _, name := range testenv.Hosts(t) {
		t.Run(name, func(t *testing.T) {
			root := testenv.Host(t, name)
			var all strings.Builder
			for _, line := range lines {
				code, out, err := p.Run(t, map[string]string{"IBKIT_SYSFS": root}, strings.Fields(line)...)
				err = pids.ReplaceAllString(strings.ReplaceAll(err, root, "/sys"), "[]")
				fmt.Fprintf(&all, "$ ibkit %s\n%s%s", line, out, err)
				if code != 0 {
					fmt.Fprintf(&all, "exit code %d\n", code)
				}
			}
			Golden(t, name+".golden", all.String())
		})
	}
}
