//go:build oracle

package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/test/netgen"
)

// newRig starts ibsim on a net. If configured is set, opensm assigns LIDs and makes the
// ports active.
func newRig(t *testing.T, net string, configured bool) *rig {
	t.Helper()
	b := &rig{Sim: ibsimtest.New(t, net), net: net, dir: t.TempDir(), host: firstHost(t, net)}
	if configured {
		b.OpenSM(t, b.host)
	}
	b.writeFiles(t)
	return b
}

func firstHost(t *testing.T, net string) string {
	t.Helper()
	text, err := os.ReadFile(net)
	if err != nil {
		t.Fatal(err)
	}
	m := hostLine.FindSubmatch(text)
	if m == nil {
		t.Fatalf("%s has no host", net)
	}
	return string(m[1])
}

func TestSameAsC(t *testing.T) {
	t.Parallel()
	for i, net := range nets(t) {
		for k, state := range []string{"unconfigured", "configured"} {
			t.Run(filepath.Base(net)+"/"+state, func(t *testing.T) {
				b := newRig(t, net, state == "configured")
				b.compare(t, ibsimtest.Share(cases, 2*i+k, linkinfoShares))
				b.MustCommand(t, fmt.Sprintf("Unlink %q", lastSwitchOrHost(t, net)))
				t.Run("unlinked", func(t *testing.T) { b.compare(t, ibsimtest.Share(afterUnlink, 2*i+k, linkinfoShares)) })
			})
		}
	}
}

// TestDiffOfOneNode compares the differences on a single node with the differences that
// the C tool finds in the whole fabric.
func TestDiffOfOneNode(t *testing.T) {
	b := newRig(t, "/usr/share/doc/ibsim-utils/net-examples/net", true)
	b.MustCommand(t, `Unlink "Hca1"`)
	var want []string
	for _, block := range blocks(b.MustRunC(t, b.host, "iblinkinfo", b.args("--diff {dir}/cache")...).Stdout) {
		if strings.HasPrefix(block, "CA: Hca1:") {
			want = append(want, block)
		}
	}
	got := blocks(b.ours(t, "--diff {dir}/cache -D 0").Stdout)
	if d := cmp.Diff(want, got); d != "" || len(want) != 1 {
		t.Errorf("the C tool on the whole fabric (-), ibkit on one node (+)\n%s", d)
	}
}

// nets returns the net files: ibsim examples, files in test/nets, and a fat tree. The
// examples are similar: by default they are the smallest and the largest example.
func nets(t *testing.T) []string {
	t.Helper()
	find := func(pattern string) []string {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("find %s: %v, %v", pattern, files, err)
		}
		return files
	}
	examples := find("/usr/share/doc/ibsim-utils/net-examples/net*")
	found := append(ibsimtest.Share(examples, 0, len(examples)-1), find("../nets/*.net")...)
	return append(found, ibsimtest.WriteNet(t, "ft100", netgen.Shapes["ft100"]))
}

var anyNodeLine = regexp.MustCompile(`(?m)^(?:Switch|Hca|Ca)\s+\d+\s+"([^"]+)"`)

// lastSwitchOrHost returns the ID of the last node of a net file. Without its links, most
// fabrics change in more than one place.
func lastSwitchOrHost(t *testing.T, net string) string {
	t.Helper()
	text, err := os.ReadFile(net)
	if err != nil {
		t.Fatal(err)
	}
	all := anyNodeLine.FindAllSubmatch(text, -1)
	return string(all[len(all)-1][1])
}

// TestCacheIsReadByC checks that the C tool prints the same from an ibkit cache as from an
// ibnetdiscover cache.
func TestCacheIsReadByC(t *testing.T) {
	t.Parallel()
	for _, net := range nets(t) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			b := newRig(t, net, true)
			ibkit := filepath.Join(filepath.Dir(*binary), "ibkit")
			cache := filepath.Join(b.dir, "ours")
			if r := b.MustRun(t, b.host, ibkit, "linkinfo", "--save", cache); r.Code != 0 && r.Code != 3 {
				t.Fatalf("ibkit linkinfo --save: got exit code %d: %s", r.Code, r.Stderr)
			}
			theirs := b.MustRunC(t, b.host, "iblinkinfo", b.args("--load-cache {dir}/cache")...)
			ours := b.MustRunC(t, b.host, "iblinkinfo", "--load-cache", cache)
			if d := diff(theirs, ours); d != "" {
				t.Errorf("the C tool from ibnetdiscover's cache (-), from ibkit's (+)\n%s", d)
			}
		})
	}
}
