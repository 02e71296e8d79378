package cmd

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/check"
)

// nextCommand is a command in the next step of a finding.
var nextCommand = regexp.MustCompile(`ibkit ([^;,>)]*)`)

// TestNextSteps checks that the commands in the next steps of findings exist with their
// flags.
func TestNextSteps(t *testing.T) {
	root := newRoot(&cmdutil.Env{Getenv: func(string) string { return "" }}, nil)
	for _, k := range slices.Concat(check.FabricKinds(), check.NodeKinds()) {
		for _, m := range nextCommand.FindAllStringSubmatch(k.Next, -1) {
			words := strings.Fields(m[1])
			cmd, _, err := root.Find(words)
			if err != nil || cmd == root {
				t.Errorf("%s/%s: ibkit %s: no such command", k.Stage, k.Name, m[1])
				continue
			}
			for _, w := range words {
				name, isLong := strings.CutPrefix(w, "--")
				if isLong && cmd.Flags().Lookup(name) == nil || !isLong && strings.HasPrefix(w, "-") && cmd.Flags().ShorthandLookup(w[1:]) == nil {
					t.Errorf("%s/%s: ibkit %s: no flag %s", k.Stage, k.Name, m[1], w)
				}
			}
		}
	}
}
