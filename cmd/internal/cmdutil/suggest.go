package cmdutil

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/internal/similar"
)

// replacements are the commands for programs without a command of the same name.
var replacements = map[string]string{
	"ibcheckstate":       "ibkit linkinfo --problems",
	"ibchecknet":         "ibkit check fabric",
	"ibchecknode":        "ibkit query NodeInfo",
	"ibcheckport":        "ibkit port",
	"ibcheckwidth":       "ibkit linkinfo --problems",
	"clusterkit":         "ibkit mesh",
	"ibdev2netdev":       "ibkit devinfo",
	"ibswinfo":           "ibkit phy --devices",
	"ibdiagnet":          "ibkit check fabric",
	"hca_self_test.ofed": "ibkit doctor",
	"ibtopodiff":         "ibkit topology --plan FILE",
	"mlnx_tune":          "ibkit doctor",
	"ibdiagpath":         "ibkit route",
	"ibdmchk":            "ibkit check routes",
	"ibsim":              "ibkit sim serve",
	"mlnx_qos":           "ibkit devinfo --roce",
	"mlxcables":          "ibkit phy",
	"mstlink":            "ibkit phy",
	"perftest":           "ibkit perf",
	"qperf":              "ibkit perf",
	"rdma":               "ibkit devinfo (rdma link: ibkit link add)",
	"show_counters":      "ibkit counters --local",
	"show_gids":          "ibkit devinfo DEVICE",
}

// partial are the hints for programs that ibkit replaces in part or not at all.
var partial = map[string]string{
	"dcb":           "ibkit devinfo --roce shows priorities, PFC and ECN; dcb changes them",
	"ethtool":       "RoCE ports: ibkit devinfo --roce; modules and light of InfiniBand links: ibkit phy",
	"cma_roce_mode": "RoCE settings of ports: ibkit devinfo --roce",
	"cma_roce_tos":  "RoCE settings of ports: ibkit devinfo --roce",
	"flint":         "firmware versions: ibkit devinfo; mstflint updates them",
	"ip":            "addresses of a port: ibkit addr IP; devices and their network devices: ibkit devinfo",
	"lspci":         "PCI Express links of devices: ibkit devinfo --topology, ibkit doctor --only pcie",
	"mlxconfig":     "ibkit does not change the configuration of firmware",
	"mlxfwmanager":  "firmware versions: ibkit devinfo, ibkit check fabric --only firmware",
	"mlxlink":       "ibkit phy --node NAME shows most of it in band",
	"mlxreg":        "ibkit phy --raw prints registers",
	"mpigraph":      "ibkit mesh run measures; ibkit mesh analyze judges the results of mpiGraph",
	"mstconfig":     "ibkit does not change the configuration of firmware",
	"mst":           "ibkit needs no mst service: ibkit devinfo, ibkit phy",
	"mstreg":        "ibkit phy --raw prints registers",
	"nccl-tests":    "between many hosts: ibkit mesh run; with GPU memory: ibkit perf --memory cuda:0",
	"nvidia-smi":    "GPUs and devices: ibkit devinfo --topology",
	"opensm":        "ibkit has no subnet manager; ibkit sm shows the managers of a fabric",
}

