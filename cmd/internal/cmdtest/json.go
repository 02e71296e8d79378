package cmdtest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
)

// CheckDocument checks that a JSON document conforms to the schema in a file, and checks
// its Go type by [RoundTrip].
func CheckDocument(t *testing.T, schema, document string, into any) {
	t.Helper()
	testenv.CheckSchema(t, schema, document)
	RoundTrip(t, document, into)
}

// RoundTrip decodes a JSON document into the Go type that a package exports for it,
// and checks that encoding the value again results in the same document.
func RoundTrip(t *testing.T, document string, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(document)))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("decode into %T: %v", into, err)
	}
	again, err := json.Marshal(into)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(generic(t, []byte(document)), generic(t, again)); diff != "" {
		t.Errorf("%T (-document +encoded again):\n%s", into, diff)
	}
}

func generic(t *testing.T, document []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
