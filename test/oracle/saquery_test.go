package oracle

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// saqueryLines are saquery command lines with replies that fit in a single packet: neither
// simulator passes longer replies on to the C tool. LID, LID2 and SWLID are replaced with
// the LIDs of two adapters and a switch.
var saqueryLines = []string{
	"-c", "CPI", "classportinfo", "-s", "NR LID", "NR SWLID", "NodeRecord LID2", "NR 77", "NR 0", "NR 70000", "NR -5", "LID", "-N LID",
	"SMIR", "SMIR SMLID", "SMIR LID2", "SWIR SWLID", "SWIR LID", "switchinforecord SWLID",
	"LR LID", "LR SWLID/1", "LR LID/1 SWLID", "linkrecord LID/x", "LR LID SWLID/99", "LR /1", "LR LID/1/2/3",
	"--src-to-dst LID:LID2", "--src-to-dst LID:SWLID", "--src-to-dst LID:99", "--src-to-dst LID", "--src-to-dst LID:0",
	"--sgid-to-dgid GID-GID2", "--sgid-to-dgid GID", "--sgid-to-dgid x-y",
	"-p --slid LID --dlid LID2", "PR --slid LID --dlid LID2", "-p --slid LID --dlid LID2 -r 1", "-p --slid LID --dlid LID2 -r 0",
	"-p --slid LID --dlid LID2 --sl 1", "-p --slid LID --dlid LID2 -n 1", "-p --slid LID --dlid LID2 -R 3", "-p --slid LID --dlid LID2 -R 67",
	"-p --slid LID --dlid LID2 -M 4", "-p --slid LID --dlid LID2 -M 0x84", "-p --slid LID --dlid LID2 --pkey 0xffff", "-p --slid LID --dlid LID2 --pkey 0x8001",
	"-p --slid LID --dlid LID2 --pkt_lifetime 18", "-p --slid LID --dlid LID2 -Q 0", "-p --slid LID --dlid LID2 -T 0", "-p --slid LID --dlid LID2 -H 0",
	"-p --sgid GID --dgid GID2", "-p --sgid x", "--dlid LID2 --slid LID --pa", "-p --slid LID --dlid LID2 -F 0 --service_id 0",
	"PKTR LID", "--smkey 1 PKTR LID/1/0", "--smkey 0x1 PKTR LID", "SL2VL LID", "SL2VL LID/0/0", "GIR LID/0", "GIR LID", "GIR LID/9", "VLAR LID/1/1", "VLAR LID/1/9",
	"LFTR SWLID/0", "LFTR SWLID/9", "MFTR", "MFTR SWLID", "MFTR SWLID/0/0", "PIR LID/1", "PIR LID/9", "PIR SWLID/0", "-K PIR LID/1", "--show_keys PIR LID/1",
	"-S", "SR", "-I", "IIR", "IIR GID", "IIR x", "IIR fe80::1", "-g", "-m", "-m 0xc000", "MCMR", "MCMR --mlid 0xc000", "MCMR --mlid 0xc001",
	"MCMR --mgid ff12:401b:ffff::ffff:ffff", "MCMR --gid GID", "MCMR -q 0xb1b", "MCMR -J 1", "MCMR --scope 2", "MCMR --sl 0 -H 0", "MCMR -X 0",
	"nosuch", "-L", "-l", "-G", "-O", "-U", "-O 0", "-h", "--nosuch", "--s", "-x LID", "-t x -c", "-C nosuch -c",

	"--p --slid LID --dlid LID2", "--N LID", "--L", "--l", "--G", "--O LID", "-O LID", "--U", "--g", "--m", "--m 0xc000", "--c", "--S",
	"--I", "--node-name-map MAP NR SWLID", "-p --slid LID --dlid LID2 --reversible 1", "-p --slid LID --dlid LID2 --numb_path 1",
	"-p --slid LID --dlid LID2 --qos_class 0", "-p --slid LID --dlid LID2 --mtu 0x84", "-p --slid LID --dlid LID2 --rate 3", "MCMR --qkey 0xb1b",
	"-p --slid LID --dlid LID2 --tclass 0", "-p --slid LID --dlid LID2 --flow_label 0", "-p --slid LID --dlid LID2 --hop_limit 0",
	"MCMR --join_state 1", "MCMR --proxy_join 0", "--config /nonexistent -c", "-z /nonexistent -c", "--Ca ibsim0 -c", "-C ibsim0 -c", "--Port 1 -c",
	"-P 1 -c", "--timeout 2000 -c", "-t 2000 -c", "--errors -c", "-e -c", "--verbose -c", "-v -c", "--debug -c", "-d -c", "--help", "--version", "-V",
}

// TestSaqueryClassic compares ibkit's saquery with Debian's on served fabrics.
func TestSaqueryClassic(t *testing.T) {
	t.Parallel()
	hosts := map[string]string{"demo": "node07", "fat-tree:levels=2,radix=8,pods=4": "host00007"}
	for i, fabric := range slices.Sorted(maps.Keys(hosts)) {
		t.Run(fabric, func(t *testing.T) {
			host := hosts[fabric]
			r := &addrRig{Sim: serveFabric(t, fabric), host: host}
			r.scan(t)
			r.sm = strings.TrimSpace(r.MustRun(t, host, ibkit(), "addr", "--plain", "--columns", "sm-lid").Stdout)
			compareSaquery(t, r, ibsimtest.Every(saqueryLines, i, len(hosts)))
		})
	}
}

// buildVersion matches a tool version.
var buildVersion = regexp.MustCompile(`BUILD VERSION: .*`)

// counting matches numbers that change with each query.
var counting = regexp.MustCompile(`(?m)^\t\tActCount.*$`)

func compareSaquery(t *testing.T, r *addrRig, lines []string) {
	words := smpWords(t, r)
	var other *addrNode
	for i := range r.nodes {
		if n := &r.nodes[i]; n.Type != "Switch" && n.LID != 0 && other == nil {
			other = n
		}
	}
	gid := func(guid string) string {
		d := strings.TrimPrefix(guid, "0x")
		return "fe80::" + d[:4] + ":" + d[4:8] + ":" + d[8:12] + ":" + d[12:]
	}
	expand := strings.NewReplacer(append([]string{"LID2", fmt.Sprint(other.LID), "GID2", gid(other.guid()), "GID", gid(words[7])}, words...)...)
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(expand.Replace(line))
			want := r.MustRunC(t, r.host, "saquery", args...)
			got := r.MustRun(t, r.host, ibkit(), append([]string{"saquery"}, args...)...)
			mask := func(s string) string { return buildVersion.ReplaceAllString(counting.ReplaceAllString(s, ""), "") }
			if d := cmp.Diff(mask(want.Stdout), mask(got.Stdout)); d != "" || got.Code != want.Code {
				t.Errorf("got exit code %d, want %d; C tool (-), ibkit (+)\n%s%s%s", got.Code, want.Code, d, want.Stderr, got.Stderr)
			}
			// ibkit has another trace, and reports a configuration file that does not exist.
			own := args[0] == "-d" || args[0] == "--debug" || args[0] == "-z" || args[0] == "--config"
			if !own && !strings.Contains(want.Stderr, "ibwarn") && mask(got.Stderr) != mask(want.Stderr) && want.Code != 255 {
				t.Errorf("got\n%s\nwant\n%s", got.Stderr, want.Stderr)
			}
		})
	}
}
