package cmdutil

import (
	"strings"

	"github.com/spf13/cobra"
)

// flagHabits are the hints for flags of other programs, such as mlxlink, iproute2, ethtool, mpirun
// and other exporters, and for natural words: by command, a line each with flags and the hint.
var flagHabits = parseHabits(map[string]string{
	"phy": `
		d: a node: --node NODE; ports without a link: --down
		m module modules show-module wide lane lanes rx tx light ddm show-all all: values of each link end: --details; an inventory: --cables
		c ber show-counters show-ber: the table has bit error rates; all counters: --details
		fec-histogram show-fec show-histogram: --fec --details
		eye show-eye: --eyes --details
		show-ber-monitor monitor: --alarms --details
		temp temperature fan fans power power-supplies psu pcie firmware uptime: --devices
		save: store a reading: --json > FILE
		since baseline compare window rate: compare with an earlier reading: --diff FILE
		reset clear: phy changes nothing; clear error counters: ibkit counters --reset errors
		columns limit top: all values, for other programs: --csv or --json
		local pci: this host: ibkit devinfo; its adapter's link: --node NAME
		why reason last-down: --down
		exclude exclude-kind skip: --ignore FINDING
		severity: findings are below the table, with severities in --json
		health: ibkit check fabric --only cables,temperature,power,ber
		html: pages: ibkit exporter --phy
		serial inventory: --cables
		a: change a port: ibkit port NODE PORT enable
		dump pddr: --raw
		problems problems-only: findings are below the table; links with findings: ibkit linkinfo --phy --problems
		finding: leave a finding out: --ignore FINDING
		all-ports: ports without a link: --down
		switches: select nodes: --node 'leaf*'; temperatures and fans of switches: --devices
		watch interval: compare with an earlier reading: --diff FILE; all the time: ibkit exporter --phy
		sort: sort the values of --csv
		nodes name guid G D switch ca cas: --node NODE, a name, GUID or pattern
		threshold thresholds limit-dbm: limits are the module's own; leave a finding out: --ignore FINDING
		lid: --node NAME; the name of a LID: ibkit addr LID`,
	"linkinfo": `
		details fec eyes module lane serial: ibkit phy
		html picture: ibkit topology --format html
		watch interval: ibkit top, ibkit watch --sources links
		ber bit-errors cable cables optics light temperature temp: --phy; all values: ibkit phy
		only: --finding FINDING
		l: a line for each link is the default; a line for each end: --ends`,
	"check fabric": `
		no-phy: --skip cables,temperature,power,ber`,
	"check node": `
		manifest conf config: --expect FILE
		write-manifest generate: --write-expect FILE
		slurm prolog epilog: Slurm's HealthCheckProgram: man ibkit-check-node; output: --format nhc
		gpu gpus: ibkit doctor --only gpus
		device d C: all devices are checked; leave some out: --ignore-devices PATTERN
		warn: --fail-severity warning
		min-rate rate speed ports devices firmware: values of a manifest: --expect FILE; write it: --write-expect FILE
		roce pcie gids counters traffic flaps: --only STAGE
		fix repair drain: it changes nothing; commands that fix problems: ibkit doctor
		since watch interval daemon: compare with the check before: --state-file FILE; events: ibkit watch
		csv: --json
		all v verbose: all stages run by default: --list
		q quiet: without output if there are no findings: --format nhc`,
	"doctor": `
		roce pfc ecn: --only lossless,gids
		gpu gpus: --only gpus
		pcie: --only pcie
		fix repair: it prints the commands that fix problems; run them as root
		device d C: all devices are checked; some checks: --only LIST`,
	"devinfo": `
		device d C Ca dev: the device is an operand: ibkit devinfo DEVICE
		gpu gpus topo numa affinity pcie matrix m: --topology
		fix set: it changes nothing; --roce has the commands that repair settings
		node host: this host; others: ibkit topology --node NODE
		csv: --json
		html: --topology --svg
		prio priority traffic-class tos pfc ecn dcb qos dscp lldp buffer: --roce
		v l list s verbose all gid gids gid-index firmware netdev port i: devices: ibkit devinfo; all attributes of a device: ibkit devinfo DEVICE
		qp qps mr cq pid process: --resources
		stats counters: ibkit counters --local`,
	"exporter": `
		bind host address addr p web.listen-address: --listen ADDRESS
		collect collectors: registers: --phy; ports of this host: --local
		scrape-interval: --interval TIME
		web.config.file tls auth user password cert key: TLS and users: --web-config FILE
		page web open ui: pages are served at the address of --listen
		no-phy: registers are read with --phy only
		url-prefix path telemetry-path web.telemetry-path: pages and /metrics are at the root; another path needs a proxy
		daemon: systemctl start ibkit-exporter
		json csv: documents are at /api; a sweep: ibkit top --once --json`,
	"mesh": `
		rounds: --schedule quick:N
		hosts results output: simulated figures: ibkit mesh --sim FABRIC > FILE; to measure: ibkit mesh run --hosts LIST`,
	"mesh analyze": `
		csv: --json
		drain: --apply slurm
		bad-hosts exclude: --exclude-file FILE
		compare diff since: --baseline FILE
		plot: --format svg
		no-fabric roce: --hosts-only
		clusterkit mpigraph superbench: FILE is an operand; its form is recognized
		results input file i: FILE is an operand: ibkit mesh analyze FILE`,
	"mesh plan": `
		rounds: --schedule quick:N
		hosts nodes size: the hosts of the fabric are planned: --from FILE or --sim FABRIC`,
	"mesh run": `
		n np: start workers with srun or mpirun, or --hosts LIST; otherwise --rank and --ranks
		hostfile hostlist nodes nodelist w H: --hosts 'node[01-16]'
		token: export IBKIT_MESH_TOKEN
		bandwidth latency bw lat: --metric METRIC
		gpu memory: of host memory only; with GPU memory: ibkit perf --memory cuda:0
		qps: a queue pair for each flow; more: ibkit perf --qps
		user ssh-key: --ssh 'ssh -l USER -i FILE'
		partition jobid N: options of srun are in front: srun --partition NAME ibkit mesh run
		d dev hca ib-dev: --device LIST
		size s: --message-size BYTES
		test: --op OPERATION, --metric METRIC
		output: figures: --results FILE
		time seconds D: --duration TIME`,
	"mesh serve": `
		port listen: --bind ADDRESS
		hosts hostfile workers n np: --expect FILE, or a number
		token: export IBKIT_MESH_TOKEN`,
})

