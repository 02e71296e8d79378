package cmd

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// runProgram runs one command line.
func runProgram(t *testing.T, line string) (code int, stdout, stderr string) {
	t.Helper()
	return program.Run(t, nil, strings.Fields(line)...)
}

// nativeCommands calls f with each native command and each of its subcommands.
func nativeCommands(t *testing.T, f func(*cobra.Command)) {
	t.Helper()
	root := newRoot(&cmdutil.Env{Getenv: func(string) string { return "" }}, nil)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				f(sub)
				walk(sub)
			}
		}
	}
	walk(root)
}

// valueName returns the placeholder of a flag's value, "" for a switch.
func valueName(f *pflag.Flag) string {
	_, rest, _ := strings.Cut(f.Usage, "`")
	name, _, _ := strings.Cut(rest, "`")
	return name
}

// TestFlags_OneForm checks that a flag has one meaning in all native commands: one kind of
// value, with one name in the help.
func TestFlags_OneForm(t *testing.T) {
	type form struct{ kind, value string }
	forms := map[string]map[form][]string{}
	nativeCommands(t, func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			all := forms[f.Name]
			if all == nil {
				all = map[form][]string{}
				forms[f.Name] = all
			}
			at := form{f.Value.Type(), valueName(f)}
			all[at] = append(all[at], c.CommandPath())
		})
	})
	for name, all := range forms {
		t.Run(name, func(t *testing.T) {
			if len(all) != 1 {
				t.Errorf("got different kinds or names of the value: %v, want one", all)
			}
		})
	}
}

// TestFlags_Shorthands checks that a letter is short for the same flag in all native
// commands.
func TestFlags_Shorthands(t *testing.T) {
	long := map[string]string{}
	nativeCommands(t, func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if other := long[f.Shorthand]; f.Shorthand != "" && other != "" && other != f.Name {
				t.Errorf("%s: got -%s for --%s, want --%s as in other commands", c.CommandPath(), f.Shorthand, f.Name, other)
			}
			long[f.Shorthand] = f.Name
		})
	})
}

// TestFlags_Keys checks the names of flags for keys: --m-key, --sm-key, --cc-key, --vs-key.
func TestFlags_Keys(t *testing.T) {
	nativeCommands(t, func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			words := strings.Fields(f.Usage)
			if len(words) > 0 && strings.HasSuffix(words[0], "_Key") {
				if want := strings.ToLower(strings.TrimSuffix(words[0], "_Key")) + "-key"; f.Name != want {
					t.Errorf("%s: got --%s, want --%s", c.CommandPath(), f.Name, want)
				}
			}
		})
	})
}

// TestFlags_Format checks that --json is a short form of --format json in each command.
func TestFlags_Format(t *testing.T) {
	nativeCommands(t, func(c *cobra.Command) {
		if c.Flags().Lookup("json") != nil && c.Flags().Lookup("format") == nil {
			t.Errorf("%s: got --json without --format", c.CommandPath())
		}
	})
	for line, want := range map[string]string{
		"linkinfo --sim demo --format json":       "{\n\"schema\":\"ibkit/linkinfo/",
		"linkinfo --sim demo --format csv":        "node_guid,",
		"linkinfo --sim demo --format table":      "NODE ",
		"sm --sim demo --sm-wait 0 --format JSON": `{"schema":"ibkit/sm/`,
		"topology --sim demo --format json":       "{\n\"schema\":\"ibkit/topology/",
	} {
		t.Run(line, func(t *testing.T) {
			if _, out, err := runProgram(t, line); !strings.HasPrefix(out, want) {
				t.Errorf("got %.40q, error output %q, want %q", out, err, want)
			}
		})
	}
}

// A renamed flag is an error with the new name.
func TestFlags_Renamed(t *testing.T) {
	for line, want := range map[string]string{
		"linkinfo --sim demo --cache x":   "hint: use --save instead\n",
		"sa NR --sim demo --smkey 1":      "hint: use --sm-key instead\n",
		"counters --sim demo --rate 1s":   "hint: use --window instead\n",
		"check routes --load x":           "hint: use --tables instead\n",
		"watch --sim demo --source links": "hint: use --sources instead\n",
		"cm --source ::1 ::1":             "hint: use --bind instead\n",
		"doctor --smkey 1":                "hint: list all flags: ibkit doctor --help\n",
		"linkinfo --switch 0x1":           "hint: use --port-guid instead\n",
		"linkinfo --Direct 0,1":           "hint: use --route instead\n",
		"exporter --details fec":          "hint: use --detail-counters instead\n",
		"sim serve --model hop=1us demo":  "hint: use --sim-model instead\n",
		"sim serve --events e demo":       "hint: use --sim-events instead\n",
		"sim serve --listen 7 demo":       "hint: use --udp instead\n",
		"check node --fail-on warning":    "hint: use --fail-severity instead\n",
		"check node --ignore mlx5_0":      "hint: use --ignore-devices instead\n",
		"route --force 1 2":               "hint: use --unknown-lid instead\n",
		"top --once --lines 3":            "hint: use --limit instead\n",
		"perf --serve --listen :1":        "hint: use --bind instead\n",
		"perf --multicast 239.1.2.3 host": "hint: use --group instead\n",
		"perf --rate 1gbit host":          "hint: use --rate-limit instead\n",
		"ping --size 8 3":                 "hint: use --payload-size instead\n",
		"ping --pattern a5 3":             "hint: use --payload instead\n",
		"cm --timeout 1s ::1":             "hint: use --step-timeout instead\n",
		"doctor --timeout 1s":             "hint: use --reply-timeout instead\n",
		"cc --set FILE":                   "hint: use --settings instead\n",
	} {
		t.Run(line, func(t *testing.T) {
			if code, _, err := runProgram(t, line); code != cmdutil.ExitUsage || !strings.HasSuffix(err, want) {
				t.Errorf("got exit code %d, error output %q, want %d, %q", code, err, cmdutil.ExitUsage, want)
			}
		})
	}
}

// Each native command is in one group of the help.
func TestGroups(t *testing.T) {
	groups := map[string]int{}
	for _, g := range commandGroups {
		for _, name := range g.commands {
			groups[name]++
		}
	}
	for name, e := range registry {
		if want := map[bool]int{true: 1}[e.command != nil && name != "check"]; groups[name] != want {
			t.Errorf("%s: got %d groups, want %d", name, groups[name], want)
		}
	}
	for _, sub := range []string{"check fabric", "check node", "check routes"} {
		if groups[sub] != 1 {
			t.Errorf("%s: got %d groups, want 1", sub, groups[sub])
		}
	}
	_, out, _ := runProgram(t, "--help")
	for _, want := range []string{
		"\n\nLook at a fabric:\n  addr ", "\n  check fabric  Check a fabric", "\n  check routes  Check ", "\n\nLook at this host:\n  check node ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got\n%s\nwant %q", out, want)
		}
	}
	if strings.Contains(out, "Available Commands") || strings.Contains(out, "\n  check  ") {
		t.Errorf("got\n%s\nwant commands by purpose, without the parent of subcommands", out)
	}
}
