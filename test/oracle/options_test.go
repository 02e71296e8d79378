//go:build oracle

package oracle

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// usageOption matches an option in an infiniband-diags usage text.
var usageOption = regexp.MustCompile(`(?m)^  --([\w-]+)(?:, -(\w))?`)

// smpTools are the tools with command lines that begin with their name.
var smpTools = []string{"smpquery", "smpdump", "sminfo", "ibccquery"}

// TestOptions checks that each tool option, with its letter and its long name, is in a
// command line that is compared.
func TestOptions(t *testing.T) {
	s := ibsimtest.New(t, "../nets/back-to-back.net")
	smp := slices.Concat(smpLines, saLines, combinedLines, congestionLines)
	elsewhere := map[string]bool{
		"saquery -x": true, "saquery --x": true, "saquery -D": true, "saquery --list": true, // long tables: in the guest
		"ibsysstat --Server": true, // started by the ping and system status tests
		"ibsysstat -S":       true,
	}
	for tool, lines := range map[string][]string{
		"smpquery": smp, "smpdump": smp, "sminfo": smp, "ibccquery": smp, "saquery": saqueryLines, "ibsysstat": sysstatLines,
		"vendstat": vendstatLines, "perfquery": slices.Concat(perfqueryLines, perfqueryServed), "ibqueryerrors": ibqueryerrorsLines,
		"ibnetdiscover": slices.Concat(topologyCases, topologyDiffs, topologyOptions),
	} {
		t.Run(tool, func(t *testing.T) {
			var words []string
			for _, line := range lines {
				if name, _, _ := strings.Cut(line, " "); name == tool || !slices.Contains(smpTools, tool) {
					words = append(words, strings.Fields(line)...)
				}
			}
			found := usageOption.FindAllStringSubmatch(s.MustRunC(t, "", tool, "-h").Stderr, -1)
			if len(found) < 10 {
				t.Fatalf("got %d options, want 10 or more", len(found))
			}
			for _, m := range found {
				if m[1] == "pkey-idx" {
					continue // not in release 44; TestPKeyIndex in package cmd checks it
				}
				if !elsewhere[tool+" --"+m[1]] && !slices.ContainsFunc(words, func(w string) bool { return w == "--"+m[1] || strings.HasPrefix(w, "--"+m[1]+"=") }) {
					t.Errorf("--%s is in no command line", m[1])
				}
				if m[2] != "" && !elsewhere[tool+" -"+m[2]] && !slices.ContainsFunc(words, func(w string) bool {
					return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, m[2])
				}) {
					t.Errorf("-%s is in no command line", m[2])
				}
			}
		})
	}
}
