package dump

import (
	"fmt"
	"io"

	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/internal/tool/route"
)

// readTopology reads a cache, or ibnetdiscover output, which has no states.
func readTopology(in io.Reader, file string) (*route.Routing, error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	d, err := fabricfile.Parse(data, file)
	if err != nil {
		return nil, err
	}
	r := route.FromFabric(d.Fabric)
	for _, n := range r.Nodes {
		forget(n.Tables)
	}
	return r, nil
}
