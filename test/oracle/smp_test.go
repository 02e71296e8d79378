package oracle

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// smpLines are smpquery, smpdump and sminfo command lines. Words in capitals are replaced
// with addresses: a host's, an adjacent switch's, and a dead LID. Both simulators return
// requests without a reply at once, so that a long timeout costs no time.
var smpLines = []string{
	"smpquery nodeinfo LID", "smpquery NI SWLID", "smpquery -D NodeInfo 0", "smpquery -D ni ROUTE", "smpquery -D ni 1,SWPORT", "smpquery -D ni ROUTE,",
	"smpquery nodedesc LID", "smpquery -D nd ROUTE", "smpquery -D ND 0", "smpquery --node-name-map MAP nd SWLID", "smpquery --node-name-map MAP nd LID",
	"smpquery portinfo LID", "smpquery portinfo LID 1", "smpquery pi SWLID", "smpquery pi SWLID 1", "smpquery -D pi 0", "smpquery -D pi 0,1 2",
	"smpquery -x pi SWLID 1", "smpquery --extended -D pi 0", "smpquery -K pi LID", "smpquery -K -y 0x77 pi LID", "smpquery pi SWLID 0x1", "smpquery pi SWLID x",
	"smpquery pi SWLID 200", "smpquery pi SWLID -1", "smpquery -e pi SWLID 200", "smpquery -d pi LID 200",
	"smpquery pie LID", "smpquery PortInfoExtended SWLID 1", "smpquery -D pie 0 1",
	"smpquery switchinfo SWLID", "smpquery si LID", "smpquery -D si 0,1", "smpquery -e si LID",
	"smpquery pkeys LID", "smpquery pkeytable SWLID 1", "smpquery pkeys SWLID", "smpquery pkeys SWLID 99", "smpquery -D pkeys 0", "smpquery pkeys LID 1",
	"smpquery sl2vl LID", "smpquery sl2vltable SWLID 1", "smpquery sl2vl SWLID", "smpquery sl2vl SWLID 99", "smpquery -D sl2vl 0,1 2",
	"smpquery vlarb LID", "smpquery vlarbitration SWLID 1", "smpquery vlarb SWLID", "smpquery vlarb SWLID 99", "smpquery -D vlarb 0",
	"smpquery guidinfo LID", "smpquery gi SWLID", "smpquery -D gi 0",
	"smpquery mepi LID 1", "smpquery MlnxExtPortInfo SWLID 1",
	"smpquery -t 20000 ni DEAD", "smpquery -e -t 20000 ni DEAD", "smpquery -t 20000 -D ni 0,99", "smpquery -t 20000 -D pkeys 0,1,99", "smpquery -t 20000 pie DEAD", "smpquery -t 20000 -d ni DEAD",
	"smpquery ni 0", "smpquery ni x", "smpquery ni 65535", "smpquery ni 0xc000", "smpquery -D ni x",
	"smpquery nosuch LID", "smpquery ni", "smpquery", "smpquery -h", "smpquery -V", "smpquery --nosuch", "smpquery -C nosuch ni LID", "smpquery -P 9 ni LID",
	"smpquery -cD ni ROUTE", "smpquery -c ni 0 0", "smpquery -c ni x",
	"smpquery -s 0 ni LID", "smpquery -t 0 ni LID", "smpquery -z /nonexistent ni LID",

	"smpdump LID 0x11", "smpdump LID 17", "smpdump LID 0x15 1", "smpdump -D ROUTE 0x11", "smpdump -D 0 0x11", "smpdump -D ROUTE, 0x12", "smpdump -s -D ROUTE 16",
	"smpdump --string LID 0x10", "smpdump -DL LID 16", "smpdump SWLID 0x15 200", "smpdump LID", "smpdump", "smpdump -h",
	"smpdump -G LID 16", "smpdump SWLID 0x12 0 9", "smpdump -y 5 LID 16",

	"sminfo", "sminfo -D 0", "sminfo -L SMLID", "sminfo SMLID", "sminfo -h", "sminfo 0", "sminfo x", "sminfo -D ROUTE", "sminfo -t 20000 DEAD",
	"sminfo -a 5 -p 3 -s 1 SMLID", "sminfo SMLID 0", "sminfo -C nosuch", "sminfo -K", "sminfo -e SWLID",

	"smpquery --config /nonexistent ni LID", "smpquery --Ca ibsim0 ni LID", "smpquery -C ibsim0 ni LID", "smpquery --Port 1 ni LID",
	"smpquery -P 1 ni LID", "smpquery --Lid ni LID", "smpquery -L ni LID", "smpquery --timeout 20000 ni DEAD", "smpquery --m_key 0x77 ni LID",
	"smpquery -y 0x77 ni LID", "smpquery --errors -t 20000 ni DEAD", "smpquery --verbose ni LID", "smpquery -vv ni LID", "smpquery --debug -t 20000 ni DEAD",
	"smpquery -d -t 20000 ni DEAD", "smpquery --help", "smpquery --version", "smpquery --Direct ni 0,1", "smpquery --sm_port SMLID ni LID",
	"smpquery --show_keys pi LID", "smpdump --config /nonexistent LID 0x11", "smpdump -z /nonexistent LID 0x11", "smpdump --Ca ibsim0 LID 0x11",
	"smpdump -C ibsim0 LID 0x11", "smpdump --Port 1 LID 0x11", "smpdump -P 1 LID 0x11", "smpdump --Lid LID 0x11", "smpdump -L LID 0x11",
	"smpdump --timeout 20000 LID 0x11", "smpdump -t 20000 LID 0x11", "smpdump --m_key 0x77 LID 0x11", "smpdump -y 0x77 LID 0x11",
	"smpdump --errors -t 20000 LID 0x11", "smpdump -e -t 20000 LID 0x11", "smpdump --verbose LID 0x11", "smpdump -vv LID 0x11",
	"smpdump --debug -t 20000 LID 0x11", "smpdump -d -t 20000 LID 0x11", "smpdump --help", "smpdump --version", "smpdump -V", "smpdump --Direct 0,1 0x11",
	"sminfo --config /nonexistent SMLID", "sminfo -z /nonexistent SMLID", "sminfo --Ca ibsim0 SMLID", "sminfo -C ibsim0 SMLID", "sminfo --Port 1 SMLID",
	"sminfo -P 1 SMLID", "sminfo --Lid SMLID", "sminfo --timeout 20000 DEAD", "sminfo --m_key 0x77 SMLID", "sminfo -y 0x77 SMLID",
	"sminfo --errors -t 20000 DEAD", "sminfo -e -t 20000 DEAD", "sminfo --verbose SMLID", "sminfo -vv SMLID", "sminfo --debug -t 20000 DEAD",
	"sminfo -d -t 20000 DEAD", "sminfo --help", "sminfo --version", "sminfo -V", "sminfo --state 2 --priority 4 --activity 7 SMLID", "sminfo --Direct 0",
}

