//go:build oracle

package oracle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestCheckFabric_Partitions checks the partitions that opensm writes, and that the switches
// enforce, before and after a table loses a key.
func TestCheckFabric_Partitions(t *testing.T) {
	config := filepath.Join(t.TempDir(), "partitions.conf")
	s := serveLive(t, "--sm=off", "demo")
	guid := func(node string) string {
		for line := range strings.Lines(s.MustRunC(t, "", "ibnetdiscover", "-p").Stdout) {
			if f := strings.Fields(line); strings.Contains(line, "'"+node+"'") || strings.Contains(line, "( '"+node) {
				if i := slices.IndexFunc(f, func(w string) bool { return strings.HasPrefix(w, "0x") && len(w) == 18 }); i >= 0 && f[0] == "CA" {
					return f[i]
				}
			}
		}
		t.Fatalf("no port of %s", node)
		return ""
	}
	text := "Default=0x7fff : ALL=full ;\ncompute=0x0001 : " + guid("node05") + "=full, " + guid("node06") + "=limited ;\n" +
		"lone=0x0002 : " + guid("node07") + "=limited, " + guid("node08") + "=limited ;\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.NewSM(t, "", "partition_config_file "+config, "part_enforce both")

	findings, comment := checkPartitions(t, s)
	if want := []string{"limited-members partition 0x0002"}; !slices.Equal(findings, want) {
		t.Errorf("got %v, want %v", findings, want)
	}
	if want := "16 enforced by switches"; !strings.Contains(comment, want) {
		t.Errorf("got %q, want %s", comment, want)
	}
	ctl(t, s, "pkeys leaf2[4] 0xffff")
	findings, _ = checkPartitions(t, s)
	if want := []string{"limited-members partition 0x0002", "not-on-switch node06[1]"}; !slices.Equal(findings, want) {
		t.Errorf("got %v, want %v", findings, want)
	}
}

// checkPartitions returns the pkeys stage findings, and the stage comment.
func checkPartitions(t *testing.T, s *ibsimtest.Sim) (findings []string, comment string) {
	t.Helper()
	out := s.MustRun(t, "", ibkit(), "check", "fabric", "--only", "pkeys", "--json")
	var r check.Report
	if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil {
		t.Fatalf("%v\n%s%s", err, out.Stdout, out.Stderr)
	}
	for _, f := range r.Findings {
		findings = append(findings, string(f.Kind)+" "+f.Subject)
	}
	slices.Sort(findings)
	return findings, r.Stages[0].Comment
}
