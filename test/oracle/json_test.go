//go:build oracle

package oracle

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestJSON validates the JSON for each fabric.
func TestJSON(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("../../schema/linkinfo.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, net := range nets(t) {
		t.Run(filepath.Base(net), func(t *testing.T) {
			b := newRig(t, net, true)
			r := b.MustRun(t, b.host, native(), "linkinfo", "--sim", "ibsim", "--json", "--attributes")
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(r.Stdout))
			if err != nil {
				t.Fatalf("exit code %d, %v: %s", r.Code, err, r.Stderr)
			}
			if err := schema.Validate(v); err != nil {
				t.Error(err)
			}
		})
	}
}
