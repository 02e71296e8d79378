package sm

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/sm"
)

// The JSON conforms to the schema and has an exported type, with and without results.
func TestSm_JSON(t *testing.T) {
	program := cmdtest.Native(New)
	for _, line := range []string{
		"--sm-wait 0", "--sm-wait 1ms 4", "--sm-wait 0 7", "--sm-wait 0 --source sa", "--set disable --dry-run 4", "--set disable --yes 4", "--set handover --yes 4",
		"--set disable --yes --force only-manager 4",
	} {
		t.Run(line, func(t *testing.T) {
			args := append([]string{"sm", "--json", "-t", "50"}, strings.Fields(line)...)
			_, out, _ := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, args...)
			cmdtest.CheckDocument(t, "../../schema/sm.json", out, &sm.Report{})
		})
	}
}

// The question is asked on a terminal, and the request is not sent without a yes.
func TestSm_Confirmation(t *testing.T) {
	program := cmdtest.Native(New)
	for keys, want := range map[string]string{"y\n": "node01: rejected, now Master", "n\n": "disable: not confirmed"} {
		t.Run(keys, func(t *testing.T) {
			terminal, keyboard := cmdtest.NewTerminal(t)
			if _, err := keyboard.WriteString(keys); err != nil {
				t.Fatal(err)
			}
			var out, errOut bytes.Buffer
			e := &cmdutil.Env{In: terminal, Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }}
			code := program(t.Context(), e, []string{"sm", "--sim", "demo", "--set", "disable", "--force", "only-manager", "4"})
			if question := "Send disable to node01? [y/N] "; code != cmdutil.ExitFailed || !strings.HasPrefix(errOut.String(), question) || !strings.Contains(out.String()+errOut.String(), want) {
				t.Errorf("got exit code %d, want 1 with %q and %q\n%s%s", code, question, want, &out, &errOut)
			}
		})
	}
}
