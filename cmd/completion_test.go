package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/testenv"
)

// TestCompletion compares completions with the host, the files and the flags.
func TestCompletion(t *testing.T) {
	names := cmdtest.WriteFile(t, "# rack 1\n0x1 \"leaf one\"\n0x2 \"leaf two\" # spare\n")
	env := map[string]string{"IBKIT_SYSFS": testenv.Host(t, "mlx5-ib")}
	for _, test := range []struct {
		args string
		want string // one of the offers, without its description
	}{
		{"devinfo |", "mlx5_0"},
		{"doctor --only |", "memlock"},
		{"doctor --skip |nodes,", "nodes,memlock"},
		{"linkinfo -C |", "mlx5_0"},
		{"linkinfo -C mlx5_0 -P |", "1"},
		{"linkinfo --sim |fat-tree:l", "fat-tree:levels="},
		{"linkinfo --node-name-map " + names + " --port-guid |", "0x1"},
		{"linkinfo --sim demo --node |spine", "spine1"},
		{"ping --sim demo node01 |node0", "node02"},
		{"ping --via |", "auto"},
		{"addr --sim demo --source |", "nodes"},
		{"addr --columns |lid,", "lid,gid"},
		{"addr --sim demo |", "node01"},
		{"perf host --test |send-bw,", "send-bw,send-lat"},
		{"perf host --transport |", "uc"},
		{"perf host -d |", "mlx5_0"},
		{"perf host -d mlx5_0 --ib-port |", "1"},
		{"sim serve --sim-model |hop=1us,", "hop=1us,loss="},
		{"linkinfo --sim-model |l", "load="},
		{"linkinfo --finding |slow,", "slow,narrow"},
		{"linkinfo --sort |", "finding"},
		{"linkinfo --node-name-map " + names + " --node |", "leaf two"},
		{"sim export |", "demo"},
		{"sim export --format |", "topology"},
		{"completion |", "zsh"},
		{"help |", "linkinfo"},
		{"help sim |", "export"},
		{"iblinkinfo --sim |", "demo"},
	} {
		t.Run(test.args, func(t *testing.T) {
			before, begun, _ := strings.Cut(test.args, "|")
			for _, prefix := range []string{begun, test.want} {
				args := append([]string{"__complete"}, strings.Fields(before)...)
				code, out, err := program.Run(t, env, append(args, prefix)...)
				var offers []string
				for line := range strings.Lines(out) {
					offer, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
					offers = append(offers, offer)
				}
				if code != cmdutil.ExitOK || !slices.Contains(offers, test.want) {
					t.Errorf("%s%s: got exit code %d, completions %q, error output %q, want %q", before, prefix, code, offers, err, test.want)
				}
			}
		})
	}
}

// TestCompletion_Files checks that shells do not complete file names if there are no
// completions.
func TestCompletion_Files(t *testing.T) {
	for args, want := range map[string]string{
		"linkinfo":               ":4", // no names of files
		"linkinfo --hops":        ":4",
		"linkinfo --route":       ":4",
		"doctor":                 ":4",
		"doctor --reply-timeout": ":4",
		"doctor --root":          ":16", // folders
		"linkinfo --save":        ":0",  // files
		"ping --sim nosuch":      ":4",
		"devinfo mlx5_0":         ":4",
		"sim export demo":        ":4",
		"ping --deadline":        ":4",
		"perf":                   ":4",
		"perf --plot":            ":0",
		"addr --sim ibsim":       ":4",
		"sim serve --sim-events": ":0",
	} {
		t.Run(args, func(t *testing.T) {
			code, out, err := program.Run(t, map[string]string{"IBKIT_SYSFS": t.TempDir()}, append(append([]string{"__complete"}, strings.Fields(args)...), "")...)
			if code != cmdutil.ExitOK || out != want+"\n" {
				t.Errorf("%s: got exit code %d, completions %q, error output %q, want %s", args, code, out, err, want)
			}
		})
	}
}
