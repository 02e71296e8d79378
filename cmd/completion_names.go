package cmd

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/doctor"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/sim"
)

func deviceNames(env *environment, _ *pflag.FlagSet) []string {
	return devinfo.Names(devinfo.Options{Sysfs: string(sysfsRoot(env))})
}

// portNumbers are the ports of the device that was given, else of all.
func portNumbers(env *environment, flags *pflag.FlagSet) []string {
	device := ""
	for _, name := range []string{"Ca", "device"} {
		if f := flags.Lookup(name); f != nil {
			device = f.Value.String()
		}
	}
	r, err := devinfo.Run(context.Background(), devinfo.Options{Sysfs: string(sysfsRoot(env)), Brief: true, SysfsOnly: true})
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

// nodeNames are the names in the node name map, and those of a simulated fabric.
func nodeNames(env *environment, flags *pflag.FlagSet) []string {
	var names []string
	for _, n := range knownNodes(env, flags) {
		names = append(names, n.name)
	}
	return names
}

// nodeGUIDs are those of the same nodes.
func nodeGUIDs(env *environment, flags *pflag.FlagSet) []string {
	var guids []string
	for _, n := range knownNodes(env, flags) {
		guids = append(guids, n.guid+"\t"+n.name)
	}
	return guids
}

// A knownNode is one that something can be asked of without a scan.
type knownNode struct{ guid, name string }

func knownNodes(env *environment, flags *pflag.FlagSet) []knownNode {
	var nodes []knownNode
	path := fabric.DefaultNameMapPath
	if f := flags.Lookup("node-name-map"); f != nil && f.Value.String() != "" {
		path = f.Value.String()
	}
	if text, err := os.ReadFile(path); err == nil {
		for line := range strings.Lines(string(text)) {
			// 0xGUID "name" # comment
			if fields := strings.SplitN(line, `"`, 3); len(fields) == 3 && strings.HasPrefix(line, "0x") {
				nodes = append(nodes, knownNode{strings.TrimSpace(fields[0]), fields[1]})
			}
		}
	}
	f := flags.Lookup("sim")
	if f == nil {
		return nodes
	}
	description := cmp.Or(f.Value.String(), env.getenv("IBKIT_SIM"))
	if description == "" || description == ibsimServer {
		return nodes
	}
	simulated, err := sim.Build(description)
	if err != nil {
		return nodes
	}
	for _, n := range simulated.Nodes {
		nodes = append(nodes, knownNode{guidText(n.Info.NodeGUID), n.Desc.String()})
	}
	return nodes
}

// modelParameters are those of a simulated fabric's clock model.
func modelParameters(*environment, *pflag.FlagSet) []string {
	return []string{"hop=", "service=", "queue=", "loss=", "duplicate=", "delay=", "jitter=", "reorder=", "late=", "timeout=", "seed="}
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
