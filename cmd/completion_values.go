package cmd

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/perf"
)

// A completion returns what an argument can be. It may look at the host and at
// the other flags, and has nothing to say where something is missing.
type completion func(env *environment, flags *pflag.FlagSet) []string

// flagCompletions are the values of flags, by the name of the flag: they hold for
// each command that has a flag of that name and no completion of its own.
var flagCompletions = map[string]completion{
	"Ca":        deviceNames,
	"Port":      portNumbers,
	"Direct":    constant(), // a route
	"ask":       constant("all", "sa", "nodes"),
	"cpu":       constant("auto", "off"),
	"columns":   func(*environment, *pflag.FlagSet) []string { return addrColumnNames() },
	"diffcheck": constant("port", "state", "lid", "nodedesc"),
	"finding":   findingKinds,
	"ib-port":   portNumbers,
	"model":     modelParameters,
	"mtu":       constant("256", "512", "1024", "2048", "4096"),
	"node":      nodeNames,
	"peer":      constant(string(perf.Perftest), string(perf.Pingpong)),
	"ping":      nodeNames,
	"sim":       simulatedFabrics,
	"sm":        constant("on", "minhop", "updown", "off"),
	"sort":      func(*environment, *pflag.FlagSet) []string { return sortedKeys(linkOrders) },
	"speed":     constant("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"),
	"state":     constant("Down", "Initialize", "Armed", "Active"),
	"test":      func(*environment, *pflag.FlagSet) []string { return sortedKeys(perfTestNames()) },
	"transport": constant(string(perf.RC), string(perf.UC), string(perf.UD)),
	"unit":      constant("gbit", "mib"),
	"width":     constant("1X", "2X", "4X", "8X", "12X"),
	"sim-model": modelParameters,
	"via":       constant("auto", "vendor", "sma", "pma"),
}

// placeholderCompletions are the values of operands and of other flags, by what
// the usage calls them.
var placeholderCompletions = map[string]completion{
	"CHECK":       doctorChecks,
	"DESCRIPTION": simulatedFabrics,
	"DEVICE":      deviceNames,
	"FABRIC":      simulatedFabrics,
	"FORMAT":      constant("json", "net", "topology"),
	"GUID":        nodeGUIDs,
	"NODE":        nodeNames,
	"SIZES":       constant("sweep"),
	"TARGET":      nodeNames,

	// Of these there are too many, and none is the name of a file.
	"ADDRESS":  constant(),
	"BYTES":    constant(),
	"CLASS":    constant(),
	"EXPONENT": constant(),
	"HEX":      constant(),
	"INDEX":    constant(),
	"LABEL":    constant(),
	"LEVEL":    constant(),
	"LID":      constant(),
	"MS":       constant(),
	"N":        constant(),
	"NETWORKS": constant(),
	"NUMBER":   constant(),
	"OUI":      constant(),
	"PERCENT":  constant(),
	"TIME":     constant(),
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
		isList := f.Value.Type() == "stringSlice" || f.Name == "diffcheck" || f.Name == "test" || strings.HasSuffix(f.Name, "model")
		if err := cmd.RegisterFlagCompletionFunc(f.Name, completeFrom(env, values, isList)); err != nil {
			panic(err) // the flag is there
		}
	})
	if cmd.ValidArgs == nil && cmd.ValidArgsFunction == nil && !cmd.HasSubCommands() {
		cmd.ValidArgsFunction = operands(env, cmd)
	}
	for _, c := range cmd.Commands() {
		addCompletions(env, c)
	}
}

// operands completes those of a command by what its usage calls them.
func operands(env *environment, cmd *cobra.Command) cobra.CompletionFunc {
	for word := range strings.FieldsSeq(cmd.Use) {
		values := placeholderCompletions[strings.Trim(word, "[].")]
		switch {
		case values == nil:
		case strings.Contains(word, "..."):
			return completeFrom(env, values, false)
		default:
			return onlyFirst(completeFrom(env, values, false))
		}
	}
	return cobra.NoFileCompletions
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
			if before != "" {
				v = value // bash finds no match for what has both a comma and a description
			}
			found = append(found, before+v)
		}
		if open && found != nil {
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