// saLines are command lines that need subnet administration, or nodes that ibsim does
// not simulate.
var saLines = []string{
	"smpquery -G ni GUID", "smpquery -G nd 0xdead", "smpquery -G ni 0", "smpquery -G -s SMLID pi GUID 1", "smpquery -cG ni GUID", "sminfo -G GUID", "sminfo -G 0xdead",

	"smpquery --Guid ni GUID", "sminfo --Guid GUID",
}

// combinedLines have routes that begin at a LID, or attributes that do not exist: ibsim
// does not answer them.
var combinedLines = []string{
	"smpquery -c ni SWLID 0,1", "smpquery -c nodeinfo SWLID 0", "smpquery -c ni SWLID", "smpquery --combined pi SWLID 0,1 1", "smpquery -Gc nd SWLID 0,2",
	"smpquery -c pkeys SWLID 0,1 1", "smpquery -t 300 -c ni SWLID 0,99", "smpquery -Dc ni LID", "smpquery --Comb ni LID",
	"smpdump LID 0x9999", "smpdump -D ROUTE 0x9999", "smpdump SWLID x",
}

// activity is a subnet manager's activity count, which advances.
var activity = regexp.MustCompile(`activity count \d+`)

// compareSMP runs both tools on each command line: standard output and exit code must be
// equal, and the warnings and usage texts on standard error.
func compareSMP(t *testing.T, s *ibsimtest.Sim, host string, lines []string, words ...string) {
	expand := strings.NewReplacer(words...)
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(expand.Replace(line))
			want := s.MustRunC(t, host, args[0], args[1:]...)
			got := s.MustRun(t, host, ibkit(), args...)
			compareResults(t, want, got)
		})
	}
}

