package oracle

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// A pmaRig is a worn fabric on which the classic performance management tools run in
// turn with ibkit's.
type pmaRig struct {
	*ibsimtest.Sim
	host string
	wear func(t *testing.T) // sets the counters
	mask func(string) string
}

// wornFabric is the topology of ibsim's example net.2sw2path4hca2port after opensm. Hca1
// has the LIDs 3 and 5, Hca2 1 and 6, Switch1 2 and Switch2 4.
const wornFabric = "topo:testdata/worn.topo"

// newPMARig returns the worn fabric in ibkit's simulator.
func newPMARig(t *testing.T) *pmaRig {
	t.Helper()
	r := &pmaRig{Sim: serveFabric(t, wornFabric), host: "Hca1", mask: withoutQP1}
	r.wear = func(t *testing.T) {
		for _, c := range worn {
			ctl(t, r.Sim, fmt.Sprintf("counter %s[%d] %s %d", c.node, c.port, c.name, c.value))
		}
	}
	return r
}

var qp1Line = regexp.MustCompile(`(?m)^QP1Dropped:.*\n`)

// withoutQP1 removes the counter that libibmad reads in place of VL15Dropped.
func withoutQP1(s string) string { return qp1Line.ReplaceAllString(s, "") }

// compare runs both tools on each command line, each on the worn fabric. If the line
// changes counters, all counters are compared afterwards.
func (r *pmaRig) compare(t *testing.T, tool string, lines []string, words ...string) {
	expand := strings.NewReplacer(words...)
	r.wear(t)
	for _, line := range lines {
		t.Run(tool+" "+line, func(t *testing.T) {
			args := strings.Fields(expand.Replace(line))
			run := func(tools runner) (ibsimtest.Result, string) {
				result := tools(tool, args...)
				result.Stdout = processID.ReplaceAllString(r.mask(traceLine.ReplaceAllString(result.Stdout, "")), "[pid]")
				return result, r.state(t, tool, args, tools)
			}
			want, theirState := run(theirTools(t, r.Sim, r.host))
			got, ourState := run(ourTools(t, r.Sim, r.host))
			compareResults(t, want, got)
			if theirState != ourState {
				t.Errorf("counters afterwards: C tool (-), ibkit (+)\n%s", cmp.Diff(theirState, ourState))
			}
		})
	}
}

// resetFlags are the flags that reset counters, by tool. -r of ibqueryerrors prints the link.
var resetFlags = map[string]*regexp.Regexp{
	"perfquery":     regexp.MustCompile(`^-[a-zA-Z]*[rR]$|^--[rR]eset`),
	"ibqueryerrors": regexp.MustCompile(`^-[a-zA-Z]*[kK]$|^--clear`),
}

// state returns the counters of all ports after a line that resets some, as the tools read
// them, and sets them again.
func (r *pmaRig) state(t *testing.T, tool string, args []string, tools runner) string {
	t.Helper()
	if !slices.ContainsFunc(args, resetFlags[tool].MatchString) {
		return ""
	}
	var b strings.Builder
	for _, line := range []string{"-l 2 1-3", "-x -l 2 1-3", "1 1", "-x 1 1", "-D 2 2", "-E 4 5", "--oprcvcounters 3 1"} {
		b.WriteString(r.mask(tools("perfquery", append([]string{"-t", longTimeout}, strings.Fields(line)...)...).Stdout))
	}
	r.wear(t)
	return b.String()
}

// TestRedirectedAgents compares agents that redirect requests: to a LID, with a P_Key, and to
// a GID, which libibmad does not follow. ibkit counters and query follow each redirection.
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
				// The C tool's warning has LID 0 in place of the agent's.
				want, got := s.MustRunC(t, "", "ibqueryerrors"), s.MustRun(t, "", ibkit(), "ibqueryerrors")
				if got.Stdout != want.Stdout || got.Code != want.Code || !strings.Contains(got.Stderr, "query failed on host002, Lid 2 port 1") {
					t.Errorf("ibqueryerrors: got exit code %d and\n%s%s\nwant %d and\n%s%s", got.Code, got.Stdout, got.Stderr, want.Code, want.Stdout, want.Stderr)
				}
			} else {
				r.compare(t, "ibqueryerrors", []string{"", "--details", "--skip-sl --data"})
			}
			r.wear(t)
			document := readCounters(t, s, "", "--all", "host002")
			for _, n := range document.Nodes {
				for _, p := range n.Ports {
					if got := p.Counters["SymbolErrorCounter"]; got == nil || *got != 77 || len(document.Failures) > 0 {
						t.Errorf("ibkit counters: got %v symbol errors, failures %v, want 77", deref(got), document.Failures)
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
	for _, fault := range []string{"other-port", "rejected", "late=20ms", "silent"} {
		lines := reads
		if fault != "silent" {
			lines = slices.Concat(reads, resets)
		}
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

// A counted is a counter with a value that is set in both simulators.
type counted struct {
	node  string
	port  int
	attr  string // as ibsim's console names it
	name  string // as perfquery does, and ibkit
	value uint64
}

// worn are the counters of a fabric in bad condition. Traffic counters are missing because
// ibsim counts each packet in them.
var worn = []counted{
	{"Switch1", 1, "PortCounters", "SymbolErrorCounter", 4321},
	{"Switch1", 1, "PortCounters", "LinkErrorRecoveryCounter", 17},
	{"Switch1", 2, "PortCounters", "PortXmitDiscards", 99},
	{"Switch1", 2, "PortXmitDiscardDetails", "PortInactiveDiscards", 60},
	{"Switch1", 2, "PortXmitDiscardDetails", "PortSwHOQLifetimeLimitDiscards", 39},
	{"Switch1", 3, "PortCounters", "SymbolErrorCounter", 65535},
	{"Switch2", 5, "PortCounters", "PortRcvErrors", 1000},
	{"Switch2", 5, "PortRcvErrorDetails", "PortLocalPhysicalErrors", 700},
	{"Switch2", 5, "PortRcvErrorDetails", "PortBufferOverrunErrors", 300},
	{"Hca1", 1, "PortCounters", "LinkDownedCounter", 255},
	{"Hca1", 1, "PortCounters", "VL15Dropped", 12},
	{"Hca1", 1, "PortCounters", "ExcessiveBufferOverrunErrors", 15},
	{"Hca1", 1, "PortOpRcvCounters", "PortOpRcvPkts", 123456},
	{"Hca1", 1, "PortFlowCtlCounters", "PortRcvFlowPkts", 4000000000},
	{"Hca2", 2, "PortCounters", "PortRcvConstraintErrors", 8},
	{"Hca2", 2, "PortCounters", "PortXmitWait", 3000000},
}

// readCounters runs ibkit counters --json on a simulator.
func readCounters(t *testing.T, s *ibsimtest.Sim, host string, args ...string) counters.Report {
	t.Helper()
	r := s.MustRun(t, host, ibkit(), append([]string{"counters", "--sim", "ibsim", "--json"}, args...)...)
	var report counters.Report
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatalf("ibkit counters %v: exit code %d: %v\n%s", args, r.Code, err, r.Stderr)
	}
	return report
}

func deref(v *uint64) string {
	if v == nil {
		return "absent"
	}
	return strconv.FormatUint(*v, 10)
}

// traceLine matches a -v or -d trace line, which contains memory addresses.
var traceLine = regexp.MustCompile(`(?m)^(?:\./libibnetdisc/.*\n|ibdebug: .*\n\n)`)
