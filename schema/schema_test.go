// Package schema tests the schemas of JSON documents.
package schema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			if s.Title == "" {
				t.Error("got no title, want the command")
			}
			if want := "](../schema/" + file + ")"; !strings.Contains(string(docs), want) {
				t.Errorf("docs/json.md does not contain %s", want)
			}
		})
	}
}