// compareResults compares the results from two tools.
func compareResults(t *testing.T, want, got ibsimtest.Result) {
	t.Helper()
	if got.Code != want.Code {
		t.Errorf("got exit code %d, want %d", got.Code, want.Code)
	}
	if d := cmp.Diff(maskRun(want.Stdout), maskRun(got.Stdout)); d != "" {
		t.Errorf("standard output: C tool (-), ibkit (+)\n%s\n%s", d, got.Stderr)
	}
	if d := cmp.Diff(warnings(want), warnings(got)); d != "" {
		t.Errorf("error output: C tool (-), ibkit (+)\n%s", d)
	}
}

// maskRun masks the differences between two runs: process numbers, activity counts and
// memory addresses. It also masks bytes that ibkit does not print on a terminal.
func maskRun(stdout string) string {
	stdout = traceProcess.ReplaceAllString(stdout, "[pid]$1")
	b := []byte(nodeAddress.ReplaceAllString(activity.ReplaceAllString(pid.ReplaceAllString(stdout, "[pid]"), ""), "$1"))
	for i, c := range b {
		if (c < ' ' || c > '~') && c != '\n' && c != '\t' {
			b[i] = ' '
		}
	}
	return string(b)
}

// traceProcess matches the process in the lines that ibtracert -m -v adds.
var traceProcess = regexp.MustCompile(`(?m)^\[\d+\]( (?:new_node|find_mcpath|get_port|switch_mclookup):)`)

// nodeAddress matches the memory address of a node that ibtracert -m -v prints.
var nodeAddress = regexp.MustCompile(`(insert dist \d+|find_mcpath: dist \d+) node 0x[0-9a-f]+`)

var processID = regexp.MustCompile(`\[\d+\]`)

// warnings returns the libibmad warnings in a tool's output, and the whole error output
// for a usage error. The first line of a traced call has no counterpart.
func warnings(r ibsimtest.Result) string {
	if r.Code == 2 {
		return r.Stderr
	}
	var kept strings.Builder
	for line := range strings.Lines(r.Stderr) {
		if strings.HasPrefix(line, "ibwarn:") && !strings.Contains(line, "open_port") && !strings.Contains(line, "sa call") &&
			!strings.Contains(line, "_query_status_via") {
			kept.WriteString(processID.ReplaceAllString(line, "[pid]"))
		}
	}
	return kept.String()
}

// TestSMPServed compares the tools on a fabric that ibkit serves, with routes that
// begin at a LID.
func TestSMPServed(t *testing.T) {
	t.Parallel()
	fabrics := map[string]string{
		"demo": "node07", "fat-tree:levels=3,radix=8,pods=3": "host00007", "../nets/fdr10.net": "", "../nets/odd-descriptions.net": "",
	}
	for i, fabric := range slices.Sorted(maps.Keys(fabrics)) {
		t.Run(filepath.Base(fabric), func(t *testing.T) {
			host := fabrics[fabric]
			r := &addrRig{Sim: serveFabric(t, fabric), host: host}
			r.scan(t)
			r.sm = strings.TrimSpace(r.MustRun(t, host, ibkit(), "addr", "--plain", "--columns", "sm-lid").Stdout)
			words := smpWords(t, r)
			// On ibsim, all lines run.
			compareSMP(t, r.Sim, r.host, ibsimtest.Every(smpLines, i, len(fabrics)), words...)
			if fabric == "demo" {
				compareSMP(t, r.Sim, r.host, saLines, words...)
				compareCombined(t, r, words...)
			}
			for _, n := range ibsimtest.Every(r.nodes, i, max(1, len(r.nodes)/4)) {
				if n.LID != 0 {
					compareSMP(t, r.Sim, r.host, []string{fmt.Sprintf("smpquery nd %d", n.LID), fmt.Sprintf("smpdump -s %d 16", n.LID)})
				}
			}
		})
	}
}

// compareCombined compares routes that begin at a LID. ibkit runs in the same process as
// its simulator, because its client for ibsim rejects such routes.
func compareCombined(t *testing.T, r *addrRig, words ...string) {
	for _, line := range combinedLines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(strings.NewReplacer(words...).Replace(line))
			want := r.MustRunC(t, r.host, args[0], args[1:]...)
			compareResults(t, want, r.MustRun(t, r.host, ibkit(), append(args, "--sim", "demo")...))
		})
	}
}

