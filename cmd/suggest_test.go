package cmd

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// suggestions are the beginnings of hints for words that are not a command.
var suggestions = map[string]string{
	// other words
	"list":     "try ibkit topology --nodes (nodes), ibkit linkinfo (links), ibkit devinfo (this host); list all commands: ibkit --help",
	"errors":   "try ibkit check fabric, ibkit counters;",
	"health":   "try ibkit check fabric;",
	"status":   "try ibkit check fabric;",
	"devices":  "try ibkit devinfo;",
	"nodes":    "try ibkit topology --nodes;",
	"hosts":    "try ibkit topology --cas;",
	"switches": "try ibkit topology --switches;",
	"trace":    "try ibkit route;",
	"bw":       "try ibkit perf;",
	"lat":      "try ibkit perf;",
	"clear":    "try ibkit counters --reset errors;",
	"show":     "try ibkit port TARGET, ibkit query ATTRIBUTE TARGET;",
	"Man":      "try man ibkit, ibkit help;",

	// programs
	"ibdiagnet":    "ibkit check fabric replaces ibdiagnet",
	"ibdiagpath":   "ibkit route replaces ibdiagpath",
	"ibdev2netdev": "ibkit devinfo replaces ibdev2netdev",
	"show_gids":    "ibkit devinfo DEVICE replaces show_gids",
	"mlxlink":      "ibkit phy --node NAME shows most of it in band",
	"opensm":       "ibkit has no subnet manager; ibkit sm shows the managers of a fabric",
	"ibcheckstate": "ibkit linkinfo --problems replaces ibcheckstate",

	// misspelt names
	"sminof":       "similar: sminfo;",
	"iblinkinf":    "similar: iblinkinfo;",
	"ibqueryerror": "similar: ibqueryerrors;",
	"ibportsate":   "similar: ibportstate;",
	"counter":      "similar: counters;",
	"likninfo":     "similar: linkinfo",
	"topo":         "similar: top, topology;",
	"ctr":          "list all commands:",
	"":             "list all commands:",

	// below other commands
	"check fabrik":           "similar: fabric;",
	"check host":             "try ibkit check node;",
	"check links":            "try ibkit linkinfo --problems;",
	"link show":              "try ibkit devinfo (devices of this host), ibkit linkinfo (links of the fabric);",
	"link remove":            "list all commands: ibkit link --help",
	"sim demo":               "try ibkit sim serve demo, or --sim demo with another command",
	"sim fat-tree:levels=2":  "try ibkit sim serve fat-tree:levels=2, or --sim fat-tree:levels=2 with another command",
	"sim start demo":         "try ibkit sim serve demo, or --sim demo with another command;",
	"sim serv demo":          "similar: serve;",
	"trap sned":              "similar: send;",
	"check help":             "list all commands: ibkit check --help",
	"check fabric --unknown": "list all flags: ibkit check fabric --help",
}

func TestSuggestions(t *testing.T) {
	for line, want := range suggestions {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			if line == "" {
				args = []string{""}
			}
			code, out, stderr := program.Run(t, nil, args...)
			_, hint, _ := strings.Cut(stderr, "\nhint: ")
			if code != cmdutil.ExitUsage || out != "" || !strings.HasPrefix(hint, want) {
				t.Errorf("got exit code %d, output %q, error output %q, want %d and hint %q", code, out, stderr, cmdutil.ExitUsage, want)
			}
		})
	}
}

// TestSuggestions_Help checks that ibkit help has the same suggestions.
func TestSuggestions_Help(t *testing.T) {
	for line, want := range suggestions {
		if strings.Contains(line, "sim ") || strings.Contains(line, "--") || line == "" {
			continue // words that are not commands
		}
		t.Run(line, func(t *testing.T) {
			code, out, stderr := program.Run(t, nil, append([]string{"help"}, strings.Fields(line)...)...)
			_, hint, _ := strings.Cut(stderr, "\nhint: ")
			if code != cmdutil.ExitUsage || out != "" || !strings.HasPrefix(hint, want) {
				t.Errorf("got exit code %d, output %q, error output %q, want %d and hint %q", code, out, stderr, cmdutil.ExitUsage, want)
			}
		})
	}
}

// TestSuggestions_Exist checks that the commands and flags in suggestions exist.
func TestSuggestions_Exist(t *testing.T) {
	root := newRoot(&cmdutil.Env{Getenv: func(string) string { return "" }}, nil)
	for _, text := range slices.Sorted(maps.Values(cmdutil.Suggestions())) {
		for _, m := range nextCommand.FindAllStringSubmatch(text, -1) {
			checkCommand(t, root, text, m[1])
		}
	}
}

// checkCommand checks that the command and the flags in a text exist.
func checkCommand(t *testing.T, root *cobra.Command, text, line string) {
	t.Helper()
	line, _, _ = strings.Cut(line, "(")
	words := strings.Fields(line)
	if len(words) == 1 && words[0] == "help" {
		return
	}
	cmd, _, err := root.Find(words)
	if err != nil || cmd == root {
		t.Errorf("%s: ibkit %s: no such command", text, line)
		return
	}
	for _, w := range words {
		name, isLong := strings.CutPrefix(w, "--")
		if isLong && cmd.Flags().Lookup(name) == nil || !isLong && strings.HasPrefix(w, "-") && cmd.Flags().ShorthandLookup(w[1:]) == nil {
			t.Errorf("%s: ibkit %s: no flag %s", text, line, w)
		}
	}
}

