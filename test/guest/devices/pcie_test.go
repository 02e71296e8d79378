//go:build guest

package devices_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/gpu"
	"github.com/ibkit/ibkit/test/guest"
)

// TestPCIe compares the tree, the links and the settings below a root port with Debian's
// lspci: a graphics adapter of AMD and a network adapter below a switch, as GPUs and RDMA
// devices are.
func TestPCIe(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Tools: []string{"lspci", "setpci"}, Programs: []guest.Program{guest.Ibkit},
		Machine: []string{
			"-machine", "q35",
			"-device", "pcie-root-port,id=root,chassis=1", "-device", "x3130-upstream,id=up,bus=root",
			"-device", "xio3130-downstream,id=down0,bus=up,chassis=2", "-device", "xio3130-downstream,id=down1,bus=up,chassis=3",
			"-device", "ati-vga,bus=down0,romfile=", "-device", "e1000e,bus=down1,romfile=",
		},
	})
	before := topology(t, g)
	if len(before.GPUs) != 1 || before.GPUs[0].Vendor != "AMD" || len(before.GPUs[0].Path) != 3 {
		t.Fatalf("got %+v, want a GPU of AMD below three bridges", before)
	}
	first := before.GPUs[0]
	theirs := lspci(t, g, "-n", "-PP", "-s", first.Address)
	var path []string
	for _, a := range append(slices.Clone(first.Path), first.Address) {
		path = append(path, strings.TrimPrefix(a, "0000:"))
	}
	if got, want := strings.Join(path, "/"), theirs[:strings.Index(theirs, " ")]; got != want {
		t.Errorf("got path %s, want %s", got, want)
	}
	compareBridges(t, g, before)
	if got, want := first.BAR, largestRegion(t, lspci(t, g, "-n", "-v", "-s", first.Address)); got != want || want == 0 {
		t.Errorf("got BAR of %d bytes, lspci has %d", got, want)
	}
	if first.AER == nil && before.Bridges[0].AER == nil {
		t.Errorf("got no AER totals, want those of the root port: %+v", before.Bridges[0])
	}
	sampled := parseTopology(t, g.MustRun(t, "ibkit", "devinfo", "--topology", "--json", "--window", "1s"))
	if sampled.Window == nil || len(sampled.Findings) != len(before.Findings) {
		t.Errorf("--window: got window %v, findings %+v, want %+v", sampled.Window, sampled.Findings, before.Findings)
	}
	root := first.Path[0] // the ports of this switch have no ACS
	g.Must(t, "setpci", "-s", root, "ECAP_ACS+6.w=1d")
	after := topology(t, g)
	compareBridges(t, g, after)
	i := slices.IndexFunc(after.Bridges, func(b *gpu.Bridge) bool { return b.Address == root })
	if redirect := after.Bridges[i].ACSRedirect; redirect == nil || !*redirect {
		t.Errorf("ACS redirection of %s after setpci: got %v, want true", root, redirect)
	}
	unprivileged, err := g.Run(t.Context(), guest.Command{Args: []string{"ibkit", "devinfo", "--topology", "--json"}, User: true})
	if err != nil || unprivileged.Code != 0 {
		t.Fatalf("unprivileged: exit code %d, %v\n%s", unprivileged.Code, err, unprivileged.Stderr)
	}
	if !parseTopology(t, unprivileged).Restricted {
		t.Error("unprivileged: got readable settings, want restricted")
	}
}

// largestRegion returns the size of the largest memory region in the output of lspci -v.
func largestRegion(t *testing.T, text string) uint64 {
	t.Helper()
	var largest uint64
	for _, m := range regexp.MustCompile(`Memory at .*\[size=(\d+)([KMG])\]`).FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseUint(m[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, n<<map[string]int{"K": 10, "M": 20, "G": 30}[m[2]])
	}
	return largest
}

func topology(t *testing.T, g *guest.Guest) *gpu.Topology {
	t.Helper()
	return parseTopology(t, g.MustRun(t, "ibkit", "devinfo", "--topology", "--json"))
}

func parseTopology(t *testing.T, r guest.Result) *gpu.Topology {
	t.Helper()
	var found gpu.Topology
	if err := json.Unmarshal([]byte(r.Stdout), &found); err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	return &found
}

func lspci(t *testing.T, g *guest.Guest, args ...string) string {
	t.Helper()
	return g.MustRun(t, append([]string{"lspci"}, args...)...).Stdout
}

var (
	lnkSta = regexp.MustCompile(`LnkSta:\s+Speed ([0-9.]+)GT/s.*Width x(\d+)`)
	acsCtl = regexp.MustCompile(`ACSCtl:.* ReqRedir([+-]) CmpltRedir([+-])`)
	kind   = regexp.MustCompile(`Express \(v\d\) (Root Port|Upstream Port|Downstream Port)`)
)

// compareBridges compares the bridges with lspci -vvv.
func compareBridges(t *testing.T, g *guest.Guest, found *gpu.Topology) {
	t.Helper()
	for _, b := range found.Bridges {
		text := lspci(t, g, "-n", "-vvv", "-s", b.Address)
		if m := kind.FindStringSubmatch(text); m == nil || !strings.HasSuffix(b.Type, strings.ToLower(m[1])) {
			t.Errorf("%s: got type %q, want %q", b.Address, b.Type, m)
		}
		if m := lnkSta.FindStringSubmatch(text); m == nil || b.Width == nil || b.Speed == nil ||
			strconv.Itoa(*b.Width) != m[2] || !strings.HasPrefix(strings.Replace(*b.Speed, ".0 ", " ", 1), m[1]+" GT/s") {
			t.Errorf("%s: got link %+v, want %q", b.Address, b.Link, m)
		}
		m := acsCtl.FindStringSubmatch(text)
		switch {
		case m == nil && b.ACSRedirect != nil, m != nil && (b.ACSRedirect == nil || *b.ACSRedirect != (m[1] == "+" || m[2] == "+")):
			t.Errorf("%s: got ACS redirection %v, want %q", b.Address, b.ACSRedirect, m)
		}
	}
}