// smpWords returns the words of command lines and their replacements.
func smpWords(t *testing.T, r *addrRig) []string {
	t.Helper()
	var host, sw *addrNode
	for i := range r.nodes {
		switch n := &r.nodes[i]; {
		case n.Type == "Switch" && n.LID != 0:
			sw = n
		case n.LID != 0:
			host = n
		}
	}
	return []string{
		"SWLID", fmt.Sprint(sw.LID), "SMLID", r.sm, "LID", fmt.Sprint(host.LID), "GUID", host.guid(), "ROUTE", host.Route,
		"SWPORT", strings.TrimPrefix(sw.Route, "0,"), "DEAD", "0xbff0",
		"MAP", writeText(t, fmt.Sprintf("%s \"a name from the map\"\n", sw.GUID)),
	}
}

// writeText writes a file that lasts as long as the test, and returns the path.
func writeText(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// congestionLines are ibccquery command lines. Words in capitals are replaced as in smpLines.
var congestionLines = []string{
	"ibccquery CP LID", "ibccquery ClassPortInfo SWLID", "ibccquery CI LID", "ibccquery congestioninfo SWLID", "ibccquery CK LID", "ibccquery -c 5 CK SWLID",
	"ibccquery SS SWLID", "ibccquery SS LID", "ibccquery SP SWLID", "ibccquery SP SWLID 3", "ibccquery SP SWLID 0", "ibccquery SP SWLID 99", "ibccquery SP LID",
	"ibccquery CS LID", "ibccquery CS SWLID", "ibccquery CT LID", "ibccquery CT SWLID", "ibccquery -G CI GUID", "ibccquery -e CT SWLID",
	"ibccquery CI 0", "ibccquery nosuch LID", "ibccquery CI", "ibccquery -h", "ibccquery -D CI LID", "ibccquery -t 20000 CI DEAD", "ibccquery -t 20000 -e SP DEAD",
	"ibccquery -C nosuch CI LID",

	"ibccquery --config /nonexistent CI LID", "ibccquery -z /nonexistent CI LID", "ibccquery --Ca ibsim0 CI LID", "ibccquery -C ibsim0 CI LID",
	"ibccquery --Port 1 CI LID", "ibccquery -P 1 CI LID", "ibccquery --Lid CI LID", "ibccquery -L CI LID", "ibccquery --timeout 20000 CI DEAD",
	"ibccquery --m_key 0x77 CI LID", "ibccquery -y 0x77 CI LID", "ibccquery --errors -t 20000 CI DEAD", "ibccquery -e -t 20000 CI DEAD",
	"ibccquery --verbose CI LID", "ibccquery -vv CI LID", "ibccquery --debug -t 20000 CI DEAD", "ibccquery -d -t 20000 CI DEAD", "ibccquery --help",
	"ibccquery --version", "ibccquery -V", "ibccquery --cckey 5 CK SWLID", "ibccquery --Guid CI GUID", "ibccquery --sm_port SMLID CI LID",
	"ibccquery -s SMLID CI LID",
}

// TestIbccquery compares ibccquery on a fabric with settings that ibccconfig changed.
func TestIbccquery(t *testing.T) {
	t.Parallel()
	r := &addrRig{Sim: serveFabric(t, "demo"), host: "node07", sm: "4"}
	r.scan(t)
	words := smpWords(t, r)
	expand := strings.NewReplacer(words...)
	for _, line := range []string{"SS SWLID 0x1F 0x1FFF 0x2 0xF 8 3 2:5 7", "SP SWLID 5 1 0 7 8 9", "CS LID 1 0x3 150 1 0 2", "CT LID 66 1 1:2 3:4 3:16383"} {
		if c := ourTools(t, r.Sim, r.host)("ibccconfig", strings.Fields(expand.Replace(line))...); c.Code != 0 {
			t.Fatalf("ibccconfig %s: %s%s", line, c.Stdout, c.Stderr)
		}
	}
	compareSMP(t, r.Sim, r.host, congestionLines, words...)
	ctl(t, r.Sim, "congest leaf1[3] node01 node16 4")
	compareSMP(t, r.Sim, r.host, []string{"ibccquery CT LID"}, words...)
}
