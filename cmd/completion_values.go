package cmd

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/doctor"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/sim"
)

// A completion returns what an argument can be. It may look at the host and at
// the other flags, and has nothing to say where something is missing.
type completion func(env *environment, flags *pflag.FlagSet) []string

// flagCompletions are the values of flags, by the name of the flag: they hold for
// each command that has a flag of that name and no completion of its own.
var flagCompletions = map[string]completion{
	"Ca":        deviceNames,
	"Port":      portNumbers,
	"diffcheck": constant("port", "state", "lid", "nodedesc"),
	"finding":   findingKinds,
	"node":      nodeNames,
	"ping":      nodeNames,
	"sim":       simulatedFabrics,
	"sm":        constant("on", "minhop", "updown", "off"),
	"sort":      func(*environment, *pflag.FlagSet) []string { return sortedKeys(linkOrders) },
	"speed":     constant("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"),
	"state":     constant("Down", "Initialize", "Armed", "Active"),
	"width":     constant("1X", "2X", "4X", "8X", "12X"),
	"sim-model": constant("hop=", "service=", "queue=", "loss=", "duplicate=", "delay=", "jitter=", "reorder=", "late=", "timeout=", "seed="),
}

// placeholderCompletions are the values of operands and of other flags, by what
// the usage calls them.
var placeholderCompletions = map[string]completion{
	"CHECK":       doctorChecks,
	"DESCRIPTION": simulatedFabrics,
	"DEVICE":      deviceNames,
	"FABRIC":      simulatedFabrics,
	"FORMAT":      constant("json", "net", "topology"),
	"NODE":        nodeNames,
}

// addCompletions gives the flags and operands of a command, and of those below,
// their values.
func addCompletions(env *environment, cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		values := flagCompletions[f.Name]
		if values == nil {
			name, _ := pflag.UnquoteUsage(f)
			values = placeholderCompletions[name]
		}
		if _, has := cmd.GetFlagCompletionFunc(f.Name); values == nil || has {
			return
		}
		isList := f.Value.Type() == "stringSlice" || f.Name == "diffcheck"
		if err := cmd.RegisterFlagCompletionFunc(f.Name, completeFrom(env, values, isList)); err != nil {
			panic(err) // the flag is there
		}
	})
	if cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil {
		for word := range strings.FieldsSeq(cmd.Use) {
			if values := placeholderCompletions[strings.Trim(word, "[].")]; values != nil {
				cmd.ValidArgsFunction = onlyFirst(completeFrom(env, values, false))
			}
		}
	}
	for _, c := range cmd.Commands() {
		addCompletions(env, c)
	}
}

// completeFrom makes a completion cobra's. In a list it completes what is behind the
// last comma.
func completeFrom(env *environment, values completion, isList bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		directive := cobra.ShellCompDirectiveNoFileComp
		before := ""
		if i := strings.LastIndexByte(begun, ','); isList && i >= 0 {
			before = begun[:i+1]
		}
		var found []string
		open := true // what was found goes on
		for _, v := range values(env, cmd.Flags()) {
			value, _, _ := strings.Cut(v, "\t")
			if !strings.HasPrefix(before+value, begun) {
				continue
			}
			open = open && (strings.HasSuffix(value, ":") || strings.HasSuffix(value, "="))
			found = append(found, before+v)
		}
		if open {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

// onlyFirst completes no operand but the first.
func onlyFirst(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, begun)
	}
}

func constant(values ...string) completion {
	return func(*environment, *pflag.FlagSet) []string { return values }
}

func deviceNames(env *environment, _ *pflag.FlagSet) []string {
	return devinfo.Names(devinfo.Options{Sysfs: sysfsRoot(env)})
}

// portNumbers are the ports of the device that was given, else of all.
func portNumbers(env *environment, flags *pflag.FlagSet) []string {
	device := ""
	if f := flags.Lookup("Ca"); f != nil {
		device = f.Value.String()
	}
	r, err := devinfo.Run(context.Background(), devinfo.Options{Sysfs: sysfsRoot(env), Brief: true, SysfsOnly: true})
	if err != nil {
		return nil
	}
	var numbers []string
	for _, d := range r.Devices {
		if device != "" && d.Name != device {
			continue
		}
		for _, p := range d.Ports {
			numbers = append(numbers, strconv.Itoa(p.Number))
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func findingKinds(*environment, *pflag.FlagSet) []string {
	var kinds []string
	for _, k := range linkinfo.Kinds {
		kinds = append(kinds, string(k))
	}
	return kinds
}

func doctorChecks(*environment, *pflag.FlagSet) []string {
	var checks []string
	for _, c := range doctor.Checks {
		checks = append(checks, c.Name+"\t"+c.About)
	}
	return checks
}

// nodeNames are the names in the node name map.
func nodeNames(_ *environment, flags *pflag.FlagSet) []string {
	path := fabric.DefaultNameMapPath
	if f := flags.Lookup("node-name-map"); f != nil && f.Value.String() != "" {
		path = f.Value.String()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		// 0xGUID "name" # comment
		if fields := strings.SplitN(line, `"`, 3); len(fields) == 3 && strings.HasPrefix(line, "0x") {
			names = append(names, fields[1])
		}
	}
	return names
}

// simulatedFabrics are the presets and the kinds of files. A preset that nothing
// was said of yet leads on to its parameters.
func simulatedFabrics(*environment, *pflag.FlagSet) []string {
	var fabrics []string
	for _, p := range sim.Presets {
		fabrics = append(fabrics, p.Name+"\t"+p.About)
		for _, v := range p.Parameters {
			fabrics = append(fabrics, p.Name+":"+v.Name+"=\t"+v.About)
		}
	}
	for _, f := range simulatedFiles {
		fabrics = append(fabrics, strings.TrimSuffix(f.description, "FILE")+"\t"+f.about)
	}
	return fabrics
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
