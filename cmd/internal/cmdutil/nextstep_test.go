package cmdutil

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
)

// TestEnv_NextStep checks which flags the commands of a next step repeat.
func TestEnv_NextStep(t *testing.T) {
	const text = "clean it; then: ibkit links --node leaf1; see ibkit links, fans: ibkit links --devices; log on leaf1: ibkit perf HOST, new errors: ibkit counters leaf1/4 --window 10s (ibkit no such), of a file: ibkit links --from FILE"
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, text},
		{[]string{"--sim", "demo"}, "clean it; then: ibkit links --sim demo --node leaf1; see ibkit links --sim demo, fans: ibkit links --sim demo --devices; log on leaf1: ibkit perf HOST, new errors: ibkit counters --sim demo leaf1/4 --window 10s (ibkit no such), of a file: ibkit links --from FILE"},
		{[]string{"-C", "mlx5_0", "-P2", "-y", "0x1"}, "clean it; then: ibkit links -C mlx5_0 -P 2 --node leaf1; see ibkit links -C mlx5_0 -P 2, fans: ibkit links -C mlx5_0 -P 2 --devices; log on leaf1: ibkit perf HOST, new errors: ibkit counters -C mlx5_0 -P 2 leaf1/4 --window 10s (ibkit no such), of a file: ibkit links --from FILE"},
		{[]string{"--from", "my file"}, "clean it; then: ibkit links --node leaf1; see ibkit links --from 'my file', fans: ibkit links --devices; log on leaf1: ibkit perf HOST, new errors: ibkit counters leaf1/4 --window 10s (ibkit no such), of a file: ibkit links --from FILE"},
		{[]string{"--from", "sa", "-y", "@key"}, "clean it; then: ibkit links -y @key --node leaf1; see ibkit links -y @key, fans: ibkit links -y @key --devices; log on leaf1: ibkit perf HOST, new errors: ibkit counters -y @key leaf1/4 --window 10s (ibkit no such), of a file: ibkit links --from FILE"},
	} {
		t.Run(test.want, func(t *testing.T) {
			env := &Env{Out: io.Discard, ErrOut: io.Discard, Getenv: func(string) string { return "" }}
			root := &cobra.Command{Use: "ibkit"}
			got := ""
			for _, name := range []string{"links", "counters", "perf"} {
				cmd := &cobra.Command{Use: name, Run: func(cmd *cobra.Command, _ []string) {
					_ = cmd.Flags().Set("Ca", "changed")
					got = env.NextStep(text)
				}}
				if name != "perf" {
					flags := cmd.Flags()
					flags.String("sim", "", "")
					flags.String("from", "sweep", "")
					flags.String("node", "", "")
					flags.StringP("Ca", "C", "", "")
					flags.Uint8P("Port", "P", 0, "")
					flags.StringP("m-key", "y", "", "")
				}
				root.AddCommand(cmd)
			}
			if code := Execute(t.Context(), env, root, append([]string{"links"}, test.args...)); code != ExitOK || got != test.want {
				t.Errorf("got exit code %d and %s", code, got)
			}
		})
	}
}
