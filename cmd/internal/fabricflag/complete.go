package fabricflag

import (
	"cmp"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/sim"
)

// NodeNames returns the names in the node name map and those of a simulated fabric.
func NodeNames(env *cmdutil.Env, flags *pflag.FlagSet) []string {
	var names []string
	for _, n := range knownNodes(env, flags) {
		names = append(names, n.name)
	}
	return names
}

// NodeGUIDs returns the GUIDs of the same nodes.
func NodeGUIDs(env *cmdutil.Env, flags *pflag.FlagSet) []string {
	var guids []string
	for _, n := range knownNodes(env, flags) {
		guids = append(guids, n.guid+"\t"+n.name)
	}
	return guids
}

// A knownNode is a node that is known without a scan.
type knownNode struct{ guid, name string }

func knownNodes(env *cmdutil.Env, flags *pflag.FlagSet) []knownNode {
	var nodes []knownNode
	path := env.ConfigFile(fabric.DefaultNameMapPath)
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
	description := cmp.Or(f.Value.String(), env.Getenv("IBKIT_SIM"))
	if description == "" || description == Ibsim {
		return nodes
	}
	simulated, err := sim.Build(description)
	if err != nil {
		return nodes
	}
	for _, n := range simulated.Nodes {
		nodes = append(nodes, knownNode{n.Info.NodeGUID.String(), n.Desc.String()})
	}
	return nodes
}

// ModelParameters returns the parameters of the clock model of a simulated fabric.
func ModelParameters(*cmdutil.Env, *pflag.FlagSet) []string {
	names := sim.ModelParameters()
	for i := range names {
		names[i] += "="
	}
	return names
}

// Fabrics returns the presets with their parameters, and the kinds of files.
func Fabrics(*cmdutil.Env, *pflag.FlagSet) []string {
	var fabrics []string
	for _, p := range sim.Presets {
		fabrics = append(fabrics, p.Name+"\t"+p.About)
		for _, v := range p.Parameters {
			fabrics = append(fabrics, p.Name+":"+v.Name+"=\t"+v.About)
		}
	}
	for _, f := range Sources {
		if prefix := strings.TrimSuffix(f.Description, "FILE"); prefix != "" {
			fabrics = append(fabrics, prefix+"\t"+f.About)
		}
	}
	return fabrics
}

// Sources are the fabrics that are not presets.
var Sources = []struct{ Description, About string }{
	{"FILE", "a net file of ibsim, or the output of ibnetdiscover or of ibkit linkinfo --json --attributes"},
	{"net:FILE", "a net file of ibsim"},
	{"topo:FILE", "the output of ibnetdiscover"},
	{"json:FILE", "the output of ibkit linkinfo --json --attributes"},
	{Ibsim, "a running ibsim server"},
}
