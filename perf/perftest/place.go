package perftest

import (
	"fmt"

	"github.com/ibkit/ibkit/perf/port"
	"github.com/ibkit/ibkit/verbs"
)

// A Place is the port of this host, and the GID of it that the test uses.
type Place struct {
	Port *port.Port
	GID  verbs.GIDEntry // GID not valid: InfiniBand by LID
}

// PlaceAt returns a port with the GID of an index, or with none on InfiniBand where
// the index is negative.
func PlaceAt(p *port.Port, index int) (Place, error) {
	if index < 0 && !p.Ethernet() {
		return Place{Port: p}, nil
	}
	for _, g := range p.GIDs {
		if int(g.Index) == index {
			return Place{Port: p, GID: g}, nil
		}
	}
	return Place{}, fmt.Errorf("use GID %d of %s port %d: it has none of that index", index, p.Device, p.Number)
}
