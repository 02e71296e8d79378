//go:build oracle

package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// A pmaRig is a worn fabric on which the classic tools of performance management run in
// turn with those of ibkit.
type pmaRig struct {
	*ibsimtest.Sim
	host string
	wear func(t *testing.T) // sets the counters
	mask func(string) string
}

// newPMARigs returns the worn fabric in ibsim and in ibkit's simulator.
func newPMARigs(t *testing.T) (theirs, ours *pmaRig) {
	t.Helper()
	r := newSARig(t)
	theirs = &pmaRig{Sim: r.theirs, host: "Hca1", mask: maskIbsim}
	theirs.wear = func(t *testing.T) {
		for _, c := range worn {
			name := strings.Replace(c.name, "PktErrors", "PacketErrors", 1)
			theirs.MustCommand(t, fmt.Sprintf("PerformanceSet %q[%d] %s.%s=%d", c.node, c.port, c.attr, name, c.value))
		}
	}
	ours = &pmaRig{Sim: serveFabric(t, r.topo), host: "Hca1", mask: withoutQP1}
	ours.wear = func(t *testing.T) {
		for _, c := range worn {
			ctl(t, ours.Sim, fmt.Sprintf("counter %s[%d] %s %d", c.node, c.port, c.name, c.value))
		}
	}
	return theirs, ours
}

var (
	qp1Line    = regexp.MustCompile(`(?m)^QP1Dropped:.*\n`)
	ibsimGrows = regexp.MustCompile(`(?m)^(Port(Xmit|Rcv)(Data|Pkts)|PortRcvSwitchRelayErrors):.*\n`)
	trafficOf  = regexp.MustCompile(` \[Port(?:Unicast|Multicast)?(?:Xmit|Rcv)(?:Data|Pkts) == [^]]*\]| \[PortRcvSwitchRelayErrors == \d+\]`)
)

// withoutQP1 removes the counter that libibmad reads at the place of VL15Dropped.
func withoutQP1(s string) string { return qp1Line.ReplaceAllString(s, "") }

// maskIbsim removes in addition the counters that ibsim increments with each packet.
func maskIbsim(s string) string {
	return trafficOf.ReplaceAllString(ibsimGrows.ReplaceAllString(withoutQP1(s), ""), "")
}

// compare runs both tools on each command line, each on the worn fabric. If the line
// changes counters, all counters are compared afterwards.
func (r *pmaRig) compare(t *testing.T, tool string, lines []string, words ...string) {
	expand := strings.NewReplacer(words...)
	r.wear(t)
	for _, line := range lines {
		t.Run(tool+" "+line, func(t *testing.T) {
			args := strings.Fields(expand.Replace(line))
			run := func(f func() ibsimtest.Result) (ibsimtest.Result, string) {
				result := f()
				result.Stdout = processID.ReplaceAllString(r.mask(traceLine.ReplaceAllString(result.Stdout, "")), "[pid]")
				return result, r.state(t, args)
			}
			want, theirState := run(func() ibsimtest.Result { return r.MustRunC(t, r.host, tool, args...) })
			got, ourState := run(func() ibsimtest.Result { return r.MustRun(t, r.host, ibkit(), append([]string{tool}, args...)...) })
			compareResults(t, want, got)
			if theirState != ourState {
				t.Errorf("counters afterwards: C tool (-), ibkit (+)\n%s", cmp.Diff(theirState, ourState))
			}
		})
	}
}

var resetFlag = regexp.MustCompile(`^-[a-zA-Z]*[rRkK]$|^--(?:[rR]eset|clear)`)

// state returns the counters of all ports after a line that resets some, and sets them
// again.
func (r *pmaRig) state(t *testing.T, args []string) string {
	t.Helper()
	resets := false
	for _, arg := range args {
		resets = resets || resetFlag.MatchString(arg)
	}
	if !resets {
		return ""
	}
	var b strings.Builder
	for _, line := range []string{"-l 2 1-8", "-x -l 2 1-8", "1 1", "-x 1 1", "-D 2 2", "-E 3 5", "--oprcvcounters 1 1"} {
		b.WriteString(r.mask(r.MustRunC(t, r.host, "perfquery", append([]string{"-t", longTimeout}, strings.Fields(line)...)...).Stdout))
	}
	r.wear(t)
	return b.String()
}

