package cmd

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/report"
)

// documents are command lines that print a JSON document about the demo fabric, or about
// a host without devices.
var documents = []string{
	"addr --json 4-9", "cc --json", "check fabric --json", "check routes --json", "linkinfo --json", "route --json 4 11", "routes --json", "devinfo --json --sim demo", "doctor --json --root . --only clock,hugepages,devices", "ping --json --via sma -c 1 --interval 1ms 3",
	"ping --json --via vendor -c 1 --timeout 20 11", "port --json leaf1 3", "port --json --dry-run leaf1 1 disable",
	"query --json PortInfo leaf1 3", "query --json --list", "sa --json NodeRecord", "sa --json --list", "sim list --json", "sm --json --sm-wait 1ms",
	"sm --json --set disable --dry-run 4", "version --json",
	"linkinfo --json --sim demo:sm=off", "phy --json --sim optics", "topology --json", "topology --json --check", "counters --json --all", "top --once --json --interval 10ms",
}

// Each document begins with the members of the common head, and all kinds of its findings
// are declared.
func TestDocuments_Head(t *testing.T) {
	schema := regexp.MustCompile(`^ibkit/[a-z-]+/[0-9]+$`)
	for _, line := range documents {
		t.Run(line, func(t *testing.T) {
			text := documentOf(t, line)
			var members map[string]json.RawMessage
			var head report.Head
			if err := json.Unmarshal(text, &members); err != nil {
				t.Fatalf("got %v, want a document:\n%s", err, text)
			}
			if err := json.Unmarshal(text, &head); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"schema", "began", "partial", "findings", "failures"} {
				if members[name] == nil || string(members[name]) == "null" {
					t.Errorf("got members %v, want %s", slices.Sorted(maps.Keys(members)), name)
				}
			}
			if !schema.MatchString(head.Schema) || head.Began.IsZero() {
				t.Errorf("got schema %q, began %v", head.Schema, head.Began)
			}
			for _, f := range head.Findings {
				if f.Kind.Info().Meaning == "" || !slices.Contains(report.Severities(), f.Severity) {
					t.Errorf("got finding %+v, want a declared kind and a severity", f)
				}
			}
		})
	}
}

// documentOf returns the document that a command line prints.
func documentOf(t *testing.T, line string) []byte {
	t.Helper()
	env := map[string]string{"IBKIT_SYSFS": t.TempDir()}
	if !strings.HasPrefix(line, "devinfo") {
		env["IBKIT_SIM"] = "demo"
	}
	var out, errOut bytes.Buffer
	e := &cmdutil.Env{In: strings.NewReader(""), Out: &out, ErrOut: &errOut, Getenv: func(k string) string { return env[k] }}
	cmdtest.OutsideBubbles()
	synctest.Test(t, func(t *testing.T) { run(t.Context(), e, strings.Fields(line)) })
	if out.Len() == 0 {
		t.Fatalf("got no document, error output %q", &errOut)
	}
	return out.Bytes()
}
