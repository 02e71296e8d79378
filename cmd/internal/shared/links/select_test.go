package links

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/fabric"
)

// A name of a file in a warning may have control characters.
func TestWarnStored_ControlCharacters(t *testing.T) {
	var b strings.Builder
	WarnStored(&b, "a\x1b[31m", &fabric.Fabric{Failures: []fabric.Failure{{}}})
	if want := `warning: the fabric stored in a\x1b[31m is partial: `; !strings.HasPrefix(b.String(), want) {
		t.Errorf("got %q, want %q", &b, want)
	}
}
