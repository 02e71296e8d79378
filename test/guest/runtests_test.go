//go:build guest

package guest_test

import (
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

func TestRunTests(t *testing.T) {
	t.Parallel()
	spec := guest.Spec{Devices: []guest.Device{{Name: "rxe0"}}}
	guest.RunTests(t, spec, "github.com/ibkit/ibkit/test/guest/internal/agent")
}
