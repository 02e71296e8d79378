package sim

import (
	"errors"
	"io"

	"github.com/ibkit/ibkit/internal/netfile"
)

// ParseTopology parses a topology file: ibnetdiscover output (infiniband-diags,
// ibnetdiscover.c), also with -g or -f. The fabric has the names, GUIDs, LIDs and active
// widths and speeds from the file. The file does not contain supported widths and speeds:
// ports support the active and all lower widths and speeds. Links are in state Initialize,
// as before a subnet manager has run; [Fabric.Configure] keeps the LIDs.
//
// Unknown widths and speeds are read as 4X and SDR. Errors name the file (name), line
// and column.
func ParseTopology(r io.Reader, name string) (*Fabric, error) {
	return parseText(r, name, netfile.Topology, func(string) (io.ReadCloser, error) {
		return nil, errors.New("include is not supported in a topology file")
	})
}
