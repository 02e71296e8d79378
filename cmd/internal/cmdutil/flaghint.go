package cmdutil

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/internal/similar"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/report"
)

// flagHint returns advice for an invalid flag.
func flagHint(cmd *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	var choice *choiceError
	switch {
	case errors.As(err, &unknown):
		return unknownHint(cmd, unknown.GetSpecifiedName())
	case errors.As(err, &invalid) && isFlag(invalid.GetValue()):
		return valueHint(invalid.GetFlag())
	case errors.As(err, &invalid) && invalid.GetFlag().Shorthand == "o":
		return cmp.Or(formatHint(cmd, invalid.GetValue()), strings.TrimSuffix(outputHint(cmd), "; "))
	case errors.As(err, &invalid) && invalid.GetFlag().Name == "speed" && SpeedHint(invalid.GetValue()) != "":
		return SpeedHint(invalid.GetValue())
	case errors.As(err, &choice):
		return cmp.Or(SimilarHint(choice.text, choice.values), kindHint(choice.text))
	case errors.As(err, &missing):
		return valueHint(missing.GetFlag())
	case errors.As(err, &invalid):
		return valueHint(invalid.GetFlag())
	}
	return ""
}

// kindHint returns advice for a finding of other commands, or "".
func kindHint(text string) string {
	switch kind := report.Kind(text); {
	case slices.Contains(phy.Kinds, kind):
		return "ibkit phy and ibkit check fabric report " + text
	case kind.Info().Meaning != "":
		return "other commands report " + text + ": the finding kinds of ibkit check fabric and ibkit check node are in their --list"
	}
	return ""
}

// unknownHint returns advice for a flag that a command does not have.
func unknownHint(cmd *cobra.Command, name string) string {
	switch {
	case !cmd.HasParent():
		return "flags follow the command: ibkit COMMAND " + flagText(name)
	case habitHint(cmd, name) != "":
		return habitHint(cmd, name) + "; list all flags: " + cmd.CommandPath() + " --help"
	case name == "version":
		return "ibkit version"
	case name == "compare":
		return "ibkit linkinfo --compare shows differences from the subnet manager's records"
	case name == "sim" && (cmd.Name() == "perf" || cmd.Name() == "cm"):
		return "a simulated fabric carries no data: add a software device, ibkit link add rxe0 --type rxe --netdev eth0"
	case name == "sim":
		return "the command does not use a fabric; list all flags: " + cmd.CommandPath() + " --help"
	}
	has := func(flag string) bool { return cmd.Flags().Lookup(flag) != nil }
	if strings.TrimSuffix(name, "s") == "port" && has("node") && !has("ports") && !has("all-ports") && !has("listen") {
		return "a node with all its ports: --node NODE; the local port: --Port"
	}
	for _, now := range renamed[name] {
		if cmd.Flags().Lookup(now) != nil {
			return strings.TrimSuffix("use --"+now+" instead; "+storedHint(cmd, name), "; ")
		}
	}
	list := storedHint(cmd, name) + "list all flags: " + cmd.CommandPath() + " --help"
	if name == "output" {
		return outputHint(cmd) + list
	}
	for _, word := range flagWords[name] {
		if flag, _, _ := strings.Cut(word, " "); cmd.Flags().Lookup(flag) != nil {
			return "try --" + word + "; " + list
		}
	}
	if f := cmd.Flags().Lookup("format"); f != nil {
		before := f.Value.String()
		if f.Value.Set(name) == nil {
			_ = f.Value.Set(before) // the error is not in the form that was meant
			return "try --format " + name + "; " + list
		}
	}
	if names := similarFlags(cmd, name); len(names) > 0 {
		return "similar: --" + strings.Join(names, ", --") + "; " + list
	}
	return partHint(cmd, name) + list
}

// storedHint returns the beginning of the advice for --from in a command that reads no stored fabric.
func storedHint(cmd *cobra.Command, name string) string {
	switch {
	case name != "from" || cmd.Flags().Lookup("sim") == nil:
		return ""
	case cmd.Flags().Lookup("tables") != nil:
		return "stored tables: --tables FILE; "
	}
	return "stored fabrics: ibkit linkinfo, topology or check fabric --from FILE; "
}

// outputHint returns the beginning of the advice for --output: FILE or a format follows it
// in other programs.
func outputHint(cmd *cobra.Command) string {
	for _, flag := range []string{"json", "format"} {
		if cmd.Flags().Lookup(flag) != nil {
			return "redirect the output: > FILE; for its format: --" + flag + "; "
		}
	}
	return "redirect the output: > FILE; "
}

// similarFlags returns flags with similar names, for a shorthand those that begin with it.
func similarFlags(cmd *cobra.Command, name string) []string {
	var names, beginning []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		names = append(names, f.Name)
		if strings.HasPrefix(f.Name, name) {
			beginning = append(beginning, f.Name)
		}
	})
	if len(name) == 1 {
		return beginning[:min(len(beginning), similar.Max)]
	}
	return similar.To(name, names)
}

