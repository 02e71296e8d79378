package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// cases are iblinkinfo arguments. {dir} is replaced with the directory that has the cache
// and the name map.
var cases = []string{
	"",
	"-l",
	"-d",
	"-d -l",
	"-p",
	"-p -l",
	"-o 1",
	"--switches-only",
	"--cas-only",
	"--switches-only --line",
	"--switches-only --cas-only",
	"--cas-only --switches-only",
	"-D 0",
	"-D 0,1",
	"-D 0,1 -l",
	"-D 0,1 -d",
	"-D 0,1 --switches-only",
	"-D 0,1 --cas-only",
	"-D 0,200",
	"--node-name-map {dir}/map",
	"--node-name-map {dir}/map -l",
	"--load-cache {dir}/cache",
	"--load-cache {dir}/cache -l -p",
	"--load-cache {dir}/cache --switches-only",
	"--load-cache {dir}/nosuch",
	"--load-cache {dir}/map",
	"--load-cache {dir}/cache -D 0,1",
	"--diff {dir}/cache",
	"--diff {dir}/nosuch",
	"--filterdownports {dir}/cache",
	"--filterdownports {dir}/cache -d",
	"--filterdownports {dir}/nosuch",
	"--no-such-flag",
}

// A rig is a simulated fabric with the files in cases.
type rig struct {
	*ibsimtest.Sim
	net    string // net file
	dir    string
	host   string // the node to which the tools attach
	expand *strings.Replacer
}

// writeFiles writes a cache with ibnetdiscover, and a name map for every other node.
func (b *rig) writeFiles(t *testing.T) {
	t.Helper()
	cache := filepath.Join(b.dir, "cache")
	if r := b.MustRunC(t, b.host, "ibnetdiscover", "--cache", cache); r.Code != 0 {
		t.Fatalf("ibnetdiscover: got exit code %d, want 0: %s", r.Code, r.Stderr)
	}
	nodes := nodeLine.FindAllStringSubmatch(b.MustRunC(t, b.host, "ibnetdiscover", "-l").Stdout, -1)
	var names strings.Builder
	names.WriteString("# a comment\n\n")
	for i, n := range nodes {
		if i%2 == 0 {
			fmt.Fprintf(&names, "%s \"rack %d / %s\"\n", n[2], i, n[1])
		}
	}
	if err := os.WriteFile(filepath.Join(b.dir, "map"), []byte(names.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	b.expand = strings.NewReplacer("{dir}", b.dir)
}

// args returns the arguments of a case.
func (b *rig) args(line string) []string { return strings.Fields(b.expand.Replace(line)) }

// differs reports whether the ibkit output differs on purpose.
//
// The C tool continues from an adapter as from a switch, by a route that leaves the adapter
// again, and reports "Port not available" for the link it came by. ibkit shows the peer.
//
// With -D, the C tool compares the new state of a node with itself, and finds no
// difference. TestDiffOfOneNode tests ibkit.
func differs(net, line string) bool {
	return filepath.Base(net) == "back-to-back.net" && strings.HasPrefix(line, "-D 0,1") ||
		strings.HasPrefix(line, "--diff") && strings.HasSuffix(line, "-D 0")
}

// compare runs both tools on each case.
func (b *rig) compare(t *testing.T, cases []string) {
	t.Helper()
	for _, c := range cases {
		if differs(b.net, c) {
			continue
		}
		t.Run(strings.ReplaceAll(c, "/", "_"), func(t *testing.T) {
			want := b.MustRunC(t, b.host, "iblinkinfo", b.args(c)...)
			got := b.ours(t, c)
			if strings.Contains(got.Stderr, fabric.ErrBlind.Error()) {
				got.Stderr = want.Stderr // the C tool does not mention that its own link is down
			}
			if d := diff(want, got); d != "" {
				t.Errorf("iblinkinfo %s: C tool (-), ibkit (+)\n%s", c, d)
			}
		})
	}
}

// ours runs the program under test.
func (b *rig) ours(t *testing.T, line string) ibsimtest.Result {
	t.Helper()
	return b.MustRun(t, b.host, *binary, b.args(line)...)
}

// TestLinkinfo_Served compares iblinkinfo on a served fabric, before and after a host loses
// power.
func TestLinkinfo_Served(t *testing.T) {
	b := newServedRig(t, "fat-tree:radix=4,pods=2,spines=2", "host00003")
	b.compare(t, cases)
	ctl(t, b.Sim, "down host00002")
	t.Run("unlinked", func(t *testing.T) { b.compare(t, afterUnlink) })
}

// afterUnlink are arguments that show link changes since the cache was written.
var afterUnlink = []string{
	"--diff {dir}/cache",
	"--diff {dir}/cache -l",
	"--diff {dir}/cache --switches-only",
	"--diff {dir}/cache --cas-only",
	"--diff {dir}/cache --diffcheck port",
	"--diff {dir}/cache --diffcheck state",
	"--diff {dir}/cache --diffcheck port,lid",
	"--diff {dir}/cache --diffcheck lid,nodedesc",
	"--diff {dir}/cache --diffcheck port,state,lid,nodedesc",
	"--diff {dir}/cache --diffcheck nonsense",
	"--diff {dir}/cache --diffcheck port,,state,",
	"--diff {dir}/cache --diffcheck ,",
	"--diff {dir}/cache -D 0",
	"--filterdownports {dir}/cache",
	"--filterdownports {dir}/cache -d -l",
	"--load-cache {dir}/cache",
	"",
}

// linkinfoShares is the number of fabrics that run all cases together, by default. It is
// odd, so that each case runs in configured fabrics and in others.
const linkinfoShares = 9
