package cmdutil

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Native commands accept the names of flags of the classic tools.
func TestExecute_FlagNames(t *testing.T) {
	for _, arg := range []string{"--switches", "--Switch_list", "--switches-only", "--switches_only", "--all-switches"} {
		t.Run(arg, func(t *testing.T) {
			root := &cobra.Command{Use: "ibkit"}
			cmd := &cobra.Command{Use: "show", RunE: func(*cobra.Command, []string) error { return nil }}
			switches := cmd.Flags().Bool("switches", false, "")
			root.AddCommand(cmd)
			var errs strings.Builder
			env := &Env{Out: &strings.Builder{}, ErrOut: &errs}
			if code := Execute(t.Context(), env, root, []string{"show", arg}); code != ExitOK || !*switches {
				t.Errorf("got exit code %d, error %q, value %t; want the flag set", code, errs.String(), *switches)
			}
		})
	}
}
