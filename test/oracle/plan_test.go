//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// cabling is the plan of the fabric that the function cabledNet describes, as a .topo file
// for ibdm. Ibdm knows the ports of these models.
const cabling = `MTS3600 sw1
   P1 -> MT25208 h1 P1
   P2 -> MT25208 h2 P1
   P3 -> MT25208 h3 P1
   P35 -> MTS3600 sw2 P35
   P36 -> MTS3600 sw2 P36

MTS3600 sw2
   P1 -> MT25208 h4 P1
   P2 -> MT25208 h5 P1
   P3 -> MT25208 h6 P1
`

// cabledNet is the fabric in ibsim's format.
func cabledNet() string {
	var net strings.Builder
	for h := range 6 {
		fmt.Fprintf(&net, "Hca\t1 \"h%d\"\n[1]\t\"sw%d\"[%d]\n\n", h+1, h/3+1, h%3+1)
	}
	for s := range 2 {
		fmt.Fprintf(&net, "Switch\t36 \"sw%d\"\n", s+1)
		for port := range 3 {
			fmt.Fprintf(&net, "[%d]\t\"h%d\"[1]\n", port+1, 3*s+port+1)
		}
		fmt.Fprintf(&net, "[35]\t\"sw%[1]d\"[35]\n[36]\t\"sw%[1]d\"[36]\n\n", 2-s)
	}
	return net.String()
}

// cablesOfIbdm is a script for Debian's ibdmsh: it prints the cables in a link list and in
// a .topo file, each at both ends. The ends of the list have system GUIDs.
const cablesOfIbdm = `
proc cables {kind fabric} {
	foreach pair [IBFabric_NodeByName_get $fabric] {
		set node [lindex $pair 1]
		for {set i 1} {$i <= [IBNode_numPorts_get $node]} {incr i} {
			set port [IBNode_getPort $node $i]
			if {$port == ""} continue
			set peer [IBPort_p_remotePort_get $port]
			if {$peer != ""} {puts "$kind: [IBPort_getName $port] [IBPort_getName $peer]"}
		}
	}
}
set list [new_IBFabric]
set plan [new_IBFabric]
IBFabric_parseSubnetLinks $list %s
IBFabric_parseTopology $plan %s
cables list $list
cables plan $plan
exit
`

// namedNode matches a line from ibnetdiscover -l.
var namedNode = regexp.MustCompile(`(?m)^\w+\s+: (0x[0-9a-f]{16}) .*"(.*)"$`)

// ibdmCables returns the cables that ibdm reads from a link list, with names for system
// GUIDs, and from a plan. Each cable is two texts, one for each direction.
func ibdmCables(t *testing.T, list, plan string, names map[string]string) (found, planned map[string]bool) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, fmt.Appendf(nil, cablesOfIbdm, list, plan), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := ibsimtest.Command(t, "ibdmsh", script).CombinedOutput()
	if err != nil {
		t.Fatalf("run ibdmsh: %v\n%s", err, out)
	}
	name := regexp.MustCompile(`S([0-9a-f]{16})/U1/`)
	found, planned = map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if cable, ok := strings.CutPrefix(line, "plan: "); ok {
			planned[cable] = true
		}
		if cable, ok := strings.CutPrefix(line, "list: "); ok {
			found[name.ReplaceAllStringFunc(cable, func(s string) string { return names["0x"+name.FindStringSubmatch(s)[1]] + "/" })] = true
		}
	}
	return found, planned
}

