package cmd

import (
	"strings"
	"testing"
)

// Lost probes are something wrong, unless so many may be.
func TestPingExitCodes(t *testing.T) {
	for _, test := range []struct {
		args string
		code int
	}{
		{"3 4-5", exitOK},
		{"-t 1 77", exitFindings},
		{"-t 1 3 77", exitFindings},
		{"-t 1 --max-loss 100 77", exitOK},
		{"--max-p99 1ns 3", exitFindings},
		{"--max-loss 101 3", exitUsage},
		{"3-x", exitUsage},
	} {
		args := append([]string{"ping", "--sim", "demo", "-c", "1", "-q"}, strings.Fields(test.args)...)
		if code, out, err := runCommand(t, nil, args...); code != test.code {
			t.Errorf("ping %s: exit code %d, want %d\n%s%s", test.args, code, test.code, out, err)
		}
	}
}
