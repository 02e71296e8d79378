package counters

import (
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
)

// FailureErrors returns an error with the node and the port for each request to a node's
// agents without a valid response.
func (n *Node) FailureErrors(names *fabric.NameMap) []error {
	var all []error
	for _, f := range n.Failures {
		all = append(all, fmt.Errorf("%s (%v) %s: %w", names.Label(n.Node), n.GUID, portText(f.Port), f.Err))
	}
	return all
}

// portText names a failure's port.
func portText(number uint8) string {
	if number == mad.AllPorts {
		return "all ports"
	}
	return fmt.Sprintf("port %d", number)
}
