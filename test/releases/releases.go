// Package releases has the differences between the rdma-core releases with which tests
// compare classic names, and the release that classic names follow. It is the only place for
// them: docs/migration.md lists the same differences.
package releases

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/test/debian"
)

// Followed is the rdma-core release that classic names follow.
const Followed = "65"

// A Difference is a change in the output of programs.
type Difference struct {
	Programs []string
	Since    *debian.Release // first with the change
	Text     string          // for docs/migration.md

	// upgrade returns the newer program's output, for output of release 44. Newer output
	// is returned as it is. Nil: the output of release 44 does not determine it.
	upgrade func(output string) string

	// added matches the newer program's lines if upgrade is nil.
	added *regexp.Regexp
}

// Differences has all differences, in the order of docs/migration.md.
var Differences = []Difference{
	{
		Programs: []string{
			"dump_fts", "dump_lfts", "dump_mfts", "ibaddr", "ibcacheedit", "ibccconfig", "ibccquery", "iblinkinfo", "ibnetdiscover", "ibping", "ibportstate",
			"ibqueryerrors", "ibroute", "ibstat", "ibsysstat", "ibtracert", "perfquery", "saquery", "sminfo", "smpdump", "smpquery", "vendstat",
		},
		Since:   debian.Sid,
		Text:    "option `-Y`, `--pkey-idx`: the P_Key index of all packets but subnet management packets",
		upgrade: insert("--pkey-idx", pkeyIndexPlace, "  --pkey-idx, -Y <idx>    P_Key table index for outgoing SA/GMP MADs \n                          (default 0)\n$0"),
	},
	{
		Programs: []string{"smpquery", "saquery"},
		Since:    debian.Trixie,
		Text:     "PortInfo has `LinkSpeedExtActive2`, `LinkSpeedExtSupported2` and `LinkSpeedExtEnabled2` after `LinkSpeedExtEnabled`",
		upgrade: insert("LinkSpeedExtActive2", regexp.MustCompile(`(?m)^(\t*)LinkSpeedExtEnabled:.*\n`), "$0"+
			"${1}LinkSpeedExtActive2:.............No Extended Speed 2\n"+
			"${1}LinkSpeedExtSupported2:..........0\n"+
			"${1}LinkSpeedExtEnabled2:............0\n"),
	},
	{
		Programs: []string{"ibportstate"},
		Since:    debian.Trixie,
		Text:     "the same fields before `Mkey`, if `CapabilityMask2` declares them valid; the active speed is compared with XDR, too, and not with disabled extended speeds (30)",
		added:    regexp.MustCompile(`(?m)^LinkSpeedExt\w+2:.*\n`),
	},
	{
		Programs: []string{"ibstat"},
		Since:    debian.Sid,
		Text:     "a device that cannot be read, or that has no such port, is a warning, and the exit code is 0, not 255; `Effective speed` after `Rate` if the kernel reports it",
		added:    regexp.MustCompile(`(?m)^\t*Effective speed: .*\n`),
	},
	{
		Programs: []string{"ibv_devinfo"},
		Since:    debian.Bookworm,
		Text:     "`-v` prints `num_comp_vectors`",
		added:    regexp.MustCompile(`(?m)^\t+num_comp_vectors:.*\n`),
	},
	{
		Programs: []string{"ibv_devinfo"},
		Since:    debian.Trixie,
		Text:     "the usage text has all devices as the default",
		upgrade:  insert("default all devices", regexp.MustCompile(`\(default first device found\)`), "(default all devices)"),
	},
	{
		Programs: []string{"ibv_devinfo"},
		Since:    debian.Sid,
		Text: "`-v` has names for the capabilities `SUPPORT_FLUSH`, `SUPPORT_ATOMIC_WRITE`, `CC_DMA_BOUNCE` and `SUPPORT_RC`, and " +
			"`max_comp_cntr`, `comp_cntr_caps` and `effective_speed` if the kernel reports them",
	},
	{
		Programs: []string{"ibv_asyncwatch"},
		Since:    debian.Sid,
		Text:     "a name for the event `IBV_EVENT_DEVICE_SPEED_CHANGE`",
	},
	{
		Programs: []string{"cmtime"},
		Since:    debian.Trixie,
		Text:     "options `-m`, `-n`, `-q` and `-S`, and another protocol, which ibkit selects by `-m`, `-n` or `-q`",
	},
	{
		Programs: []string{"cmtime"},
		Since:    debian.Sid,
		Text:     "another command line and another protocol, which ibkit selects by `-C`",
		upgrade:  insert("controller_address", regexp.MustCompile(`(?s)usage: cmtime\n.*`), "usage: cmtime\n"+cmtimeUsage),
	},
	{
		Programs: []string{"ibv_rc_pingpong"},
		Since:    debian.Sid,
		Text:     "option `-U`, `--allow-cc-unprotected`",
		upgrade: insert("allow-cc-unprotected", regexp.MustCompile(`(?m)^  -N, --new_send .*\n`),
			"$0  -U, --allow-cc-unprotected  allow allocation of unprotected/shared\n                            memory on CoCo guests\n"),
	},
	{
		Programs: []string{"ibv_xsrq_pingpong"},
		Since:    debian.Trixie,
		Text:     "the usage text has the default of `--mtu`, 1024",
		upgrade:  insert("(default 1024)", regexp.MustCompile(`(?m)^(  -m, --mtu=.*)\(default 2048\)`), "${1}(default 1024)"),
	},
	{
		Programs: []string{"iblinkinfo", "ibnetdiscover", "ibqueryerrors"},
		Since:    debian.Trixie,
		Text:     "the names of speeds include XDR",
	},
	{
		Programs: []string{"iblinkinfo", "ibnetdiscover", "ibqueryerrors"},
		Since:    debian.Sid,
		Text:     "caches with references to ports that did not respond can be loaded; `iblinkinfo -G` sends along a directed route",
	},
}