// TestAliases checks other names of commands, which the help does not list.
func TestAliases(t *testing.T) {
	for alias, want := range map[string]string{
		"links": "linkinfo", "path": "route", "tables": "routes", "records": "sa", "connect": "cm", "resolve": "addr", "link del": "link delete",
	} {
		t.Run(alias, func(t *testing.T) {
			_, got, _ := program.Run(t, nil, append(strings.Fields(alias), "--help")...)
			_, help, _ := program.Run(t, nil, append(strings.Fields(want), "--help")...)
			if got != help || strings.Contains(help, "\n  "+alias+" ") {
				t.Errorf("got\n%s\nwant the help of %s", got, want)
			}
			if _, help, _ = program.Run(t, nil, "--help"); strings.Contains(help, "\n  "+alias+" ") {
				t.Errorf("the help lists %s", alias)
			}
		})
	}
}

// TestBare checks the synopsis that commands print without their operands.
func TestBare(t *testing.T) {
	for line, want := range map[string][]string{
		"check":      {"no command given", "\n  fabric ", "\n  node ", "\n  routes ", "hint: all flags and examples: ibkit check --help"},
		"link":       {"no command given", "\n  add ", "\n  delete "},
		"sim":        {"no command given", "\n  serve ", "\n  list "},
		"completion": {"no shell given", "\n  ibkit completion bash|fish|zsh\n"},
		"ping":       {"no target given", "\n  ibkit ping [flags] TARGET"},
		"port":       {"no port given", "\n  ibkit port [flags] TARGET [PORT] [CHANGE...]\n", "ibkit port leaf1\n"},
		"sa":         {"no record given", "\n  ibkit sa [flags] RECORD", "hint: list all records: ibkit sa --list"},
		"query":      {"no attribute given", "\n  ibkit query [flags] ATTRIBUTE", "hint: list all attributes: ibkit query --list"},
		"route":      {"no port given", "\n  ibkit route [flags]", "hint: give both ends"},
		"cm":         {"no target given", "\n  ibkit cm [flags] HOST"},
		"sim serve":  {"no fabric given", "ibkit sim serve demo"},
		"sim export": {"no fabric given", "ibkit sim export"},
		"link add":   {"no device name given", "--type TYPE --netdev NETDEV"},
		"trap send":  {"no trap given", "ibkit trap send"},
	} {
		t.Run(line, func(t *testing.T) {
			code, out, stderr := runProgram(t, line)
			if code != cmdutil.ExitUsage || out != "" || strings.Contains(stderr, "\nFlags:") {
				t.Errorf("got exit code %d, output %q, error output %q, want %d without flags", code, out, stderr, cmdutil.ExitUsage)
			}
			for _, part := range append(want, "\nUsage:\n", "\nhint: ") {
				if !strings.Contains(stderr, part) {
					t.Errorf("got error output\n%s\nwant %q", stderr, part)
				}
			}
		})
	}
	_, help, _ := runProgram(t, "--help")
	if code, out, stderr := runProgram(t, ""); code != cmdutil.ExitOK || out != help || stderr != "" {
		t.Errorf("without arguments: got exit code %d, output %q, error output %q, want the help", code, out, stderr)
	}
}

// TestSeeAlso checks that related commands refer to each other.
func TestSeeAlso(t *testing.T) {
	for _, pair := range related {
		for i := range pair {
			_, out, _ := runProgram(t, pair[i]+" --help")
			_, line, _ := strings.Cut(out, "\nSee also: ")
			line, _, _ = strings.Cut(line, "\n")
			if others := strings.Split(line, ", "); !slices.Contains(others, "ibkit "+pair[1-i]) {
				t.Errorf("%s: got %q, want ibkit %s", pair[i], line, pair[1-i])
			}
		}
	}
}

// TestFlagHabits checks that commands lack the flags for which they have hints, and have the
// flags in the hints.
func TestFlagHabits(t *testing.T) {
	root := newRoot(&cmdutil.Env{}, nil)
	for command, habits := range cmdutil.FlagHabits() {
		cmd, rest, err := root.Find(strings.Fields(command))
		if err != nil || len(rest) > 0 {
			t.Errorf("%s: got no command, %v", command, err)
			continue
		}
		has := func(name string) bool {
			return len(name) == 1 && cmd.Flags().ShorthandLookup(name) != nil || cmd.Flags().Lookup(name) != nil
		}
		for name, hint := range habits {
			t.Run(command+" "+name, func(t *testing.T) {
				if hint == "" || has(name) {
					t.Errorf("got the flag and hint %q", hint)
				}
				for _, m := range nextCommand.FindAllStringSubmatch(hint, -1) {
					checkCommand(t, root, hint, m[1])
				}
				for part := range strings.SplitSeq(hint, "; ") {
					for word := range strings.FieldsSeq(part) {
						flag, isFlag := strings.CutPrefix(strings.Trim(word, ","), "--")
						if isFlag && !strings.Contains(part, "ibkit ") && !has(flag) {
							t.Errorf("got no flag --%s of hint %q", flag, hint)
						}
					}
				}
			})
		}
	}
}