var perfqueryLines = []string{
	"", "1 1", "2 1", "2", "-x 2 2", "-x 3 5", "-x", "-a", "-l", "-a 2", "-x -a 2", "-a 2 1-3", "-a 2 1,3", "-a -x 2 1-8", "-a 1", "-a -x 1",
	"-l 2 1-3", "-l 2 1,2", "-l 2 255", "-l -a 2", "-a -l -x 2", "-a -l 1", "-l 1", "1 255", "2 255", "-x 2 255",
	"2 9", "2 ,", "2 1,", "2 ,,3", "2 x", "2 300", "-- 2 -1", "2 5-3", "2 x-3", "2 1-3-5", "2 1-8 0x0fff", "2 0x1",
	"-X 2 1", "-S 2 1", "-D 2 2", "-E 3 5", "-T 2 1", "-e -T 2 1", "-c 2 1", "-e -c 2 1", "-X -E 3 5",
	"--oprcvcounters 1 1", "--flowctlcounters 1 1", "--vloppackets 1 1", "--vlopdata 1 1", "--vlxmitflowctlerrors 1 1", "--vlxmitcounters 2 1",
	"--swportvlcong 2 1",
	"--xmtsl 2 1", "--rcvsl 2 1", "--xmtdisc 2 2", "--rcverr 3 5", "--extended_s 2 1", "--smplctl 2 1", "--ext 2 1",
	"-r 2 1", "-r 2 1,2", "-x -r 2 1-3", "-a -r 2", "-R 2 1", "-R 2 2 0x0020", "-R 2 2 0x0040", "-R 2 2 0", "-R -a 2", "-R -a 1", "-R -l 2 255",
	"-R 2 1-3 0x0fff", "-R 2 1-3 0xf000", "-x -R 3 5", "-x -R 2 1 0xff", "-D -R 2 2", "-D -r 2 2 0x1", "-E -R 3 5 0x4", "-E -r 3 5", "-T -R 2 1", "-T -r 2 1 0x3",
	"--oprcvcounters -R 1 1", "-R 2 9", "-x -R 2 9", "-D -R 2 9", "-l -R 2 1,2",
	"-t 20000 77 1", "-t 20000 -e 77 1", "-t 0 1", "-t x 1", "-t 20000 -x 77", "-t 20000 -R 77 1", "xx 1", "0 1", "65536 1",
	"-v 2 1", "-vv 2 1", "-e 2 9", "-d 2 1", "-d 2 9", "-d -T 2 1", "-d -R 2 1", "-d -T -R 2 1", "-y 5 2 1", "-L 2 1", "-s 1 2 1", "-C ibsim0 2 1", "-C ibsim0 -P 1 2 1", "-P 9 2 1",
	"-G x", "--nosuch", "-K 2 1", "-h", "--r 2 1", "-z /nonexistent 2 1",

	"--extended 2 2", "--extended_speeds 2 1", "--all_ports 2", "--all_ports --extended 2 1-3", "--loop_ports 2 1-3", "--loop_ports --extended 2 1,2",
	"--reset_after_read 2 1", "--reset_after_read --extended 2 1-3", "--Reset_only 2 2 0x0040", "--Reset_only --all_ports 2", "--Reset_only --extended 3 5",
	"--config /nonexistent 2 1", "--Ca ibsim0 2 1", "--Port 1 2 1", "--Lid 2 1", "--timeout 2000 2 1", "--sm_port 1 2 1", "--m_key 5 2 1",
	"--errors 2 9", "--errors --timeout 20000 77 1", "--verbose 2 1", "--debug 2 1", "--debug 2 9", "--help", "--version", "-V",
}

// perfqueryServed are lines for which ibsim does not reply.
var perfqueryServed = []string{"--swportvlcong 1 1", "--rcvcc 1 1", "--slrcvfecn 1 1", "--slrcvbecn 1 1", "--xmitcc 1 1", "--vlxmittimecc 1 1", "-G GUID", "-G GUID 2", "-G 0xdead", "--Guid GUID 1-3", "--Guid -l GUID 1-3"}

