package check

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/internal/tool/check"
	"github.com/ibkit/ibkit/report"
)

// The tables in docs/check.md equal the stage table and package report's. With -update,
// the test writes them.
func TestCheck_Documentation(t *testing.T) {
	const path = "../../docs/check.md"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for header, rows := range map[string]string{
		"| stage | subject | findings |\n| --- | --- | --- |\n":                  stageRows(),
		"| kind | severity | meaning | ibdiagnet |\n| --- | --- | --- | --- |\n": kindRows(),
	} {
		got = replaceRows(t, got, header, rows)
	}
	if *cmdtest.Update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != string(text) {
		t.Errorf("docs/check.md is stale (-file +tables):\n%s", cmp.Diff(string(text), got))
	}
}

func stageRows() string {
	marks := map[report.Severity]string{report.Warning: " (w)", report.Unknown: " (u)", report.Info: " (i)"}
	var b strings.Builder
	for _, s := range check.FabricStages() {
		var kinds []string
		for _, k := range s.Kinds {
			kinds = append(kinds, fmt.Sprintf("`%s`%s", k, marks[k.Info().Severity]))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, s.About, strings.Join(kinds, ", "))
	}
	return b.String()
}

func kindRows() string {
	var b strings.Builder
	for _, k := range report.Kinds() {
		name := ""
		if k.Ibdiagnet != "" {
			name = "`" + k.Ibdiagnet + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", k.Kind, k.Severity, k.Meaning, name)
	}
	return b.String()
}

// replaceRows replaces the rows of the table with a header.
func replaceRows(t *testing.T, text, header, rows string) string {
	t.Helper()
	before, rest, found := strings.Cut(text, header)
	if !found {
		t.Fatalf("got no table in docs/check.md, want one with\n%s", header)
	}
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return before + header + rows + rest
}