func flagText(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// singleDash returns a long flag with a single dash, without the dash, or "": sim for -sim.
func singleDash(cmd *cobra.Command, args []string) string {
	for _, arg := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && len(name) > 2 && cmd.Flags().Lookup(name) != nil && name[0] != '-' {
			return name
		}
	}
	return ""
}

// formatHint returns advice for the name of a format after -o, as kubectl accepts it.
func formatHint(cmd *cobra.Command, value string) string {
	if slices.Contains(formatNames, value) && cmd.Flags().Lookup(value) != nil {
		return "output format: --" + value
	}
	return ""
}

// speedNames are the speeds by the rate of 4 lanes in Gbit/s.
var speedNames = map[string]string{
	"10": "SDR", "20": "DDR", "40": "QDR or FDR10", "56": "FDR", "100": "EDR", "200": "HDR", "400": "NDR", "800": "XDR",
}

// SpeedHint returns the name of a speed that is given as a rate, or "": 400, 400G, 400Gbps.
func SpeedHint(value string) string {
	rate := strings.TrimRight(strings.ToLower(value), "gbits/p ")
	if name, known := speedNames[rate]; known {
		return rate + " Gbit/s on 4 lanes is " + name
	}
	return ""
}

// valueHint returns the help of a flag without its value.
func valueHint(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	return fmt.Sprintf("%s: %s", strings.TrimSpace("--"+f.Name+" "+value), strings.ReplaceAll(usage, "\n", " "))
}

// flagWords are the flags, without --, for names that other programs use. The first that a
// command has counts.
var flagWords = map[string][]string{
	"all":         {"all-ports"},
	"ca":          {"Ca"},
	"clear":       {"reset errors"},
	"count":       {"for"},
	"dev":         {"Ca", "device"},
	"device":      {"Ca", "bind ADDRESS (of the device)"},
	"dryrun":      {"dry-run"},
	"duration":    {"for", "window"},
	"errors-only": {"problems"},
	"failed":      {"problems"},
	"filter":      {"node"},
	"follow":      {"watch"},
	"hca":         {"Ca", "device"},
	"host":        {"node"},
	"hosts":       {"cas"},
	"ib-dev":      {"device", "Ca"},
	"interval":    {"window"},
	"iters":       {"iterations"},
	"limit":       {"top"},
	"name":        {"node"},
	"only-errors": {"problems"},
	"quiet":       {"problems"},
	"repeat":      {"count", "watch"},
	"seconds":     {"window", "for", "duration"},
	"simulate":    {"sim"},
	"sort-by":     {"sort"},
	"switch":      {"switches"},
	"target":      {"node"},
	"top":         {"limit"},
	"time":        {"window", "for", "duration"},
	"port":        {"listen", "bind"},
	"window":      {"interval"},
	"xml":         {"json"},
	"yaml":        {"json"},
}

// renamed are the flags with another name, or without a shorthand, unlike earlier
// versions.
var renamed = map[string][]string{
	"Direct":            {"route"},
	"cache":             {"save"},
	"cache-partial":     {"save-partial"},
	"cckey":             {"cc-key"},
	"check":             {"problems"},
	"counters":          {"columns"},
	"details":           {"detail-counters"},
	"events":            {"sim-events"},
	"fail-on":           {"fail-severity"},
	"fields":            {"columns"},
	"file":              {"targets-file"},
	"force":             {"unknown-lid"},
	"from":              {"from-port", "targets-file"},
	"ibdiagnet-partial": {"save-partial"},
	"ignore":            {"ignore-devices"},
	"lines":             {"limit"},
	"level":             {"severity"},
	"list":              {"nodes"},
	"listen":            {"udp", "bind"},
	"load":              {"tables"},
	"load-cache":        {"fabric", "from"},
	"model":             {"sim-model"},
	"multicast":         {"group"},
	"pairs":             {"targets-file"},
	"pattern":           {"payload"},
	"ports":             {"all-ports"},
	"rate":              {"window", "rate-limit"},
	"sa":                {"from"},
	"set":               {"settings"},
	"size":              {"payload-size"},
	"smkey":             {"sm-key"},
	"source":            {"sources", "bind"},
	"switch":            {"port-guid"},
	"state":             {"request-state", "state-file"},
	"targets":           {"targets-file"},
	"timeout":           {"step-timeout", "reply-timeout"},
	"wait":              {"sm-wait", "reply-timeout"},

	"C": {"device", "bind"}, "D": {"route", "Direct"}, "G": {"port-guid"}, "H": {"cas"}, "R": {"reset", "routers"}, "S": {"port-guid", "switches"},
	"a": {"all-nodes", "activity"}, "c": {"cc-key"}, "d": {"down", "bind"}, "e": {"events"}, "f": {"unknown-lid"},
	"i": {"ib-port"}, "l": {"nodes"}, "m": {"mtu", "mlid"}, "n": {"dry-run", "hops"}, "o": {"output"},
	"p": {"all-ports", "additional", "priority"}, "q": {"qps"}, "s": {"payload-size", "sm-port"}, "t": {"test"}, "w": {"wait"},
}
