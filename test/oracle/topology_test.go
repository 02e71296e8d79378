package oracle

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// topologyCases are ibnetdiscover arguments.
var topologyCases = []string{
	"", "-l", "--list", "-H", "-S", "-R", "-g", "-p", "-m", "-f", "-s", "-g -f -m", "-s -l", "-p -f", "-e -o 1", "-o 16 -t 20000 -y 0",
	"--node-name-map {dir}/map", "--node-name-map {dir}/map -g", "--node-name-map {dir}/map -l", "--node-name-map {dir}/map -p",
	"--load-cache {dir}/cache", "--load-cache {dir}/cache -g -m", "--load-cache {dir}/cache -p", "--load-cache {dir}/cache -l",
	"--load-cache {dir}/cache -s -f",
	"--diff {dir}/cache",
}

// topologyOptions are the options that topologyCases lacks: long names, and options that
// all tools have.
var topologyOptions = []string{
	"--full --show", "--grouping", "--Hca_list", "--Switch_list", "--Router_list", "--ports", "--max_hops", "--outstanding_smps 4",
	"-z /nonexistent", "--config /nonexistent", "-C ibsim0 -P 1", "--Ca ibsim0 --Port 1", "--timeout 20000", "--m_key 0", "--errors",
	"-v", "--verbose", "-d", "--debug", "-h", "--help", "-V", "--version", "--cache {dir}/again",
}

// topologyErrors are arguments that ibnetdiscover rejects.
var topologyErrors = []string{
	"--load-cache {dir}/nosuch", "--load-cache {dir}/map", "--diff {dir}/nosuch", "--diffcheck nonsense", "--Hca", "-q", "-t 0", "{dir}/nosuch/file",
}

// dateLine is the line of a topology file with the scan time.
var dateLine = regexp.MustCompile(`(?m)^# Topology file: generated on \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$`)

// compareTopology compares a classic name's exact standard output and exit code.
func (b *rig) compareTopology(t *testing.T, name string, cases []string) {
	t.Helper()
	for _, c := range cases {
		t.Run(name+" "+strings.ReplaceAll(c, "/", "_"), func(t *testing.T) {
			want := b.MustRunC(t, b.host, name, b.args(c)...)
			got := b.MustRun(t, b.host, native(), append([]string{name}, b.args(c)...)...)
			if d := cmp.Diff(normal(want.Stdout), normal(got.Stdout)); d != "" || got.Code != want.Code {
				t.Errorf("%s %s: exit code %d, want %d; C tool (-), ibkit (+)\n%s\n%s", name, c, got.Code, want.Code, d, got.Stderr)
			}
		})
	}
}

func normal(text string) string {
	text = traceLine.ReplaceAllString(text, "")
	return buildVersion.ReplaceAllString(dateLine.ReplaceAllString(text, "date"), "version")
}

