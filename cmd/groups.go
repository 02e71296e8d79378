package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// A commandGroup is native commands with one purpose, in the order of the help. The help
// has a row for each subcommand in it, in place of its parent.
type commandGroup struct {
	title    string
	commands []string
}

// commandGroups has all native commands.
var commandGroups = []commandGroup{
	{"Look at a fabric", []string{"check fabric", "check routes", "linkinfo", "counters", "phy", "topology", "route", "routes", "sm", "addr", "query", "sa"}},
	{"Look at this host", []string{"check node", "doctor", "devinfo"}},
	{"Measure", []string{"ping", "cm", "perf", "mesh"}},
	{"Change", []string{"port", "cc", "link"}},
	{"Watch", []string{"top", "watch", "trap", "exporter"}},
	{"Simulate", []string{"sim"}},
	{"More", []string{"completion", "help", "version"}},
}

// addGroups puts the subcommands of the root command into their groups.
func addGroups(root *cobra.Command) {
	ids := map[string]string{}
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, name := range g.commands {
			ids[name] = g.title
		}
	}
	for _, c := range root.Commands() {
		c.GroupID = ids[c.Name()]
		for _, sub := range c.Commands() {
			if id := ids[c.Name()+" "+sub.Name()]; id != "" {
				cmdutil.Annotate(sub, cmdutil.HelpGroup, id)
			}
		}
	}
	root.SetHelpCommandGroupID(ids["help"])
}

// related are pairs of native commands with related questions.
var related = [][2]string{
	{"cc", "counters"},
	{"check", "doctor"},
	{"check node", "devinfo"},
	{"check node", "doctor"},
	{"check routes", "routes"},
	{"cm", "ping"},
	{"counters", "top"},
	{"devinfo", "doctor"},
	{"devinfo", "link"},
	{"link", "linkinfo"},
	{"counters", "phy"},
	{"linkinfo", "phy"},
	{"linkinfo", "port"},
	{"linkinfo", "topology"},
	{"mesh", "perf"},
	{"query", "sa"},
	{"route", "routes"},
	{"trap", "watch"},
}

// addRelated adds the related commands to the help of each command.
func addRelated(root *cobra.Command) {
	for _, pair := range related {
		for i, path := range pair {
			cmd, rest, err := root.Find(strings.Fields(path))
			if err != nil || cmd == root || len(rest) > 0 {
				continue // not created
			}
			others := cmd.Annotations[cmdutil.SeeAlso]
			if others != "" {
				others += ", "
			}
			cmdutil.Annotate(cmd, cmdutil.SeeAlso, others+"ibkit "+pair[1-i])
		}
	}
}
