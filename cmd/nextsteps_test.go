package cmd

import (
	"regexp"
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
			checkCommand(t, root, string(k.Kind), m[1])
		}
	}
}