// sameCaches checks that both tools write the same cache, byte for byte, except for
// descriptions with other characters than printable ASCII, which ibnetdiscover replaces.
func (b *rig) sameCaches(t *testing.T) {
	t.Helper()
	cache := filepath.Join(b.dir, "ours")
	if r := b.MustRun(t, b.host, native(), "ibnetdiscover", "--cache", cache); r.Code != 0 {
		t.Fatalf("ibkit ibnetdiscover --cache: exit code %d, %s", r.Code, r.Stderr)
	}
	got, want := read(t, cache), read(t, filepath.Join(b.dir, "cache"))
	if got != want && !strings.Contains(b.net, "odd-descriptions") {
		t.Errorf("the caches differ: got %d bytes, want %d", len(got), len(want))
	}
	for _, c := range []string{"--load-cache {dir}/ours", "--load-cache {dir}/ours -g -m"} {
		b.compareTopology(t, "ibnetdiscover", []string{c})
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sameLines reports whether two texts have the same lines in any order.
func sameLines(a, b string) bool {
	count := map[string]int{}
	for line := range strings.Lines(a) {
		count[line]++
	}
	for line := range strings.Lines(b) {
		count[line]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// compareCacheEdit compares the caches that both ibcacheedit write.
func (b *rig) compareCacheEdit(t *testing.T) {
	t.Helper()
	list := nodeLine.FindAllStringSubmatch(b.MustRunC(t, b.host, "ibnetdiscover", "-l").Stdout, -1)
	guids := map[string]string{}
	for _, n := range list {
		guids[n[1]] = n[2]
	}
	port := regexp.MustCompile(`(?m)^caguid=0x` + strings.TrimLeft(guids["Ca"], "0x") + `\n[^\n]*\n\[1\]\(([0-9a-f]+)\)`).
		FindStringSubmatch(b.MustRunC(t, b.host, "ibnetdiscover").Stdout)
	if guids["Switch"] == "" || guids["Ca"] == "" || port == nil {
		t.Fatalf("got nodes %v, port %v", guids, port)
	}
	for _, args := range []string{
		"--switchguid " + guids["Switch"] + ":0x1234", "--caguid " + guids["Ca"] + ":0x77",
		"--portguid " + guids["Ca"] + ":0x" + port[1] + ":0x55", "--portguid " + guids["Switch"] + ":" + guids["Switch"] + ":0x56",
		"--sysimgguid " + guids["Switch"] + ":0x9", "--sysimgguid 0x123:0x9", "--switchguid 1:2", "--caguid 1:2", "--portguid 1:2:3",
		"--portguid " + guids["Ca"] + ":2:3", "--switchguid 1", "--portguid 1:2", "",
	} {
		t.Run(args, func(t *testing.T) {
			theirs, ours := filepath.Join(t.TempDir(), "cache"), filepath.Join(t.TempDir(), "cache")
			in := filepath.Join(b.dir, "cache")
			want := b.MustRunC(t, b.host, "ibcacheedit", append(strings.Fields(args), in, theirs)...)
			got := b.MustRun(t, b.host, native(), append(append([]string{"ibcacheedit"}, strings.Fields(args)...), in, ours)...)
			if got.Code != want.Code || got.Stdout != want.Stdout {
				t.Errorf("got exit code %d, output %q, want %d, %q", got.Code, got.Stdout, want.Code, want.Stdout)
			}
			if want.Code == 0 && read(t, ours) != read(t, theirs) {
				t.Error("the caches differ")
			}
		})
	}
}

// compareArguments compares command lines that do not depend on the fabric.
func (b *rig) compareArguments(t *testing.T) {
	t.Helper()
	for i, name := range scanScripts {
		lines := []string{"-h", "--help", "-x", "-t", "-P", "--Ca -5", "-y 0 -t 20000", "{dir}/map", "{dir}/nosuch", "a b"}
		b.compareTopology(t, name, ibsimtest.Share(lines, i, 2))
	}
	b.compareTopology(t, "ibnetdiscover", topologyErrors)
	b.compareTopology(t, "ibnetdiscover", topologyOptions)
	b.compareTopology(t, "ibidsverify", []string{"-h", "-x", "-Rx", "-hR"})
	b.compareTopology(t, "ibcacheedit", []string{"-h", "-x", "--switch"})
}

// newServedRig serves a fabric with ibkit's subnet manager.
func newServedRig(t *testing.T, fabric, host string) *rig {
	t.Helper()
	b := &rig{Sim: serveFabric(t, fabric), dir: t.TempDir(), host: host}
	b.writeFiles(t)
	return b
}

// TestTopology_Served compares ibnetdiscover and the scripts on a served fabric.
func TestTopology_Served(t *testing.T) {
	b := newServedRig(t, "fat-tree:radix=4,pods=2,spines=2", "host00003")
	b.compareTopology(t, "ibnetdiscover", topologyCases)
	for _, name := range scanScripts {
		b.compareTopology(t, name, []string{"", "-t 20000"})
	}
	b.compareTopology(t, "ibidsverify", []string{"-R"})
	b.sameCaches(t)
}

// TestTopology_ServedArguments compares command lines that do not depend on the fabric, and
// ibcacheedit.
func TestTopology_ServedArguments(t *testing.T) {
	b := newServedRig(t, "single-switch:hosts=2,radix=4", "host002")
	b.compareArguments(t)
	b.compareCacheEdit(t)
}

// scanScripts are the names of scripts that list all nodes of a kind.
var scanScripts = []string{"ibhosts", "ibswitches", "ibrouters", "ibnodes"}

// topologyShares is the number of fabrics that run all cases together, by default.
const topologyShares = 10
