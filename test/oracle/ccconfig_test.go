package oracle

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ccLines are ibccconfig command lines, for leaf1 with LID 3 and node01 with LID 4.
var ccLines = []string{
	"SS 3 0x1F 0x1FFF 0x2 0xF 8 3 2:5 7", "SwitchCongestionSetting 3 0x4 0 0 0x9 17 0 0:0 0", "ss 3 1 0xfff 123 1 2 3 3:16383 65536", "SS 3 1 " + strings.Repeat("f", 64) + " 0x 31 256 17 9:99999 1",
	"SP 3 5 1 0 7 8 9", "SP 3 16 1 1 2 0 300", "SP 3 0 1 1 15 255 65535", "SP 3 17 1 0 0 0 0", "SP 4 1 1 0 0 0 0", "SP 3 5 3 3 31 256 65536",
	"CS 4 1 0x3 150 1 0 2", "CS 4 1 0x8000 65535 255 254 253", "CACongestionSetting 4 0 0xffff 1 2 3 4", "CS 4 65536 0x10001 65536 256 256 256", "CS 3 1 1 1 1 1 1",
	"CT 4 66 1 1:2 3:4 3:16383", "CT 4 1 0 0:1 1:77", "CT 4 1 0 0:1", "CT 4 0 0 7:16384", "CT 4 0 1", "CT 4 0 2 0:0", "CT 4 1 0 0:1 77", "CT 3 1 0 0:0 0:1",
	"CK 4 0 0 5 9", "CK 4 0x77 1 5 9", "-t 20000 CS 4 1 1 1 1 1 1", "-c 0x77 CS 4 1 1 9 1 1 1", "-c 0x77 CK 4 0 0 0 0", "CK 3 0 2 0 0", "CK 3 0 0 65536 0", "CK 3 0 0 0 65536", "CK 3 x 0 0 0",
	"CK 3 0x 0 0 0", "CK 3 99999999999999999999999 0 0 0", "CK 3 010 0 0 1", "-c 8 CK 3 0 0 0 0",
	"SS 3 1", "SP 3 1", "CS 4", "CT 4", "CK 3", "SS 3 1 0xg 0 0 0 0 0:0 0", "SS 3 1 " + strings.Repeat("f", 65) + " 0 0 0 0 0:0 0", "SS 3 1 1 1 1 1 1 5 1",
	"nosuch 3", "CK", "", "-h", "CK 0 0 0 0 0", "-t 20000 CK 0xbff0 0 0 0 0", "-t 20000 -e SP 0xbff0 1 1 1 1 1 1", "-C nosuch CK 3 0 0 0 0", "-G CK 0x0002c90000800200 0 0 0 0", "-D CK 3 0 0 0 0",
}

// TestIbccconfig runs each command line with the C tool on one fabric and with ibkit on
// another: they print the same, and ibccquery from either tool reads the same.
func TestIbccconfig(t *testing.T) {
	t.Parallel()
	forC, forUs := serveFabric(t, "demo"), serveFabric(t, "demo")
	state := func(run runner, queries []string) string {
		var all strings.Builder
		for _, line := range queries {
			all.WriteString(run("ibccquery", strings.Fields(line)...).Stdout)
		}
		// Each read without the right key is counted.
		return violations.ReplaceAllString(all.String(), "")
	}
	compareState := func(t *testing.T, queries []string) {
		t.Helper()
		if d := cmp.Diff(state(theirTools(t, forC, "node07"), queries), state(ourTools(t, forUs, "node07"), queries)); d != "" {
			t.Errorf("state after the C tool (-), after ibkit (+)\n%s", d)
		}
	}
	for _, line := range ccLines {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			compareResults(t, theirTools(t, forC, "node07")("ibccconfig", args...), ourTools(t, forUs, "node07")("ibccconfig", args...))
			compareState(t, queriesAfter(line))
		})
	}
	compareState(t, ccQueries)
}

var violations = regexp.MustCompile(`CC_KeyViolations:.*\n`)

// queriesAfter returns the queries for the attribute that a command line sets.
func queriesAfter(line string) (queries []string) {
	for _, q := range ccQueries {
		words := strings.Fields(q)
		if set := strings.Join(words[len(words)-2:], " "); strings.Contains(ccNames.Replace(line)+" ", set+" ") {
			queries = append(queries, q)
		}
	}
	return queries
}

// ccNames abbreviates the names in ccLines as in ccQueries.
var ccNames = strings.NewReplacer("SwitchCongestionSetting", "SS", "ss", "SS", "CACongestionSetting", "CS")

// ccQueries read what ccLines set.
var ccQueries = []string{"CK 3", "CK 4", "-c 0x77 CK 4", "SS 3", "SP 3", "CS 4", "CT 4"}
