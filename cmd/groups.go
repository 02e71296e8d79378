package cmd

import "github.com/spf13/cobra"

// A commandGroup is native commands with one purpose, in the order of the help.
type commandGroup struct {
	title    string
	commands []string
}

// commandGroups has all native commands.
var commandGroups = []commandGroup{
	{"Look at a fabric", []string{"check", "linkinfo", "counters", "topology", "route", "routes", "sm", "addr", "query", "sa"}},
	{"Look at this host", []string{"doctor", "devinfo"}},
	{"Measure", []string{"ping", "cm", "perf"}},
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
	}
	root.SetHelpCommandGroupID(ids["help"])
}
