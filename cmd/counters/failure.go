package counters

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// portText names a port of a failure.
func portText(number uint8) string {
	if number == mad.AllPorts {
		return "all ports"
	}
	return fmt.Sprintf("port %d", number)
}
