package testenv

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// CheckSchema checks that a text is JSON documents, at least a single one, which conform to
// the schema in a file.
func CheckSchema(t *testing.T, file, text string) {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(text))
	for n := 0; ; n++ {
		var document any
		err := d.Decode(&document)
		if errors.Is(err, io.EOF) && n > 0 {
			return
		}
		if err == nil {
			err = schema.Validate(document)
		}
		if err != nil {
			t.Fatalf("document %d: %v\n%s", n+1, err, text)
		}
	}
}
