package cmd

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/report"
)

// nextCommand is a command in the next step of a finding.
var nextCommand = regexp.MustCompile(`ibkit ([^;,>)]*)`)

// TestNextSteps checks that the commands in the next steps of findings exist with their
// flags.
func TestNextSteps(t *testing.T) {
	root := newRoot(&cmdutil.Env{Getenv: func(string) string { return "" }}, nil)
	for _, k := range report.Kinds() {
		for _, m := range nextCommand.FindAllStringSubmatch(k.Hint, -1) {
			words := strings.Fields(m[1])
			cmd, _, err := root.Find(words)
			if err != nil || cmd == root {
				t.Errorf("%s: ibkit %s: no such command", k.Kind, m[1])
				continue
			}
			for _, w := range words {
				name, isLong := strings.CutPrefix(w, "--")
				if isLong && cmd.Flags().Lookup(name) == nil || !isLong && strings.HasPrefix(w, "-") && cmd.Flags().ShorthandLookup(w[1:]) == nil {
					t.Errorf("%s: ibkit %s: no flag %s", k.Kind, m[1], w)
				}
			}
		}
	}
}
