package render

import (
	"strconv"

	"github.com/ibkit/ibkit/umad"
)

// Destination formats a destination's LID, or the directed route to it.
func Destination(to umad.Target) string {
	if !to.Route.IsNone() {
		return to.Route.String()
	}
	return strconv.Itoa(int(to.LID))
}