// TestPerfqueryClassic compares perfquery on ibsim and on a fabric that ibkit serves.
func TestPerfqueryClassic(t *testing.T) {
	t.Parallel()
	theirs, ours := newPMARigs(t)
	guid := switchGUID(t, theirs)
	t.Run("ibsim", func(t *testing.T) {
		theirs.compare(t, "perfquery", ibsimtest.Share(perfqueryLines, 0, 2), "GUID", guid)
	})
	t.Run("served", func(t *testing.T) {
		ours.compare(t, "perfquery", append(ibsimtest.Share(perfqueryLines, 1, 2), perfqueryServed...), "GUID", guid)
	})
}

// switchGUID returns the GUID of a switch.
func switchGUID(t *testing.T, r *pmaRig) string {
	t.Helper()
	for _, m := range nodeLine.FindAllStringSubmatch(r.MustRunC(t, r.host, "ibnetdiscover", "-l").Stdout, -1) {
		if m[1] == "Switch" {
			return m[2]
		}
	}
	t.Fatal("found no switch")
	return ""
}

// TestPerfqueryQP1 checks the counter that Debian's perfquery prints from another place.
func TestPerfqueryQP1(t *testing.T) {
	s := serveFabric(t, "single-switch:hosts=3")
	ctl(t, s, "counter switch1[2] QP1Dropped 7")
	ctl(t, s, "counter switch1[2] VL15Dropped 9")
	got := s.MustRun(t, "", ibkit(), "perfquery", lidOfSwitch(t, s, "switch1"), "2").Stdout
	if !strings.Contains(got, "QP1Dropped:......................7\n") || !strings.Contains(got, "VL15Dropped:.....................9\n") {
		t.Errorf("got\n%s\nwant QP1Dropped 7, VL15Dropped 9", got)
	}
}

// TestPerfqueryAgents compares agents with other capabilities.
func TestPerfqueryAgents(t *testing.T) {
	t.Parallel()
	s := serveFabric(t, "single-switch:hosts=3")
	r := &pmaRig{Sim: s, mask: withoutQP1, wear: func(t *testing.T) {
		for i, name := range []string{"SymbolErrorCounter", "PortXmitWait", "VL15Dropped", "FECCorrectableBlockCtrLane3", "PortUnicastXmitPkts"} {
			ctl(t, s, fmt.Sprintf("counter switch1[1] %s %d", name, 100+i))
			ctl(t, s, fmt.Sprintf("counter switch1[3] %s %d", name, 200+i))
		}
	}}
	lines := []string{"-T SW 1", "SW 1", "-x SW 1", "-a SW", "-a -x SW", "-l SW 1-3", "SW 255", "-v SW 1", "-e -T SW 99", "-R -a SW", "-x -r -a SW", "-x -r SW 1-3"}
	for i, caps := range []string{"0xd300 2", "0x9300 2", "0x5200", "0x0", "0x400 2", "0x100"} {
		ctl(t, s, "perfcaps switch1 "+caps)
		_, wide := strings.CutSuffix(caps, " 2")
		if r.mask = withoutQP1; wide {
			r.mask = func(s string) string { return overwritten.ReplaceAllString(withoutQP1(s), "") }
		}
		t.Run(caps, func(t *testing.T) {
			r.compare(t, "perfquery", ibsimtest.Share(lines, i, 2), "SW", lidOfSwitch(t, s, "switch1"))
			if !wide {
				r.compare(t, "ibqueryerrors", ibsimtest.Share([]string{"", "--data", "--counters --switch", "-k --details", "-k -K"}, i, 2))
			}
		})
	}
}

// overwritten are the counters at bytes 224 to 239 of a packet, which libumad2sim.so
// overwrites in the replies that it receives.
var overwritten = regexp.MustCompile(`(?m)^(VL15Dropped|PortXmitWait):.*\n`)

