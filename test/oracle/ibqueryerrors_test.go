package oracle

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

var ibqueryerrorsLines = []string{
	"", "-r", "--details", "--details -r", "--data", "--data -r", "--counters", "--counters -r", "--switch", "--ca", "--router", "--switch --ca", "--counters --switch",
	"-c", "-s SymbolErrorCounter,LinkDownedCounter", "-s SymbolErrorCounter -s PortXmitWait,VL15Dropped,nosuch -c", "-s ,",
	"--threshold-file {dir}/thresholds", "--threshold-file {dir}/empty", "--node-name-map {dir}/map -r", "--skip-sl", "--skip-sl -r --ca", "-R", "-o 1", "-e", "-t 500 --switch", "-y 5",
	"-D 0", "-D 0,1", "-D 0,1 --details", "-D 0 --skip-sl", "-D x", "-G CAGUID", "-G x", "--load-cache {dir}/cache", "--load-cache {dir}/cache -r --details",
	"--load-cache {dir}/cache -G GUID", "--load-cache {dir}/cache -S GUID --data", "--load-cache {dir}/nosuch", "--load-cache {dir}/cache -D 0", "--load-cache {dir}/map",
	"-k", "-K", "-k -K", "-k --details", "--ca -k", "--switch -K --counters", "-k --counters", "-C ibsim0", "-C ibsim0 -P 1", "-P 9", "-h", "--nosuch", "-x", "--d", "--cou",

	"--suppress SymbolErrorCounter", "--suppress-common", "--suppress-common --report-port", "--port-guid CAGUID", "--Direct 0,1", "--report-port --ca", "--GNDN",
	"--clear-errors", "--clear-counts", "--clear-errors --clear-counts --details", "--outstanding_smps 4", "--config /nonexistent", "-z /nonexistent --ca",
	"--Ca ibsim0 --ca", "--Port 1 --ca", "--timeout 2000", "--m_key 0x5 --ca", "--errors --ca", "--verbose --ca", "-v", "-vv --switch", "--debug --skip-sl --ca",
	"-d --skip-sl --switch", "--help", "--version", "-V",
}

// detailNames exchanges the names of the attributes with details, as Debian's
// ibqueryerrors does.
var detailNames = strings.NewReplacer(
	"PortInactiveDiscards", "PortLocalPhysicalErrors", "PortLocalPhysicalErrors", "PortInactiveDiscards",
	"PortNeighborMTUDiscards", "PortMalformedPktErrors", "PortMalformedPktErrors", "PortNeighborMTUDiscards",
	"PortSwLifetimeLimitDiscards", "PortBufferOverrunErrors", "PortBufferOverrunErrors", "PortSwLifetimeLimitDiscards",
	"PortSwHOQLifetimeLimitDiscards", "PortDLIDMappingErrors", "PortDLIDMappingErrors", "PortSwHOQLifetimeLimitDiscards",
)

// TestIbqueryerrorsClassic compares ibqueryerrors on a worn fabric.
func TestIbqueryerrorsClassic(t *testing.T) {
	t.Parallel()
	newPMARig(t).compareErrors(t, ibsimtest.Share(ibqueryerrorsLines, 1, 2))
}

// compareErrors compares ibqueryerrors. Detail names are exchanged in the C tool's output.
func (r *pmaRig) compareErrors(t *testing.T, lines []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"thresholds": "# a comment\n\nSymbolErrorCounter=5000\nPortRcvErrors=10\nLinkDownedCounter=0x10\nPortXmitWait=010\n",
		"empty":      "",
		"map":        "0x0000000000200000 \"my switch\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The C tool's cache is the same.
	if got := r.MustRun(t, r.host, ibkit(), "ibnetdiscover", "--cache", filepath.Join(dir, "cache")); got.Code != 0 {
		t.Fatalf("ibnetdiscover: %s", got.Stderr)
	}
	words := []string{"{dir}", dir, "CAGUID", caGUID(t, r), "GUID", switchGUID(t, r)}
	plain := r.mask
	for _, line := range lines {
		r.mask = plain
		if strings.Contains(line, "--details") {
			r.mask = swapOnce(plain)
		}
		r.compare(t, "ibqueryerrors", []string{line}, words...)
	}
}

// swapOnce exchanges detail names in the first output, which is the C tool's.
func swapOnce(mask func(string) string) func(string) string {
	first := true
	return func(s string) string {
		if s = mask(s); first {
			first = false
			return detailNames.Replace(s)
		}
		return s
	}
}

// caGUID returns the GUID of a port on a remote adapter.
func caGUID(t *testing.T, r *pmaRig) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^\[\d+\]\(([0-9a-f]+)\).*# lid (\d+)`).FindAllStringSubmatch(r.MustRunC(t, r.host, "ibnetdiscover").Stdout, -1)
	for _, m := range found {
		if m[2] != "1" {
			return "0x" + m[1]
		}
	}
	t.Fatal("found no remote adapter")
	return ""
}