// synonyms are the commands for other words, "sim start" for a word after sim.
var synonyms = map[string]string{
	"bandwidth":   "ibkit perf",
	"ber":         "ibkit phy",
	"bench":       "ibkit perf",
	"bw":          "ibkit perf",
	"cable":       "ibkit phy, ibkit topology",
	"cables":      "ibkit phy (modules and light), ibkit topology (which port to which)",
	"clear":       "ibkit counters --reset errors",
	"congestion":  "ibkit cc, ibkit counters --window 10s",
	"dashboard":   "ibkit top",
	"devices":     "ibkit devinfo",
	"diag":        "ibkit check fabric",
	"diagnose":    "ibkit check fabric",
	"ibdiag":      "ibkit check fabric",
	"diff":        "ibkit linkinfo --diff FILE, ibkit topology --diff FILE",
	"disable":     "ibkit port TARGET PORT disable",
	"drain":       "ibkit mesh analyze FILE --apply slurm",
	"discover":    "ibkit topology",
	"enable":      "ibkit port TARGET PORT enable",
	"errors":      "ibkit check fabric, ibkit counters",
	"events":      "ibkit watch, ibkit trap",
	"fabric":      "ibkit check fabric",
	"gpu":         "ibkit devinfo --topology",
	"graph":       "ibkit topology --format html",
	"gids":        "ibkit devinfo DEVICE",
	"fan":         "ibkit phy --devices",
	"fans":        "ibkit phy --devices",
	"fec":         "ibkit phy",
	"health":      "ibkit check fabric",
	"check-node":  "ibkit check node",
	"checknode":   "ibkit check node",
	"healthcheck": "ibkit check node (this host), ibkit check fabric",
	"nhc":         "ibkit check node --format nhc",
	"node-check":  "ibkit check node",
	"nodecheck":   "ibkit check node",
	"hosts":       "ibkit topology --cas",
	"info":        "ibkit devinfo (this host), ibkit linkinfo (links)",
	"lat":         "ibkit perf",
	"latency":     "ibkit perf",
	"lid":         "ibkit addr",
	"light":       "ibkit phy",
	"list":        "ibkit topology --nodes (nodes), ibkit linkinfo (links), ibkit devinfo (this host)",
	"lldp":        "ibkit devinfo --roce --window 31s",
	"lookup":      "ibkit addr",
	"ls":          "ibkit topology --nodes (nodes), ibkit linkinfo (links), ibkit devinfo (this host)",
	"man":         "man ibkit, ibkit help",
	"map":         "ibkit topology --format html",
	"metrics":     "ibkit exporter",
	"module":      "ibkit phy",
	"modules":     "ibkit phy",
	"monitor":     "ibkit top, ibkit watch",
	"name":        "ibkit addr",
	"node":        "ibkit topology --nodes, ibkit check node",
	"nodes":       "ibkit topology --nodes",
	"optics":      "ibkit phy",
	"page":        "ibkit exporter",
	"pages":       "ibkit exporter",
	"pfc":         "ibkit devinfo --roce",
	"power":       "ibkit phy --devices",
	"partitions":  "ibkit query P_KeyTable",
	"performance": "ibkit perf, ibkit counters --window 10s",
	"ports":       "ibkit topology --all-ports, ibkit port TARGET",
	"prometheus":  "ibkit exporter",
	"rates":       "ibkit counters --window 10s",
	"reset":       "ibkit counters --reset errors, ibkit port TARGET PORT reset",
	"roce":        "ibkit devinfo --roce, ibkit doctor --only lossless",
	"run":         "ibkit sim serve demo, or --sim demo with another command",
	"scan":        "ibkit topology",
	"serve":       "ibkit sim serve demo, ibkit ping --serve, ibkit perf --serve",
	"show":        "ibkit port TARGET, ibkit query ATTRIBUTE TARGET",
	"simulate":    "ibkit sim list, or --sim demo with another command",
	"slurm":       "ibkit mesh run, ibkit check node",
	"stat":        "ibkit devinfo",
	"state":       "ibkit devinfo (this host), ibkit linkinfo (links)",
	"stats":       "ibkit counters",
	"status":      "ibkit check fabric",
	"switches":    "ibkit topology --switches",
	"temperature": "ibkit phy --devices",
	"test":        "ibkit check fabric, ibkit ping, ibkit perf, ibkit mesh run",
	"trace":       "ibkit route",
	"traceroute":  "ibkit route",
	"traffic":     "ibkit counters --window 10s, ibkit top",
	"verify":      "ibkit check fabric",
	"web":         "ibkit exporter",

	"check all":        "ibkit check fabric",
	"check cables":     "ibkit topology --plan FILE, ibkit phy",
	"check counters":   "ibkit counters",
	"check errors":     "ibkit counters",
	"check gpu":        "ibkit doctor --only gpus",
	"check gpus":       "ibkit doctor --only gpus",
	"check health":     "ibkit check fabric",
	"check host":       "ibkit check node",
	"check hosts":      "ibkit check fabric",
	"check links":      "ibkit linkinfo --problems",
	"check mesh":       "ibkit mesh analyze FILE",
	"check nodes":      "ibkit check fabric, ibkit check node for this host",
	"check phy":        "ibkit phy, ibkit check fabric --only cables,temperature,power,ber",
	"check roce":       "ibkit check node --only roce, ibkit doctor --only lossless",
	"check routing":    "ibkit check routes",
	"check sm":         "ibkit sm",
	"check topology":   "ibkit topology --check",
	"link down":        "ibkit port TARGET PORT disable",
	"link list":        "ibkit devinfo (devices of this host), ibkit linkinfo (links of the fabric)",
	"link set":         "ibkit port TARGET PORT enable",
	"link show":        "ibkit devinfo (devices of this host), ibkit linkinfo (links of the fabric)",
	"link up":          "ibkit port TARGET PORT enable",
	"mesh compare":     "ibkit mesh analyze FILE --baseline FILE",
	"mesh coordinator": "ibkit mesh serve",
	"mesh join":        "ibkit mesh run --join HOST:PORT",
	"mesh worker":      "ibkit mesh run --join HOST:PORT",
	"mesh drain":       "ibkit mesh analyze FILE --apply slurm",
	"mesh measure":     "ibkit mesh run",
	"mesh report":      "ibkit mesh analyze FILE",
	"mesh simulate":    "ibkit mesh --sim FABRIC",
	"mesh start":       "ibkit mesh run",
	"mesh test":        "ibkit mesh run",
	"sim ls":           "ibkit sim list",
	"sim run":          "ibkit sim serve demo, or --sim demo with another command",
	"sim show":         "ibkit sim list, ibkit topology --sim demo",
	"sim start":        "ibkit sim serve demo, or --sim demo with another command",
	"sim status":       "ibkit sim ctl clients",
	"sim stop":         "ibkit sim serve ends with Ctrl-C",
}