var ibqueryerrorsLines = []string{
	"", "-r", "--details", "--details -r", "--data", "--data -r", "--counters", "--counters -r", "--switch", "--ca", "--router", "--switch --ca", "--counters --switch",
	"-c", "-s SymbolErrorCounter,LinkDownedCounter", "-s SymbolErrorCounter -s PortXmitWait,VL15Dropped,nosuch -c", "-s ,",
	"--threshold-file {dir}/thresholds", "--threshold-file {dir}/empty", "--node-name-map {dir}/map -r", "--skip-sl", "--skip-sl -r --ca", "-R", "-o 1", "-e", "-t 500 --switch", "-y 5",
	"-D 0", "-D 0,1", "-D 0,1 --details", "-D 0 --skip-sl", "-D x", "-G CAGUID", "-G x", "--load-cache {dir}/cache", "--load-cache {dir}/cache -r --details",
	"--load-cache {dir}/cache -G GUID", "--load-cache {dir}/cache -S GUID --data", "--load-cache {dir}/nosuch", "--load-cache {dir}/cache -D 0", "--load-cache {dir}/map",
	"-k", "-K", "-k -K", "-k --details", "--ca -k", "--switch -K --counters", "-k --counters", "-C ibsim0", "-C ibsim0 -P 1", "-P 9", "-h", "--nosuch", "-x", "--d", "--cou",

	"--suppress SymbolErrorCounter", "--suppress-common", "--suppress-common --report-port", "--port-guid CAGUID", "--Direct 0,1", "--report-port --ca", "--GNDN",
	"--clear-errors", "--clear-counts", "--clear-errors --clear-counts --details", "--outstanding_smps 4", "--config /nonexistent", "-z /nonexistent --ca",
	"--Ca ibsim0 --ca", "--Port 1 --ca", "--timeout 2000", "--m_key 0x5 --ca", "--errors --ca", "--verbose --ca", "-v", "-vv --switch", "--debug --skip-sl --ca",
	"-d --skip-sl --switch", "--help", "--version", "-V",
}

// detailNames exchanges the names of the attributes with details, as Debian's
// ibqueryerrors does.
var detailNames = strings.NewReplacer(
	"PortInactiveDiscards", "PortLocalPhysicalErrors", "PortLocalPhysicalErrors", "PortInactiveDiscards",
	"PortNeighborMTUDiscards", "PortMalformedPktErrors", "PortMalformedPktErrors", "PortNeighborMTUDiscards",
	"PortSwLifetimeLimitDiscards", "PortBufferOverrunErrors", "PortBufferOverrunErrors", "PortSwLifetimeLimitDiscards",
	"PortSwHOQLifetimeLimitDiscards", "PortDLIDMappingErrors", "PortDLIDMappingErrors", "PortSwHOQLifetimeLimitDiscards",
)

// TestIbqueryerrorsClassic compares ibqueryerrors on ibsim and on a fabric that ibkit
// serves. The names of details are exchanged in the output of the C tool.
func TestIbqueryerrorsClassic(t *testing.T) {
	t.Parallel()
	theirs, ours := newPMARigs(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"thresholds": "# a comment\n\nSymbolErrorCounter=5000\nPortRcvErrors=10\nLinkDownedCounter=0x10\nPortXmitWait=010\n",
		"empty":      "",
		"map":        "0x0000000000200000 \"my switch\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, r := range []*pmaRig{theirs, ours} {
		name := []string{"ibsim", "served"}[i]
		cache := filepath.Join(dir, "cache")
		if got := r.MustRunC(t, r.host, "ibnetdiscover", "--cache", cache); got.Code != 0 {
			t.Fatalf("ibnetdiscover: %s", got.Stderr)
		}
		words := []string{"{dir}", dir, "CAGUID", caGUID(t, r), "GUID", switchGUID(t, r)}
		plain := r.mask
		t.Run(name, func(t *testing.T) {
			for _, line := range ibsimtest.Share(ibqueryerrorsLines, i, 2) {
				r.mask = plain
				if strings.Contains(line, "--details") {
					r.mask = swapOnce(plain)
				}
				r.compare(t, "ibqueryerrors", []string{line}, words...)
			}
		})
	}
}

// swapOnce exchanges the names of details in the first output, which is that of the C
// tool.
func swapOnce(mask func(string) string) func(string) string {
	first := true
	return func(s string) string {
		if s = mask(s); first {
			first = false
			return detailNames.Replace(s)
		}
		return s
	}
}

