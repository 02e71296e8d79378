package oracle

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// vendorNet has an InfiniScale III, a Quantum with extended firmware versions, and
// adapters with and without extended versions.
const vendorNet = `
vendid=0x2c9
devid=0xb924
Switch	24 "is3"	# "is3"
[1]	"old"[1]
[2]	"new"[1]
[3]	"quantum"[1]

vendid=0x2c9
devid=0xd2f0
Switch	40 "quantum"	# "quantum"
[1]	"is3"[3]

vendid=0x2c9
devid=0x5a44
Hca	1 "old"	# "old"
[1]	"is3"[1]

vendid=0x2c9
devid=0x1017
Hca	1 "new"	# "new"
[1]	"is3"[2]
`

// vendstatLines are vendstat command lines. LIDs are from vendorNet: 1 is3, 2 quantum, 3
// old, 4 new. libumad2sim passes on the first 16 configuration space records.
var vendstatLines = []string{
	"-N 1", "-N 2", "-N 3", "-N 4", "--N 4", "-N", "-N -L 2", "-Nw 1", "-w 1", "-w 2", "-N -w 4", "-wN 1 7", "-N -G GUID", "-N -e 1", "-N -v 1", "-N 0x2",
	"-i 2", "-i 2 7", "-i 1 200", "-i", "-i 2 0x7", "-i 2 x", "-i 2 -1", "-iN 2",
	"-c 0,1 2 12", "-c 2,8 2 12", "-c 300,-1 2 3", "-c 1 2", "-c x,1 2", "-c 1,x 2", "-c 1,2", "-c 1,2,3 2", "-c 0x1,2 2", "-c 1,2 2 200", "-c 1,99999999999 2",
	"-R 10,ff 2", "-R 0x10 2", "-R 10,0 -R 20 2", "-R x 2", "-R 10,x 2", "--Read f0014 3", "--Rea=f0014 3", "-R -1 3", "-R fffffffff,ff 3",
	"-W 10,12345678 2", "-R 10 2", "-W 10,ff,f 2", "-R 10 2", "-W 10 2", "-W 20,1,1 2", "-W 20,1,1 -R 20 2", "-W x 2", "-R 10,ffff -R 20 2", "--Write 0x30,0x1,0xffffffff 2", "-R 30 -i 2", "-R 30 -N 2",
	"-R 1 -R 2 -R 3 -R 4 -R 5 -R 6 -R 7 -R 8 -R 9 -R a -R b -R c -R d -R e -R f -R 10 2",
	"1", "", "-h", "--nosuch", "-D -N 1", "-K -N 1", "-y 1 -N 1", "-N 0", "-N x", "-C nosuch -N 1", "-P 9 -N 1", "-t 0 -N 1", "-s 0 -N 1", "-N 1 2 3",
	"-t 20000 -N 0xbff0", "-t 20000 -e -N 0xbff0", "-t 20000 -i 0xbff0", "-t 20000 -c 1,2 0xbff0", "-t 20000 -R 10 0xbff0", "-t 20000 -W 10,1 0xbff0", "-t 20000 -w 0xbff0",

	"--w 1", "--i 2 7", "--c 2,8 2 12", "--c=0,1 2 12", "--config /nonexistent -N 1", "-z /nonexistent -N 1", "--Ca ibsim0 -N 1", "--Port 1 -N 1", "--Lid -N 2",
	"--Guid -N GUID", "--timeout 2000 -N 1", "--sm_port 1 -N 1", "--errors -N 1", "--errors --timeout 20000 -N 0xbff0", "--verbose -N 1", "-vv -w 1",
	"--debug -N 1", "-d -w 1", "-d -i 2 7", "-d --timeout 20000 -N 0xbff0", "--help", "--version", "-V",
}

// uptime is a device's uptime, which advances.
var uptime = regexp.MustCompile(`(?m)^hw_uptime:.*$`)

// TestVendstat compares vendstat on a fabric that ibkit serves.
func TestVendstat(t *testing.T) {
	t.Parallel()
	s := serveFabric(t, "net:"+writeText(t, vendorNet)+",vendor=on")
	for port, wait := range []string{"0", "1", "0x22", "3", "4", "5"} {
		if port > 0 {
			ctl(t, s, "counter is3["+string(rune('0'+port))+"] PortXmitWait "+strings.TrimPrefix(wait, "0x"))
		}
	}
	ctl(t, s, "counter is3[20] PortXmitWait 4294967295")
	for _, line := range vendstatLines {
		t.Run(line, func(t *testing.T) { compareVendstat(t, s, strings.ReplaceAll(line, "GUID", guidOf(t, s, "old"))) })
	}
}

// guidOf returns an adapter's port GUID.
func guidOf(t *testing.T, s *ibsimtest.Sim, node string) string {
	t.Helper()
	r := s.MustRun(t, node, ibkit(), "ibaddr", "-g")
	_, gid, _ := strings.Cut(strings.TrimSpace(r.Stdout), " ")
	return "0x" + strings.ReplaceAll(gid[strings.LastIndex(gid, "::")+2:], ":", "")
}

// noAgentLines are vendstat command lines to a node that ignores the vendor class.
var noAgentLines = []string{"-t 20000 -N 1", "-t 20000 -e -N 1", "-t 20000 -i 1 2", "-t 20000 -c 0,1 1 2", "-t 20000 -R f0014 1", "-t 20000 -W 10,1 1"}

// TestVendstat_NoAgent compares the errors about nodes without a vendor agent.
func TestVendstat_NoAgent(t *testing.T) {
	s := serveFabric(t, "demo,vendor=off")
	for _, line := range noAgentLines {
		t.Run(line, func(t *testing.T) { compareVendstat(t, s, line) })
	}
}

// compareVendstat compares the output, the exit code and all of standard error except
// libibmad's output about a port that does not open.
func compareVendstat(t *testing.T, s *ibsimtest.Sim, line string) {
	want := s.MustRunC(t, "", "vendstat", strings.Fields(line)...)
	got := s.MustRun(t, "", ibkit(), append([]string{"vendstat"}, strings.Fields(line)...)...)
	want.Stdout, got.Stdout = uptime.ReplaceAllString(want.Stdout, ""), uptime.ReplaceAllString(got.Stdout, "")
	if traced := slices.ContainsFunc(strings.Fields(line), func(w string) bool { return w == "-d" || w == "--debug" }); traced {
		want.Stderr, got.Stderr = "", "" // ibkit has another trace
	}
	compareResults(t, want, got)
	own := func(text string) (kept string) {
		for line := range strings.Lines(text) {
			// ibkit reports a configuration file that does not exist.
			if !strings.HasPrefix(line, "ibwarn:") && !strings.HasPrefix(line, "warning: read config: ") {
				kept += buildVersion.ReplaceAllString(line, "")
			}
		}
		return kept
	}
	if want.Code != 255 || strings.Contains(want.Stderr, "vendstat:") {
		if d := cmp.Diff(own(want.Stderr), own(got.Stderr)); d != "" {
			t.Errorf("error output: C tool (-), ibkit (+)\n%s", d)
		}
	}
}
