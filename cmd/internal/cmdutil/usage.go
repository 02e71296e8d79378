package cmdutil

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groupAnnotation is the annotation of a flag with the heading of its group.
const groupAnnotation = "ibkit_group"

// GroupNewFlags puts the flags that are declared until the returned function is
// called into a group with its own heading.
func GroupNewFlags(cmd *cobra.Command, heading string) (end func()) {
	before := map[string]bool{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	return func() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if before[f.Name] {
				return
			}
			if f.Annotations == nil {
				f.Annotations = map[string][]string{}
			}
			f.Annotations[groupAnnotation] = []string{heading}
		})
	}
}

// A FlagGroup is flags under a heading.
type FlagGroup struct {
	Heading string
	Flags   []*pflag.Flag
}

// FlagGroups returns the visible flags of a command by group, those without a group
// first under the heading "Flags".
func FlagGroups(cmd *cobra.Command) []FlagGroup {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	for name, usage := range map[string]string{"help": "show this help", "version": "show the version"} {
		if f := cmd.Flags().Lookup(name); f != nil { // cobra's texts name the last word of the command
			f.Usage = usage
		}
	}
	groups := []FlagGroup{{Heading: "Flags"}}
	cmd.LocalFlags().SortFlags = false
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		at := 0
		if heading := f.Annotations[groupAnnotation]; heading != nil {
			for at = 1; at < len(groups) && groups[at].Heading != heading[0]; at++ {
			}
			if at == len(groups) {
				groups = append(groups, FlagGroup{Heading: heading[0]})
			}
		}
		groups[at].Flags = append(groups[at].Flags, f)
	})
	return groups
}

// IsOperation reports whether a command does something itself: it has no subcommands, or
// its usage line has flags or operands.
func IsOperation(cmd *cobra.Command) bool {
	return cmd.Runnable() && (!cmd.HasAvailableSubCommands() || strings.Contains(cmd.Use, " "))
}

// The annotations of a command.
const (
	HelpGroup = "ibkit_help_group" // group of a subcommand with its own row in the help of the root
	SeeAlso   = "ibkit_see_also"   // related commands
)

// Annotate sets an annotation of a command.
func Annotate(cmd *cobra.Command, name, value string) {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[name] = value
}

// printCommands prints the subcommands of a group under a heading.
func printCommands(w io.Writer, cmd *cobra.Command, heading, group string) {
	fmt.Fprintf(w, "\n\n%s:", heading)
	width := len("check routes") + 1
	for _, c := range cmd.Commands() {
		if c.GroupID == group && (c.IsAvailableCommand() || c.Name() == "help") {
			fmt.Fprintf(w, "\n  %-*s %s", width, c.Name(), c.Short)
		}
		for _, sub := range c.Commands() {
			if group != "" && sub.Annotations[HelpGroup] == group {
				fmt.Fprintf(w, "\n  %-*s %s", width, c.Name()+" "+sub.Name(), sub.Short)
			}
		}
	}
}

// printSynopsis prints the forms of a command line, examples and subcommands.
func printSynopsis(w io.Writer, cmd *cobra.Command, examples string) {
	fmt.Fprint(w, "Usage:")
	if IsOperation(cmd) {
		fmt.Fprintf(w, "\n  %s", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n  %s [command]", cmd.CommandPath())
	}
	if examples != "" {
		fmt.Fprintf(w, "\n\nExamples:\n%s", examples)
	}
	if len(cmd.Groups()) == 0 && cmd.HasAvailableSubCommands() {
		printCommands(w, cmd, "Available Commands", "")
	}
	for _, g := range cmd.Groups() {
		printCommands(w, cmd, g.Title, g.ID)
	}
}

// printUsage prints the usage of a command as cobra does, with the flags by group.
func printUsage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	printSynopsis(w, cmd, cmd.Example)
	for _, g := range FlagGroups(cmd) {
		if len(g.Flags) == 0 {
			continue
		}
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		for _, f := range g.Flags {
			flags.AddFlag(f)
		}
		fmt.Fprintf(w, "\n\n%s:\n%s", g.Heading, strings.TrimRight(flags.FlagUsages(), "\n"))
	}
	if others := cmd.Annotations[SeeAlso]; others != "" {
		fmt.Fprintf(w, "\n\nSee also: %s", others)
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n\nUse %q for more information about a command.", cmd.CommandPath()+" [command] --help")
	}
	fmt.Fprintln(w)
	return nil
}