// caGUID returns the GUID of a port of a remote adapter.
func caGUID(t *testing.T, r *pmaRig) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^\[\d+\]\(([0-9a-f]+)\).*# lid (\d+)`).FindAllStringSubmatch(r.MustRunC(t, r.host, "ibnetdiscover").Stdout, -1)
	for _, m := range found {
		if m[2] != "1" {
			return "0x" + m[1]
		}
	}
	t.Fatal("found no remote adapter")
	return ""
}

// TestIbqueryerrorsNets compares ibqueryerrors on all example nets and a generated one,
// with counters at their largest values.
func TestIbqueryerrorsNets(t *testing.T) {
	t.Parallel()
	for i, net := range nets(t) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			r := &pmaRig{Sim: ibsimtest.New(t, net), host: firstHost(t, net), mask: maskIbsim}
			r.NewSM(t, r.host)
			last := lastSwitchOrHost(t, net)
			r.wear = func(t *testing.T) {
				for _, c := range []string{"SymbolErrorCounter=65535", "LinkErrorRecoveryCounter=255", "ExcessiveBufferOverrunErrors=15", "PortXmitWait=4294967295"} {
					r.MustCommand(t, fmt.Sprintf("PerformanceSet %q[1] PortCounters.%s", last, c))
					r.MustCommand(t, fmt.Sprintf("PerformanceSet %q[1] PortCounters.%s", r.host, c))
				}
			}
			r.compare(t, "ibqueryerrors", ibsimtest.Share([]string{"", "-r", "--skip-sl --switch", "--data --ca"}, i, 2))
		})
	}
}

// TestIbqueryerrorsLoss compares a fabric in which an agent does not respond, and one that
// loses packets now and then.
func TestIbqueryerrorsLoss(t *testing.T) {
	t.Parallel()
	theirs, _ := newPMARigs(t)
	theirs.MustCommand(t, `Error "Switch2" 100 18`) // PortCounters
	theirs.compare(t, "ibqueryerrors", []string{"", "-r --details --ca", "--counters", "--switch -k"})
	theirs.MustCommand(t, `Error "Switch2" 0 18`)
	theirs.MustCommand(t, `Error "Switch2" 100 1`) // ClassPortInfo
	theirs.compare(t, "ibqueryerrors", []string{"", "--ca"})
	theirs.compare(t, "perfquery", []string{"3 1", "-e 3 1"})
	theirs.MustCommand(t, `Error "Switch2" 0 1`)
	// The scan of the C tool does not repeat lost requests, and ibsim counts each lost
	// packet in PortRcvErrors.
	cache := filepath.Join(t.TempDir(), "cache")
	if r := theirs.MustRunC(t, theirs.host, "ibnetdiscover", "--cache", cache); r.Code != 0 {
		t.Fatalf("ibnetdiscover: %s", r.Stderr)
	}
	theirs.MustCommand(t, `Error "Switch2" 3`)
	theirs.compare(t, "ibqueryerrors", []string{"{line}", "{line} --data", "{line} -r"}, "{line}", "-s PortRcvErrors --skip-sl --load-cache "+cache)
}

