// Package schema tests the schemas of JSON documents.
package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchemas checks that each schema compiles, has its address as ID, and is in the
// table of docs/json.md.
func TestSchemas(t *testing.T) {
	docs, err := os.ReadFile("../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("find schemas: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			s, err := jsonschema.NewCompiler().Compile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if want := `"$id": "https://github.com/ibkit/ibkit/schema/` + file + `"`; !strings.Contains(string(text), want) {
				t.Errorf("got another ID, want %s", want)
			}
			version := regexp.MustCompile(`"ibkit/[a-z-]+/([0-9]+)"`).FindStringSubmatch(string(text))
			if _, got, ok := strings.Cut(s.Description, "Within version "); ok && !strings.HasPrefix(got, version[1]+",") {
				t.Errorf("got a description of version %s, want %s", got, version[1])
			}
			if s.Title == "" {
				t.Error("got no title, want the command")
			}
			if want := "](../schema/" + file + ")"; !strings.Contains(string(docs), want) {
				t.Errorf("docs/json.md does not contain %s", want)
			}
		})
	}
}

// TestSchemas_Common checks that each schema repeats the definitions of report.json that it
// uses.
func TestSchemas_Common(t *testing.T) {
	common := readDefinitions(t, "report.json")
	files, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			own := readDefinitions(t, file)
			if own["head"] != nil && (own["finding"] == nil || own["failure"] == nil) {
				t.Error("got a head without the definitions of findings and failures")
			}
			for name, want := range common {
				if got := own[name]; got != nil && !cmp.Equal(want, got) {
					t.Errorf("$defs.%s differs from that of report.json (-want +got):\n%s", name, cmp.Diff(want, got))
				}
			}
		})
	}
}

// readDefinitions returns the definitions of a schema by name.
func readDefinitions(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Definitions map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s.Definitions
}