// TestPlan_Miswirings plants errors in the cabling of a running ibsim, and compares the
// --plan findings with the difference between the link list that ibkit writes and the
// plan, both as Debian's ibdm reads them. The ibdm program ibtopodiff, which is to print
// this difference, ends with a buffer overflow when it prints a GUID.
func TestPlan_Miswirings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		commands []string
		kinds    []report.Kind
	}{
		{"none", nil, nil},
		{"missing cable", []string{`Unlink "sw1"[36]`}, []report.Kind{report.MissingCable}},
		{"missing node", []string{`Unlink "h2"`}, []report.Kind{report.MissingNode}},
		{"swapped", []string{`Unlink "h2"`, `Unlink "h4"`, `Link "h2"[1] "sw2"[1]`, `Link "h4"[1] "sw1"[2]`}, []report.Kind{report.Swapped}},
		{"another port", []string{`Unlink "h3"`, `Link "h3"[1] "sw1"[7]`}, []report.Kind{report.WrongPeer}},
		{"unexpected", []string{`Link "sw1"[20] "sw2"[21]`}, []report.Kind{report.UnexpectedCable}},
		{"between switches", []string{`Unlink "sw1"[35]`, `Unlink "sw1"[36]`, `Link "sw1"[35] "sw2"[36]`, `Link "sw1"[36] "sw2"[35]`},
			[]report.Kind{report.Swapped}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			net, plan, list := filepath.Join(dir, "net"), filepath.Join(dir, "plan.topo"), filepath.Join(dir, "list.lst")
			for path, text := range map[string]string{net: cabledNet(), plan: cabling} {
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := ibsimtest.New(t, net)
			s.OpenSM(t, "h1")
			routed := filepath.Join(dir, "routed")
			s.MustRun(t, "h1", ibkit(), "topology", "--ibdiagnet", routed)
			for _, c := range test.commands {
				s.MustCommand(t, c)
			}
			if err := os.WriteFile(list, []byte(s.MustRun(t, "h1", ibkit(), "topology", "--format", "lst").Stdout), 0o600); err != nil {
				t.Fatal(err)
			}
			names := map[string]string{}
			for _, n := range namedNode.FindAllStringSubmatch(s.MustRunC(t, "h1", "ibnetdiscover", "-l").Stdout, -1) {
				names[n[1]] = n[2]
			}
			found, planned := ibdmCables(t, list, plan, names)
			if len(planned) != 16 {
				t.Fatalf("ibdm reads %d cables of the plan", len(planned)/2)
			}
			different := map[string]string{} // from ports to planned peers, or found peers
			for _, sets := range [][2]map[string]bool{{found, planned}, {planned, found}} {
				for cable := range sets[0] {
					if port, peer, _ := strings.Cut(cable, " "); !sets[1][cable] {
						different[port] = peer
					}
				}
			}

			r := s.MustRun(t, "h1", ibkit(), "topology", "--json", "--plan", plan)
			var document topology.Report
			if err := json.Unmarshal([]byte(r.Stdout), &document); err != nil {
				t.Fatal(err)
			}
			var kinds []report.Kind
			details := ""
			for _, f := range document.Findings {
				kinds = append(kinds, f.Kind)
				details += f.Detail + "\n"
				for end := range strings.SplitSeq(f.Subject, ", ") {
					name, number, hasPort := strings.Cut(strings.TrimSuffix(end, "]"), "[")
					port := name + "/P1"
					if hasPort {
						port = name + "/P" + number
					}
					if different[port] == "" {
						t.Errorf("got %s: %s; ibdm sees no difference at %s", f.Kind, f.Detail, port)
					}
				}
			}
			named := func(port string) bool {
				name, number, _ := strings.Cut(port, "/P")
				return regexp.MustCompile(`(?m)\b` + name + `(\[` + number + `\]| is not in the fabric)`).MatchString(details)
			}
			for port, peer := range different {
				if !named(port) && !named(peer) {
					t.Errorf("got no finding about %s, which differs for ibdm; findings:\n%s", port, details)
				}
			}
			if !slices.Equal(kinds, test.kinds) {
				t.Errorf("got %v, want %v\n%s", kinds, test.kinds, details)
			}
			compareMissingPaths(t, list, filepath.Join(routed, "ibdiagnet2.fdbs"))
		})
	}
}