// TestIbqueryerrorsNoSM checks that a missing subnet administration is a failure. That of
// the C tool has exit code 0.
func TestIbqueryerrorsNoSM(t *testing.T) {
	s := ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net")
	s.OpenSM(t, "Hca1") // which ends
	want := s.MustRunC(t, "Hca1", "ibqueryerrors")
	got := s.MustRun(t, "Hca1", ibkit(), "ibqueryerrors")
	if want.Code != 0 || got.Code != 255 || got.Stdout != want.Stdout || got.Stderr != want.Stderr {
		t.Errorf("got exit code %d and\n%s%s\nwant 255; C tool: %d and\n%s%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
	}
	if got := s.MustRun(t, "Hca1", ibkit(), "ibqueryerrors", "--skip-sl"); got.Code != 0 {
		t.Errorf("--skip-sl: got exit code %d, want 0\n%s", got.Code, got.Stderr)
	}
}

// compatScripts is the environment variable with a directory of the scripts of rdma-core,
// which Debian does not install. If it is set, TestCheckScripts records their output.
const compatScripts = "IBKIT_COMPAT_SCRIPTS"

var scriptLines = []string{
	"ibcheckerrors", "ibcheckerrors -v", "ibcheckerrors -N -v", "ibcheckerrors -b", "ibcheckerrors -N {topology}", "ibcheckerrors -h", "ibcheckerrors a b", "ibcheckerrors -t",
	"ibcheckerrs 2", "ibcheckerrs -N -v 2 1", "ibcheckerrs -N 2 2", "ibcheckerrs -b 1 1", "ibcheckerrs -N -v 1", "ibcheckerrs -v 1", "ibcheckerrs -s",
	"ibcheckerrs -T {thresholds} -N -v 2 1", "ibcheckerrs -T /nonexistent 1", "ibcheckerrs 99", "ibcheckerrs", "ibcheckerrs -x", "ibcheckerrs -N 2 1 -v",
	"ibdatacounts 2", "ibdatacounts -N -v 2 1", "ibdatacounts -N -v 1", "ibdatacounts -S 1 1", "ibdatacounters", "ibdatacounters -N -v", "ibdatacounters -b",
	"ibclearerrors", "ibclearcounters", "ibclearcounters {topology}", "ibclearerrors -C ibsim0 -P 1 -t 500",
}

// TestCheckScripts compares the scripts for error counters with the recorded output of
// those of rdma-core 44, run by bash.
func TestCheckScripts(t *testing.T) {
	t.Parallel()
	theirs, _ := newPMARigs(t)
	const file = "testdata/scripts.golden"
	scripts := os.Getenv(compatScripts)
	dir := t.TempDir()
	words := []string{"{topology}", filepath.Join(dir, "topology"), "{thresholds}", filepath.Join(dir, "thresholds")}
	for name, text := range map[string]string{
		"topology":   theirs.MustRunC(t, theirs.host, "ibnetdiscover").Stdout,
		"thresholds": "SymbolErrorCounter=5000\nLinkErrorRecoveryCounter=3\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(line string, path func(string) string) string {
		theirs.wear(t)
		args := strings.Fields(strings.NewReplacer(words...).Replace(line))
		name, first := path(args[0]), []string{}
		if scripts == "" {
			first = []string{args[0]}
		}
		r := theirs.MustRun(t, theirs.host, name, append(first, args[1:]...)...)
		return fmt.Sprintf("$ %s\n%s[exit code %d]\n", line, ibsimGrows.ReplaceAllString(r.Stdout, ""), r.Code)
	}
	if scripts != "" {
		var b strings.Builder
		for _, line := range scriptLines {
			b.WriteString(run(line, func(name string) string { return filepath.Join(scripts, name) }))
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	recorded := strings.SplitAfter(string(text), "]\n$ ")
	if len(recorded) != len(scriptLines) {
		t.Fatalf("got %d recorded outputs, want %d", len(recorded), len(scriptLines))
	}
	for i, line := range scriptLines {
		t.Run(line, func(t *testing.T) {
			want := strings.TrimSuffix(recorded[i], "$ ")
			if i > 0 {
				want = "$ " + want
			}
			if got := run(line, func(string) string { return ibkit() }); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// watchLines are command lines of ibswportwatch, each for another port of a switch. The
// counters change while it waits.
var watchLines = []string{
	"-p 4 -n 1 {lid} 1", "-v -p 4 -n 1 {lid} 2", "-b -p 4 -n 1 {lid} 3", "-bvG -p 4 -n 1 {guid} 4", "-n 0 {lid} 5",
	"-h", "-x", "-p", "-n 1 {lid} 99",
}

// watchRates are the lines of ibswportwatch whose order varies.
var watchRates = regexp.MustCompile(`(?m)(^(Detected .*|.*/second)\n)+`)

// TestIbswportwatch compares with the recorded output of the script of rdma-core 44, which
// Debian's package does not have, while its module IBswcountlimits.pm is Debian's. The order of
// its rates is that of a hash table and varies.
func TestIbswportwatch(t *testing.T) {
	t.Parallel()
	s := serveFabric(t, "single-switch:hosts=6")
	words := []string{"{lid}", lidOfSwitch(t, s, "switch1"), "{guid}", switchGUID(t, &pmaRig{Sim: s})}
	const file, ready = "testdata/ibswportwatch.golden", "Checking counts..."
	scripts := os.Getenv(compatScripts)
	run := func(t *testing.T, line string) string {
		args := strings.Fields(strings.NewReplacer(words...).Replace(line))
		path := filepath.Join(scripts, "ibswportwatch")
		if scripts == "" {
			path, args = ibkit(), append([]string{"ibswportwatch"}, args...)
		}
		port := args[len(args)-1]
		count := func(symbol, downed, discards, data int) {
			for name, n := range map[string]int{"SymbolErrorCounter": symbol, "LinkDownedCounter": downed, "PortXmitDiscards": discards, "PortXmitData": data} {
				ctl(t, s, fmt.Sprintf("counter switch1[%s] %s %d", port, name, n))
			}
		}
		var r ibsimtest.Result
		if strings.Contains(line, "-p 4") {
			count(5, 0, 7, 1000)
			d := s.NewDaemon(t, "", ready, path, args...)
			count(26, 2, 407, 3003)
			r = d.MustEnd(t, 0)
		} else {
			r = s.MustRun(t, "", path, args...)
		}
		return fmt.Sprintf("$ %s\n%s[exit code %d]\n", line, watchRates.ReplaceAllStringFunc(r.Stdout, func(group string) string {
			return strings.Join(slices.Sorted(strings.Lines(group)), "")
		}), r.Code)
	}
	if scripts != "" {
		var b strings.Builder
		for _, line := range watchLines {
			b.WriteString(run(t, line))
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range watchLines {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			_, after, _ := strings.Cut("\n"+string(text), "\n$ "+line+"\n")
			want, _, found := strings.Cut(after, "\n$ ")
			if got := strings.TrimSuffix(run(t, line), "\n"); !found && want == "" || got != "$ "+line+"\n"+strings.TrimSuffix(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestIbswportwatch_Rate compares the rate of a counter that grows at a known rate.
func TestIbswportwatch_Rate(t *testing.T) {
	s := serveFabric(t, "single-switch:hosts=3")
	ctl(t, s, "rate switch1[2] PortRcvErrors 100")
	got := s.MustRun(t, "", ibkit(), "ibswportwatch", "-p", "3", "-n", "1", lidOfSwitch(t, s, "switch1"), "2")
	m := regexp.MustCompile(`Detected excessive rate for PortRcvErrors \(([0-9.]+) cnts/sec\)`).FindStringSubmatch(got.Stdout)
	if m == nil {
		t.Fatalf("got no rate\n%s%s", got.Stdout, got.Stderr)
	}
	if rate, err := strconv.ParseFloat(m[1], 64); err != nil || rate < 95 || rate > 110 {
		t.Errorf("got %s per second, want 100", m[1])
	}
}

// TestRedirectedAgents compares agents that redirect requests: to a LID, with a P_Key, and
// to a GID, which libibmad does not follow. ibkit counters and query follow each of them.
func TestRedirectedAgents(t *testing.T) {
	t.Parallel()
	s := serveFabric(t, "single-switch:hosts=3")
	r := &pmaRig{Sim: s, mask: withoutQP1, wear: func(t *testing.T) {
		ctl(t, s, "counter host002[1] SymbolErrorCounter 77")
		ctl(t, s, "counter host002[1] PortXmitDiscards 5")
	}}
	for _, redirect := range []string{
		"redirect host002 host003[1] 9", "redirect host002 switch1[1] 9", "redirect host002 host003[1] 9 0xffff",
		"redirectgid host002 host003[1] 9", "redirectgid host002 switch1[1] 9 0xffff",
	} {
		t.Run(redirect, func(t *testing.T) {
			ctl(t, s, redirect)
			r.compare(t, "perfquery", []string{"2 1", "-x 2 1", "-D 2 1", "-T 2 1", "-R 2 1 0x1", "-r 2 1"})
			if strings.HasPrefix(redirect, "redirectgid") {
				// The warning of the C tool has LID 0 in place of that of the agent.
				want, got := s.MustRunC(t, "", "ibqueryerrors"), s.MustRun(t, "", ibkit(), "ibqueryerrors")
				if got.Stdout != want.Stdout || got.Code != want.Code || !strings.Contains(got.Stderr, "query failed on host002, Lid 2 port 1") {
					t.Errorf("ibqueryerrors: got exit code %d and\n%s%s\nwant %d and\n%s%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
				}
			} else {
				r.compare(t, "ibqueryerrors", []string{"", "--details", "--skip-sl --data"})
			}
			r.wear(t)
			for _, n := range readCounters(t, s, "", "--all", "host002").Nodes {
				for _, p := range n.Ports {
					if got := p.Counters["SymbolErrorCounter"]; got == nil || *got != 77 || len(n.Failures) > 0 {
						t.Errorf("ibkit counters: got %v symbol errors, failures %v, want 77", deref(got), n.Failures)
					}
				}
			}
			if got := s.MustRun(t, "", ibkit(), "query", "PortCounters", "2", "1"); got.Code != 0 || !strings.Contains(got.Stdout, "SymbolErrorCounter            77\n") {
				t.Errorf("ibkit query: got exit code %d and\n%s%s\nwant 77 symbol errors", got.Code, got.Stdout, got.Stderr)
			}
		})
	}
}

// TestBrokenAgents compares agents that reply for another port, that reject requests, that
// reply late, and that do not reply.
func TestBrokenAgents(t *testing.T) {
	t.Parallel()
	s := serveFabric(t, "single-switch:hosts=3")
	r := &pmaRig{Sim: s, mask: withoutQP1, wear: func(t *testing.T) {
		ctl(t, s, "counter host002[1] SymbolErrorCounter 77")
		ctl(t, s, "counter switch1[2] PortXmitDiscards 5")
	}}
	words := []string{"SW", lidOfSwitch(t, s, "switch1")}
	reads := []string{"-t 20000 2 1", "-t 20000 -e 2 1", "-t 20000 -x 2 1", "-t 20000 SW 2", "-t 20000 -a SW"}
	resets := []string{"-D 2 1", "-R 2 1", "-l SW 1-3", "-x -a SW", "-r SW 2"}
	for fault, lines := range map[string][]string{
		"other-port": slices.Concat(reads, resets), "rejected": slices.Concat(reads, resets), "late=20ms": slices.Concat(reads, resets), "silent": reads,
	} {
		t.Run(fault, func(t *testing.T) {
			ctl(t, s, "pma host002 "+fault)
			ctl(t, s, "pma switch1 "+fault)
			r.compare(t, "perfquery", lines, words...)
			r.compare(t, "ibqueryerrors", []string{"-t 20000", "-t 20000 --details --skip-sl", "-t 20000 --data --ca"}, words...)
			if len(lines) > len(reads) {
				r.compare(t, "ibqueryerrors", []string{"--counters --switch", "-k"}, words...)
			}
		})
	}
}

// TestErrorCorrection compares the layouts of PortExtendedSpeedsCounters, with counters of
// each mode of error correction, and those that ibkit counters reads.
func TestErrorCorrection(t *testing.T) {
	t.Parallel()
	s := serveFabric(t, "single-switch:hosts=3")
	r := &pmaRig{Sim: s, mask: withoutQP1, wear: func(*testing.T) {}}
	sw := lidOfSwitch(t, s, "switch1")
	for mode := range 4 {
		ctl(t, s, fmt.Sprintf("fec switch1[%d] %d", mode+1, mode))
		for i, name := range []string{"PortFECCorrectableBlockCtr", "PortFECUncorrectableBlockCtr", "PortFECCorrectedSymbolCtr"} {
			ctl(t, s, fmt.Sprintf("counter switch1[%d] %s %d", mode+1, name, 1000*mode+i+1))
		}
		for lane := range 4 {
			ctl(t, s, fmt.Sprintf("counter switch1[%d] FECUncorrectableBlockCtrLane%d %d", mode+1, lane, 10*mode+lane))
			ctl(t, s, fmt.Sprintf("counter switch1[%d] FECCorrectableBlockCtrLane%d %d", mode+1, lane, 20*mode+lane))
		}
	}
	for _, caps := range []string{"0xd300 2", "0x5200", "0x9300 2"} { // with and without counters of RS-FEC
		ctl(t, s, "perfcaps switch1 "+caps)
		t.Run(caps, func(t *testing.T) {
			r.compare(t, "perfquery", []string{"-T SW 1", "-T SW 2", "-T SW 3", "-T -a SW", "-T -l SW 1-4", "--extended_s SW 3"}, "SW", sw)
		})
	}
}
