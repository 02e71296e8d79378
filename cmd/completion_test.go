package cmd

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What shells offer is what the host, the files and the flags say.
func TestCompletion(t *testing.T) {
	names := writeFile(t, "# rack 1\n0x1 \"leaf one\"\n0x2 \"leaf two\" # spare\n")
	env := map[string]string{"IBKIT_SYSFS": host(t, "testdata/devinfo/mlx5-ib.txtar")}
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
		{"linkinfo --node-name-map " + names + " -S |", "0x1"},
		{"linkinfo --sim demo --node |spine", "spine1"},
		{"ping --sim demo node01 |node0", "node02"},
		{"ping --via |", "auto"},
		{"addr --sim demo --ask |", "nodes"},
		{"addr --columns |lid,", "lid,gid"},
		{"addr --sim demo |", "node01"},
		{"perf host --test |send-bw,", "send-bw,send-lat"},
		{"perf host --transport |", "uc"},
		{"perf host -d |", "mlx5_0"},
		{"perf host -d mlx5_0 -i |", "1"},
		{"sim serve --model |hop=1us,", "hop=1us,loss="},
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
		before, begun, _ := strings.Cut(test.args, "|")
		for _, prefix := range []string{begun, test.want} {
			args := append([]string{"__complete"}, strings.Fields(before)...)
			code, out, err := runCommand(t, env, append(args, prefix)...)
			var offers []string
			for line := range strings.Lines(out) {
				offer, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
				offers = append(offers, offer)
			}
			if code != exitOK || !slices.Contains(offers, test.want) {
				t.Errorf("%s%s: exit code %d, offers %q, error output %q: want %q", before, prefix, code, offers, err, test.want)
			}
		}
	}
}

// Where there is nothing to offer, the names of files are none either.
func TestCompletionOfNothing(t *testing.T) {
	for args, want := range map[string]string{
		"linkinfo":           ":4", // no names of files
		"linkinfo --hops":    ":4",
		"linkinfo -D":        ":4",
		"doctor":             ":4",
		"doctor --timeout":   ":4",
		"doctor --root":      ":16", // folders
		"linkinfo --cache":   ":0",  // files
		"ping --sim nosuch":  ":4",
		"devinfo mlx5_0":     ":4",
		"sim export demo":    ":4",
		"ping --deadline":    ":4",
		"perf":               ":4",
		"perf --plot":        ":0",
		"addr --sim ibsim":   ":4",
		"sim serve --events": ":0",
	} {
		code, out, err := runCommand(t, map[string]string{"IBKIT_SYSFS": t.TempDir()}, append(append([]string{"__complete"}, strings.Fields(args)...), "")...)
		if code != exitOK || out != want+"\n" {
			t.Errorf("%s: exit code %d, offers %q, error output %q, want %s", args, code, out, err, want)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for shell := range shells {
		code, out, err := runCommand(t, nil, "completion", shell)
		if code != exitOK || !strings.Contains(out, "__complete") || err != "" {
			t.Errorf("%s: exit code %d, %d bytes, error output %q", shell, code, len(out), err)
		}
	}
}

func TestVersionReport(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../schema/version.json")
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob("testdata/devinfo/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range archives {
		env := map[string]string{"IBKIT_SYSFS": host(t, archive)}
		code, out, stderr := runCommand(t, env, "version", "--json")
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil || code != exitOK || stderr != "" {
			t.Errorf("%s: exit code %d, error output %q: %v", archive, code, stderr, err)
		}
	}
	env := map[string]string{"IBKIT_SYSFS": host(t, "testdata/devinfo/mlx5-ib.txtar")}
	if _, out, _ := runCommand(t, env, "version"); !strings.Contains(out, "mlx5_0, firmware ") {
		t.Errorf("version says nothing of the device: %s", out)
	}
}
