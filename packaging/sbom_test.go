//go:build packages

package packaging

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestBills validates the bills with the CycloneDX schema, and compares the contents with
// go version output.
func TestBills(t *testing.T) {
	module := strings.TrimSpace(command(t, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go"))
	compiler := jsonschema.NewCompiler()
	for _, name := range []string{"spdx.schema.json", "jsf-0.82.schema.json", "bom-1.6.schema.json"} {
		// The module has a schema under another name.
		found, err := filepath.Glob(filepath.Join(module, "schema", strings.Replace(name, ".schema", ".schema*", 1)))
		if err != nil || len(found) != 1 {
			t.Fatalf("found %q for %s: %v", found, name, err)
		}
		text, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+name, schema); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	bills, err := filepath.Glob(filepath.Join(dist, "*.cdx.json"))
	if err != nil || len(bills) != builds() {
		t.Fatalf("found bills %q: %v", bills, err)
	}
	for _, bill := range bills {
		text, err := os.ReadFile(bill)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", bill, err)
		}
	}
	text, err := os.ReadFile(one(t, "ibkit-[0-9]*-amd64.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "version", "-m", one(t, "ibkit_linux_amd64_v1/ibkit")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "dep" && !bytes.Contains(text, []byte("pkg:golang/"+f[1]+"@"+f[2])) {
			t.Errorf("the bill lacks %s %s", f[1], f[2])
		}
	}
}
