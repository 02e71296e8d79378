package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/report"
)

// A table of all kinds has a row for each, with the texts for users.
func TestKinds(t *testing.T) {
	runbooks, err := os.ReadFile("../docs/runbooks.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[report.Kind]bool{}
	for _, k := range report.Kinds() {
		t.Run(string(k.Kind), func(t *testing.T) {
			if seen[k.Kind] {
				t.Error("got a second declaration, want one")
			}
			seen[k.Kind] = true
			if k.Meaning == "" || k.Kind == "" || strings.ToLower(string(k.Kind)) != string(k.Kind) {
				t.Errorf("got kind %q with the meaning %q, want both, the kind in lower case", k.Kind, k.Meaning)
			}
			if k.Severity != k.Kind.Info().Severity || k.Severity == "" {
				t.Errorf("got severity %q, want that of the declaration", k.Severity)
			}
			if k.Runbook != "" && !strings.Contains(string(runbooks), "(#"+k.Runbook+")") {
				t.Errorf("got runbook %q, want a section of docs/runbooks.md", k.Runbook)
			}
		})
	}
}

func TestKind_HintFor(t *testing.T) {
	f := report.New(report.Disabled, "leaf1[3]", "").At(0x2c9000000000100, 3)
	if got, want := f.Kind.HintFor(f), "ibkit port 0x02c9000000000100 3 enable"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHead_Fail(t *testing.T) {
	h := report.NewHead("ibkit/x/1", time.Time{})
	h.Add(report.New(report.Slow, "leaf1[3]", "HDR"), report.New(report.Disabled, "leaf1[4]", ""))
	if h.Partial || !h.HasProblem() || h.Count(report.Error) != 1 || h.Count(report.Info) != 1 {
		t.Errorf("got %+v, want a complete result with one error", h)
	}
	h.Fail(report.Failure{Attribute: "PortInfo", Error: "timeout"})
	if !h.Partial {
		t.Error("got a complete result, want a partial one after a failure")
	}
}

// A document embeds the head, whose members come first.
func ExampleHead() {
	type document struct {
		report.Head
		Ports int `json:"ports"`
	}
	d := document{Head: report.NewHead("ibkit/example/1", time.Unix(0, 0).UTC()), Ports: 3}
	d.Add(report.New(report.Narrow, "leaf1[3]", "1X, but both ends have 4X enabled").At(0x100, 3))
	text, err := json.Marshal(d)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	// Output: {"schema":"ibkit/example/1","began":"1970-01-01T00:00:00Z","partial":false,"findings":[{"kind":"narrow","severity":"error","subject":"leaf1[3]","node_guid":"0x0000000000000100","port":3,"detail":"1X, but both ends have 4X enabled"}],"failures":[],"ports":3}
}

func TestFinding_WithHint(t *testing.T) {
	const text = "ibkit port {node} {port} reset"
	for _, test := range []struct {
		name    string
		finding report.Finding
		want    string
	}{
		{"port", report.New(report.OneSided, "leaf1[3]", "").At(0x2c9, 3), "ibkit port 0x00000000000002c9 3 reset"},
		{"node", report.New(report.OneSided, "leaf1", "").At(0x2c9, -1), "ibkit port 0x00000000000002c9 PORT reset"},
		{"no place", report.New(report.OneSided, "", ""), "ibkit port NODE PORT reset"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.finding.WithHint(text).Hint; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
