//go:build oracle

package oracle

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/releases"
)

// releaseLines have each infiniband-diags program, and the usage texts of all programs.
// Words in capitals are replaced as in smpLines.
var releaseLines = []string{
	"dump_fts", "dump_lfts", "dump_mfts", "ibaddr LID", "ibccquery CI LID", "ibhosts", "iblinkinfo", "iblinkinfo -l", "ibnetdiscover", "ibnetdiscover -p", "ibnodes",
	"ibportstate -D 0,1 1", "ibqueryerrors", "ibqueryerrors --details", "ibroute SWLID", "ibrouters", "ibstat -l", "ibstat -p",
	"ibswitches", "ibsysstat -t 100 DEAD", "ibtracert SMLID LID", "perfquery SWLID 1", "saquery", "saquery PIR", "sminfo",
	"smpdump LID 16", "smpquery ni LID", "smpquery pi SWLID 1", "smpquery si SWLID", "vendstat -N SWLID",

	"check_lft_balance -h", "dump_fts -h", "ibaddr -h", "ibcacheedit -h", "ibccconfig -h", "ibccquery -h", "ibfindnodesusing -h", "ibhosts -h", "ibidsverify -h", "iblinkinfo -h",
	"ibnetdiscover -h", "ibnodes -h", "ibping -h", "ibportstate -h", "ibqueryerrors -h", "ibroute -h", "ibrouters -h", "ibstat -h", "ibstatus -h", "ibswitches -h",
	"ibsysstat -h", "ibtracert -h", "perfquery -h", "saquery -h", "sminfo -h", "smpdump -h", "smpquery -h", "vendstat -h",
	"ibv_devinfo --nosuch", "ibv_asyncwatch -h", "ibv_rc_pingpong --nosuch", "ibv_uc_pingpong --nosuch", "ibv_srq_pingpong --nosuch", "ibv_xsrq_pingpong --nosuch", "cmtime -x",
	"mckey -x", "rdma_client -x", "rdma_server -x", "rdma_xclient -x", "rdma_xserver -x", "ucmatose -x", "udaddy -x", "udpong -x",
}

// TestReleases compares ibkit with the programs of other Debian releases, as far as the
// releases do not differ by the list in package releases.
func TestReleases(t *testing.T) {
	r := &addrRig{Sim: ibsimtest.New(t, "/usr/share/doc/ibsim-utils/net-examples/net.2sw2path4hca2port"), host: "Hca1"}
	r.NewSM(t, r.host)
	r.scan(t)
	r.sm = lidOf(t, r.Sim, r.host)
	words := strings.NewReplacer(smpWords(t, r)...)
	all := testenv.Cases([]*debian.Release{debian.Bookworm, debian.Trixie}, debian.Sid)
	lack := map[*debian.Release][]*releases.Difference{}
	for _, line := range releaseLines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(words.Replace(line))
			ours := comparable(args[0], r.MustRun(t, r.host, ibkit(), args...))
			for _, release := range all {
				theirs := r.MustRunRelease(t, release, r.host, args[0], args[1:]...)
				lack[release] = append(lack[release], releases.Lacking(args[0], theirs.Stdout+theirs.Stderr)...)
				if d := cmp.Diff(comparable(args[0], theirs), ours); d != "" {
					t.Errorf("rdma-core %s (-), ibkit (+):\n%s", release.RDMACore, d)
				}
			}
		})
	}
	t.Run("differences", func(t *testing.T) { checkDifferences(t, lack) })
}

// checkDifferences checks that older releases lack each listed difference that can be seen,
// and that newer releases do not.
func checkDifferences(t *testing.T, lack map[*debian.Release][]*releases.Difference) {
	for i := range releases.Differences {
		d := &releases.Differences[i]
		t.Logf("%s: since %s: %s", strings.Join(d.Programs, ", "), d.Since.RDMACore, d.Text)
		if !d.Shown() {
			continue
		}
		for release, lacking := range lack {
			if got, want := slices.Contains(lacking, d), release.Before(d.Since); got != want {
				t.Errorf("rdma-core %s lacks it: got %v, want %v: %s", release.RDMACore, got, want, d.Text)
			}
		}
	}
}

// A compared has the parts of a result that do not depend on the release.
type compared struct {
	Stdout, Warnings string
	Code             int
}

// comparable returns the result of a program with the output of the release that ibkit
// follows, without the lines that only some releases have.
func comparable(program string, r ibsimtest.Result) compared {
	r.Stdout = releases.Common(program, releases.Upgrade(program, r.Stdout))
	r.Stderr = releases.Common(program, releases.Upgrade(program, r.Stderr))
	return compared{maskRun(r.Stdout), warnings(r), r.Code}
}
