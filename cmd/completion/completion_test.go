package completion

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

var program = cmdtest.Native(New)

func TestCompletionScripts(t *testing.T) {
	for shell := range shells {
		code, out, err := program.Run(t, nil, "completion", shell)
		if code != cmdutil.ExitOK || !strings.Contains(out, "__complete") || err != "" {
			t.Errorf("%s: exit code %d, %d bytes, error output %q", shell, code, len(out), err)
		}
	}
}