// Suggestions returns the commands for words and programs that are not a command.
func Suggestions() map[string]string {
	all := maps.Clone(synonyms)
	maps.Copy(all, replacements)
	return all
}

// UnknownCommand returns the usage error for a word that is not a command below parent.
func UnknownCommand(parent *cobra.Command, word string) error {
	err := UsageErrorf("unknown command %q", word)
	path := strings.Join(append(strings.Fields(parent.CommandPath())[1:], word), " ")
	if command, known := replacements[path]; known {
		return WithHint(err, command+" replaces "+word)
	}
	if hint, known := partial[path]; known {
		return WithHint(err, hint)
	}
	hint := "list all commands: " + parent.CommandPath() + " --help"
	if commands, known := synonyms[strings.ToLower(path)]; known {
		return WithHint(err, "try "+commands+"; "+hint)
	}
	if IsPreset(word) {
		command := "ibkit check fabric"
		if parent.Flags().Lookup("sim") != nil {
			command = parent.CommandPath()
		}
		return WithHint(err, fmt.Sprintf("try %s --sim %s; %s", command, word, hint))
	}
	if parent.Name() == "mesh" && strings.Contains(word, ".") {
		return WithHint(err, "to judge results: ibkit mesh analyze FILE; "+hint)
	}
	if names := similar.To(word, commandNames(parent)); len(names) > 0 {
		hint = "similar: " + strings.Join(names, ", ") + "; " + hint
	}
	return WithHint(err, hint)
}

// commandNames returns the names of subcommands, native ones before the hidden classic ones.
func commandNames(parent *cobra.Command) []string {
	var native, classic []string
	for _, c := range parent.Commands() {
		if c.Hidden {
			classic = append(classic, c.Name())
		} else {
			native = append(native, c.Name())
		}
	}
	return slices.Concat(native, classic)
}
