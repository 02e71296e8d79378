//go:build guest

package debian

import (
	"testing"

	"github.com/ibkit/ibkit/internal/testenv"
)

// TestRoot compares the versions of the programs in each root directory with the
// declarations.
func TestRoot(t *testing.T) {
	for _, r := range testenv.Cases([]*Release{Bookworm, Trixie}, Bullseye, Sid) {
		t.Run(r.Name, func(t *testing.T) {
			if err := r.Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
