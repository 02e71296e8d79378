package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

var perfqueryLines = []string{
	"", "1 1", "2 1", "2", "-x 2 2", "-x 4 5", "-x", "-a", "-l", "-a 2", "-x -a 2", "-a 2 1-3", "-a 2 1,3", "-a -x 2 1-8", "-a 1", "-a -x 1",
	"-l 2 1-3", "-l 2 1,2", "-l 2 255", "-l -a 2", "-a -l -x 2", "-a -l 1", "-l 1", "1 255", "2 255", "-x 2 255",
	"2 9", "2 ,", "2 1,", "2 ,,3", "2 x", "2 300", "-- 2 -1", "2 5-3", "2 x-3", "2 1-3-5", "2 1-8 0x0fff", "2 0x1",
	"-X 2 1", "-S 2 1", "-D 2 2", "-E 4 5", "-T 2 1", "-e -T 2 1", "-c 2 1", "-e -c 2 1", "-X -E 4 5",
	"--oprcvcounters 3 1", "--flowctlcounters 3 1", "--vloppackets 3 1", "--vlopdata 3 1", "--vlxmitflowctlerrors 3 1", "--vlxmitcounters 2 1",
	"--swportvlcong 2 1",
	"--xmtsl 2 1", "--rcvsl 2 1", "--xmtdisc 2 2", "--rcverr 4 5", "--extended_s 2 1", "--smplctl 2 1", "--ext 2 1",
	"-r 2 1", "-r 2 1,2", "-x -r 2 1-3", "-a -r 2", "-R 2 1", "-R 2 2 0x0020", "-R 2 2 0x0040", "-R 2 2 0", "-R -a 2", "-R -a 1", "-R -l 2 255",
	"-R 2 1-3 0x0fff", "-R 2 1-3 0xf000", "-x -R 4 5", "-x -R 2 1 0xff", "-D -R 2 2", "-D -r 2 2 0x1", "-E -R 4 5 0x4", "-E -r 4 5", "-T -R 2 1", "-T -r 2 1 0x3",
	"--oprcvcounters -R 3 1", "-R 2 9", "-x -R 2 9", "-D -R 2 9", "-l -R 2 1,2",
	"-t 20000 77 1", "-t 20000 -e 77 1", "-t 0 1", "-t x 1", "-t 20000 -x 77", "-t 20000 -R 77 1", "xx 1", "0 1", "65536 1",
	"-v 2 1", "-vv 2 1", "-e 2 9", "-d 2 1", "-d 2 9", "-d -T 2 1", "-d -R 2 1", "-d -T -R 2 1", "-y 5 2 1", "-L 2 1", "-s 1 2 1", "-C ibsim0 2 1", "-C ibsim0 -P 1 2 1", "-P 9 2 1",
	"-G x", "--nosuch", "-K 2 1", "-h", "--r 2 1", "-z /nonexistent 2 1",

	"--extended 2 2", "--extended_speeds 2 1", "--all_ports 2", "--all_ports --extended 2 1-3", "--loop_ports 2 1-3", "--loop_ports --extended 2 1,2",
	"--reset_after_read 2 1", "--reset_after_read --extended 2 1-3", "--Reset_only 2 2 0x0040", "--Reset_only --all_ports 2", "--Reset_only --extended 4 5",
	"--config /nonexistent 2 1", "--Ca ibsim0 2 1", "--Port 1 2 1", "--Lid 2 1", "--timeout 2000 2 1", "--sm_port 1 2 1", "--m_key 5 2 1",
	"--errors 2 9", "--errors --timeout 20000 77 1", "--verbose 2 1", "--debug 2 1", "--debug 2 9", "--help", "--version", "-V",
}

// perfqueryServed are lines for which ibsim does not reply.
var perfqueryServed = []string{"--swportvlcong 1 1", "--rcvcc 1 1", "--slrcvfecn 1 1", "--slrcvbecn 1 1", "--xmitcc 1 1", "--vlxmittimecc 1 1", "-G GUID", "-G GUID 2", "-G 0xdead", "--Guid GUID 1-3", "--Guid -l GUID 1-3"}

// TestPerfqueryClassic compares perfquery on a worn fabric.
func TestPerfqueryClassic(t *testing.T) {
	t.Parallel()
	r := newPMARig(t)
	r.compare(t, "perfquery", slices.Concat(ibsimtest.Share(perfqueryLines, 1, 2), perfqueryServed), "GUID", switchGUID(t, r))
}

// switchGUID returns a switch GUID.
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

// overwritten are the counters at packet bytes 224 to 239, which libumad2sim.so overwrites
// in the replies that it receives.
var overwritten = regexp.MustCompile(`(?m)^(VL15Dropped|PortXmitWait):.*\n`)

// TestErrorCorrection compares the PortExtendedSpeedsCounters layouts, with counters for
// each error correction mode, and the counters that ibkit counters reads.
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
	for _, caps := range []string{"0xd300 2", "0x5200", "0x9300 2"} { // with and without RS-FEC counters
		ctl(t, s, "perfcaps switch1 "+caps)
		t.Run(caps, func(t *testing.T) {
			r.compare(t, "perfquery", []string{"-T SW 1", "-T SW 2", "-T SW 3", "-T -a SW", "-T -l SW 1-4", "--extended_s SW 3"}, "SW", sw)
		})
	}
}
