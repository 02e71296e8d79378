package exporter

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// TestPages checks which responses the server has at / besides the metrics.
func TestPages(t *testing.T) {
	for _, test := range []struct {
		flags     string
		want, not string
	}{
		{"--sim demo", ">Subnet managers</h2>", "<h1>ibkit exporter</h1>"},
		{"--sim demo --no-page", "<h1>ibkit exporter</h1>", "Subnet managers"},
	} {
		t.Run(test.flags, func(t *testing.T) {
			r := program.Start(nil, append([]string{"exporter", "--listen", "127.0.0.1:0"}, strings.Fields(test.flags)...)...)
			if text := await(t, r, "/", test.want); strings.Contains(text, test.not) {
				t.Errorf("got\n%s", text)
			}
			if code := r.End(); code != cmdutil.ExitOK {
				t.Errorf("got exit code %d: %s", code, r.ErrOut)
			}
		})
	}
	code, _, errOut := program.Run(t, nil, "exporter", "--sim", "demo", "--once", "--no-page")
	if code != cmdutil.ExitUsage {
		t.Errorf("got exit code %d with --once: %s", code, errOut)
	}
}