// FlagHabits returns the hints for flags that commands do not have, by command and flag.
func FlagHabits() map[string]map[string]string { return flagHabits }

// parseHabits returns the hints by command and flag.
func parseHabits(texts map[string]string) map[string]map[string]string {
	habits := map[string]map[string]string{}
	for command, text := range texts {
		habits[command] = map[string]string{}
		for line := range strings.Lines(text) {
			names, hint, _ := strings.Cut(strings.TrimSpace(line), ": ")
			for _, name := range strings.Fields(names) {
				habits[command][name] = hint
			}
		}
	}
	return habits
}

// partHint returns the hint for a part of a flag's name, such as --rx-fec, "" without any.
func partHint(cmd *cobra.Command, name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_.", r) })
	for _, part := range parts {
		if f := cmd.Flags().Lookup(part); f != nil && !f.Hidden {
			return "similar: --" + part + "; "
		}
	}
	for _, part := range parts {
		if hint := habitHint(cmd, part); hint != "" && len(part) > 2 {
			return hint + "; "
		}
	}
	return ""
}

// habitHint returns the hint for a flag of another program, "" without any.
func habitHint(cmd *cobra.Command, name string) string {
	_, command, _ := strings.Cut(cmd.CommandPath(), " ")
	hint := flagHabits[command][strings.ReplaceAll(name, "_", "-")]
	if strings.HasPrefix(hint, "--") {
		hint = "try " + hint
	}
	return hint
}
