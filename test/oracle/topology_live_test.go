//go:build oracle

package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/netgen"
)

// topologyDiffs are arguments that show link changes since the cache was written.
// ibnetdiscover crashes at a port without a link if the LID or name differs.
var topologyDiffs = []string{
	"--diff {dir}/cache", "--diff {dir}/cache --diffcheck port", "--diff {dir}/cache --diffcheck sw,port",
	"--diff {dir}/cache --diffcheck ca", "--diff {dir}/cache --diffcheck sw,ca,router,port,nodedesc",
	"--diff {dir}/cache --diffcheck sw,nodedesc", "--load-cache {dir}/cache --diff {dir}/cache",
}

// TestTopology_Classic compares ibnetdiscover with all options, and the scripts.
func TestTopology_Classic(t *testing.T) {
	t.Parallel()
	for i, net := range nets(t) {
		for _, configured := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/configured=%t", filepath.Base(net), configured), func(t *testing.T) {
				b := newRig(t, net, configured)
				if !configured {
					b.compareTopology(t, "ibnetdiscover", ibsimtest.Share([]string{"", "-l", "-g -f -m", "-p", "-s"}, i, topologyShares))
					return
				}
				b.compareTopology(t, "ibnetdiscover", ibsimtest.Share(topologyCases, i, topologyShares))
				for k, name := range scanScripts {
					b.compareTopology(t, name, ibsimtest.Share([]string{"", "-t 20000"}, i+k, 2))
				}
				b.compareTopology(t, "ibidsverify", []string{"-R"})
				b.sameCaches(t)
				b.MustCommand(t, fmt.Sprintf("Unlink %q", lastSwitchOrHost(t, net)))
				b.compareTopology(t, "ibnetdiscover", ibsimtest.Share(topologyDiffs, i, topologyShares))
			})
		}
	}
}

// TestTopology_Arguments compares command lines that do not depend on the fabric.
func TestTopology_Arguments(t *testing.T) {
	t.Parallel()
	newRig(t, "/usr/share/doc/ibsim-utils/net-examples/net", true).compareArguments(t)
}

// TestTopology_File checks that an ibkit topology file serves ibsim and the scripts as an
// ibnetdiscover file does.
func TestTopology_File(t *testing.T) {
	t.Parallel()
	for i, net := range nets(t) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			b := newRig(t, net, true)
			ours, theirs := filepath.Join(b.dir, "ours.topo"), filepath.Join(b.dir, "theirs.topo")
			b.MustRun(t, b.host, native(), "ibnetdiscover", ours)
			b.MustRunC(t, b.host, "ibnetdiscover", theirs)
			if d := cmp.Diff(normal(read(t, theirs)), normal(read(t, ours))); d != "" {
				t.Errorf("C tool (-), ibkit (+)\n%s", d)
			}
			for _, name := range ibsimtest.Share(scanScripts, i, len(scanScripts)) {
				want := b.MustRunC(t, b.host, name, ours)
				for _, file := range []string{ours, theirs} {
					if got := b.MustRun(t, b.host, native(), name, file); got.Stdout != want.Stdout {
						t.Errorf("%s: C tool (-), ibkit (+)\n%s", name, cmp.Diff(want.Stdout, got.Stdout))
					}
				}
			}
			if strings.Contains(net, "odd-descriptions") {
				return // ibsim reads other names
			}
			again := ibsimtest.New(t, ours)
			want := b.MustRunC(t, b.host, "ibnetdiscover", "-l").Stdout
			if got := again.MustRunC(t, "", "ibnetdiscover", "-l").Stdout; !sameLines(got, want) {
				t.Errorf("ibsim simulates other nodes: %s", cmp.Diff(want, got))
			}
			again.OpenSM(t, "")
		})
	}
}

// TestTopology_CacheEdit compares the caches that both ibcacheedit write.
func TestTopology_CacheEdit(t *testing.T) {
	newRig(t, "/usr/share/doc/ibsim-utils/net-examples/net", true).compareCacheEdit(t)
}

// TestTopology_LST runs Debian's ibdmchk on opensm's forwarding tables, with opensm's
// subnet.lst and with ibkit's.
func TestTopology_LST(t *testing.T) {
	dir := t.TempDir()
	net := ibsimtest.WriteNet(t, "ft100", netgen.Shapes["ft100"])
	s := ibsimtest.New(t, net)
	s.NewSM(t, "", "log_flags 0x43", "dump_files_dir "+dir)
	want, wantText := ibdmchk(t, dir)
	lst := filepath.Join(dir, "opensm-subnet.lst")
	theirs := read(t, lst)
	r := s.MustRun(t, "", native(), "topology", "--format", "lst")
	if err := os.WriteFile(lst, []byte(r.Stdout), 0o644); err != nil {
		t.Fatal(err)
	}
	got, gotText := ibdmchk(t, dir)
	if got != want || want.hops == "" || gotText == "" {
		t.Errorf("got %+v, want %+v\nwith opensm's file:\n%s\nwith ibkit's:\n%s", got, want, wantText, gotText)
	}
	if got, want := strings.Count(r.Stdout, "\n"), strings.Count(theirs, "\n"); got != want {
		t.Errorf("got %d lines, want %d", got, want)
	}
	for _, text := range []string{theirs, r.Stdout} {
		plan := filepath.Join(dir, "plan")
		if err := os.WriteFile(plan, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if r := s.MustRun(t, "", native(), "topology", "--plan", plan); r.Code != 0 {
			t.Errorf("exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
		}
	}
}
