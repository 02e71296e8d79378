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

// topologyCases are arguments of ibnetdiscover.
var topologyCases = []string{
	"", "-l", "--list", "-H", "-S", "-R", "-g", "-p", "-m", "-f", "-s", "-g -f -m", "-s -l", "-p -f", "-e -o 1", "-o 16 -t 20000 -y 0",
	"--node-name-map {dir}/map", "--node-name-map {dir}/map -g", "--node-name-map {dir}/map -l", "--node-name-map {dir}/map -p",
	"--load-cache {dir}/cache", "--load-cache {dir}/cache -g -m", "--load-cache {dir}/cache -p", "--load-cache {dir}/cache -l",
	"--load-cache {dir}/cache -s -f",
	"--diff {dir}/cache",
}

// topologyOptions are the options that topologyCases lacks: long names, and those of all
// tools.
var topologyOptions = []string{
	"--full --show", "--grouping", "--Hca_list", "--Switch_list", "--Router_list", "--ports", "--max_hops", "--outstanding_smps 4",
	"-z /nonexistent", "--config /nonexistent", "-C ibsim0 -P 1", "--Ca ibsim0 --Port 1", "--timeout 20000", "--m_key 0", "--errors",
	"-v", "--verbose", "-d", "--debug", "-h", "--help", "-V", "--version", "--cache {dir}/again",
}

// topologyErrors are arguments that ibnetdiscover rejects.
var topologyErrors = []string{
	"--load-cache {dir}/nosuch", "--load-cache {dir}/map", "--diff {dir}/nosuch", "--diffcheck nonsense", "--Hca", "-q", "-t 0", "{dir}/nosuch/file",
}

// topologyDiffs are arguments that show changes of links since the cache was written.
// ibnetdiscover crashes at a port without a link whose LID or name differs.
var topologyDiffs = []string{
	"--diff {dir}/cache", "--diff {dir}/cache --diffcheck port", "--diff {dir}/cache --diffcheck sw,port",
	"--diff {dir}/cache --diffcheck ca", "--diff {dir}/cache --diffcheck sw,ca,router,port,nodedesc",
	"--diff {dir}/cache --diffcheck sw,nodedesc", "--load-cache {dir}/cache --diff {dir}/cache",
}

// dateLine is the line of a topology file with the time of the scan.
var dateLine = regexp.MustCompile(`(?m)^# Topology file: generated on \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$`)

// compareTopology compares the exact standard output and the exit code of a classic
// name.
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

// traceLine matches a line of the traces of -v and -d, which have addresses of memory.
var traceLine = regexp.MustCompile(`(?m)^(?:\./libibnetdisc/.*\n|ibdebug: .*\n\n)`)

func normal(text string) string {
	text = traceLine.ReplaceAllString(text, "")
	return buildVersion.ReplaceAllString(dateLine.ReplaceAllString(text, "date"), "version")
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

// topologyShares is the number of fabrics that run all cases together, with -short.
const topologyShares = 10

// scanScripts are the names of scripts that list the nodes of one kind.
var scanScripts = []string{"ibhosts", "ibswitches", "ibrouters", "ibnodes"}

// TestTopology_Arguments compares command lines that do not depend on the fabric.
func TestTopology_Arguments(t *testing.T) {
	t.Parallel()
	b := newRig(t, "/usr/share/doc/ibsim-utils/net-examples/net", true)
	for i, name := range scanScripts {
		lines := []string{"-h", "--help", "-x", "-t", "-P", "--Ca -5", "-y 0 -t 20000", "{dir}/map", "{dir}/nosuch", "a b"}
		b.compareTopology(t, name, ibsimtest.Share(lines, i, 2))
	}
	b.compareTopology(t, "ibnetdiscover", topologyErrors)
	b.compareTopology(t, "ibnetdiscover", topologyOptions)
	b.compareTopology(t, "ibidsverify", []string{"-h", "-x", "-Rx", "-hR"})
	b.compareTopology(t, "ibcacheedit", []string{"-h", "-x", "--switch"})
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
	for _, c := range []string{"--load-cache " + cache, "--load-cache " + cache + " -g -m"} {
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

// TestTopology_File checks that a topology file of ibkit serves ibsim and the scripts
// as one of ibnetdiscover does.
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

// TestTopology_CacheEdit compares the caches that both ibcacheedit write.
func TestTopology_CacheEdit(t *testing.T) {
	b := newRig(t, "/usr/share/doc/ibsim-utils/net-examples/net", true)
	list := nodeLine.FindAllStringSubmatch(b.MustRunC(t, b.host, "ibnetdiscover", "-l").Stdout, -1)
	guids := map[string]string{}
	for _, n := range list {
		guids[n[1]] = n[2]
	}
	port := regexp.MustCompile(`(?m)^caguid=` + strings.Replace(guids["Ca"], "0x0000000000", "0x", 1) + `\n[^\n]*\n\[1\]\(([0-9a-f]+)\)`).
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

// TestTopology_LST runs Debian's ibdmchk on the forwarding tables of opensm, with the
// subnet.lst of opensm and with that of ibkit.
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
