package cmd

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
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

// printedCommand is a command in a printed next step.
var printedCommand = regexp.MustCompile(`ibkit ([^;,:>()\n]*)`)

// TestNextSteps_Pasted runs the commands that results name as next steps, as a user pastes
// them, in simulated time.
func TestNextSteps_Pasted(t *testing.T) {
	_, results, _ := program.Run(t, nil, "mesh", "--sim", "demo")
	file := cmdtest.WriteFile(t, results)
	names := cmdtest.WriteFile(t, "0x0002c90000800200 renamed\n")
	stored := filepath.Join(t.TempDir(), "cache")
	if code, _, err := program.Run(t, nil, "topology", "--sim", "demo", "--save", stored); code != cmdutil.ExitOK {
		t.Fatalf("got exit code %d: %s", code, err)
	}
	for line, want := range map[string]string{
		"check fabric --sim demo":                          "counters --sim demo leaf3/4",
		"check fabric --from " + stored:                    "linkinfo --node leaf1", // a file does not show the repair
		"phy --sim optics --devices":                       "phy --sim optics --node leaf1",
		"mesh analyze --sim demo " + file:                  "counters --sim demo leaf1/1",
		"counters --sim demo nosuch":                       "topology --sim demo --nodes",
		"phy --sim single-switch":                          "counters --sim single-switch",
		"check fabric --sim demo --node-name-map " + names: "phy --sim demo --node-name-map " + names + " --node renamed",
	} {
		t.Run(line, func(t *testing.T) {
			_, out, errOut := program.Run(t, nil, strings.Fields(line)...)
			commands := map[string]bool{}
			for line := range strings.Lines(out + errOut) {
				if step := strings.TrimSpace(line); strings.HasPrefix(step, "next:") || strings.HasPrefix(step, "hint:") {
					for _, m := range printedCommand.FindAllStringSubmatch(step, -1) {
						commands[strings.TrimSpace(m[1])] = true
					}
				}
			}
			if !commands[want] {
				t.Errorf("got %v, want %s", commands, want)
			}
			for command := range commands {
				if !strings.Contains(line, "--from") || strings.Contains(command, "--from") { // others need a device
					runNextStep(t, command)
				}
			}
		})
	}
}

// runNextStep runs a command, and checks that it does its work. A change is not made.
func runNextStep(t *testing.T, command string) {
	t.Helper()
	args := strings.Fields(command)
	if args[0] == "port" {
		args = append(args, "--dry-run")
	}
	code, out, err := program.RunInBubble(t, nil, args...)
	if out == "" || code == cmdutil.ExitFailed || code == cmdutil.ExitUsage {
		t.Errorf("ibkit %s: got exit code %d, %q and error output %q", command, code, out, err)
	}
	if command == "counters --sim demo leaf3/4" && !strings.Contains(out, "LinkDownedCounter 17") {
		t.Errorf("ibkit %s: got\n%s\nwant the counter of the finding", command, out)
	}
}