// cmtimeUsage are the options of cmtime.
const cmtimeUsage = "\t-B bind_interface (only one of -B or -b accepted)\n\t-b bind_address (only one of -B or -b accepted)\n\t-C controller_address\n" +
	"\t[-c num_conns] connections per listener\n\t[-L] run as listening server\n\t[-m mimic_qp_delay_us]\n\t[-n num_threads]\n" +
	"\t[-P num_peers] total number of peers\n\t[-p oob_port]\n\t[-q base_qpn]\n\t[-r retries]\n" +
	"\t[-S] run socket baseline test, 2 peers only\n\t[-t timeout_ms]\n"

// pkeyIndexPlace matches the line after the new option in a usage text.
var pkeyIndexPlace = regexp.MustCompile(`(?m)^(?:  --errors, -e .*\n)?(?:  --verbose, -v .*\n)?(?:  --debug, -d .*\n)?  --help, -h `)

// insert returns an upgrade that replaces a pattern, unless the output has the new text.
func insert(added string, place *regexp.Regexp, with string) func(string) string {
	return func(output string) string {
		if strings.Contains(output, added) {
			return output
		}
		return place.ReplaceAllString(output, with)
	}
}

// Upgrade returns the output that a program of the release [Followed] prints, for its output
// in release 44 or later, as far as that determines it.
func Upgrade(program, output string) string {
	for _, d := range Differences {
		if d.upgrade != nil && slices.Contains(d.Programs, program) {
			output = d.upgrade(output)
		}
	}
	return output
}

// Common returns the lines that a program prints in both releases, for output that Upgrade
// cannot determine.
func Common(program, output string) string {
	for _, d := range Differences {
		if d.added != nil && slices.Contains(d.Programs, program) {
			output = d.added.ReplaceAllString(output, "")
		}
	}
	return output
}

// Lacking returns the differences that the output of a program lacks, and that Upgrade adds.
func Lacking(program, output string) (lacking []*Difference) {
	for i, d := range Differences {
		if d.upgrade != nil && slices.Contains(d.Programs, program) && d.upgrade(output) != output {
			lacking = append(lacking, &Differences[i])
		}
	}
	return lacking
}

// Shown reports whether the output of release 44 shows that the difference is missing in it.
func (d *Difference) Shown() bool { return d.upgrade != nil }
