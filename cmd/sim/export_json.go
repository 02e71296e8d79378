package sim

import (
	"context"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/sim"
)

// writeFabricJSON writes the output of linkinfo --json --attributes for a simulated
// fabric. A fabric with nodes that a scan cannot reach is an error.
func writeFabricJSON(ctx context.Context, f *sim.Fabric, w io.Writer) error {
	r, err := linkinfo.Run(ctx, linkinfo.Options{Source: fabric.Source{OpenPort: f.Opener("")}})
	if err != nil {
		return fmt.Errorf("scan fabric: %w", err)
	}
	if found := len(r.Fabric.Nodes); found < len(f.Nodes) {
		return fmt.Errorf("write fabric as JSON: a scan from %q finds %d of %d nodes (the others are not connected)", r.Fabric.Start.Desc.Clean(), found, len(f.Nodes))
	}
	out := render.NewOutput(w)
	links.WriteJSON(out, r, r.Fabric.Nodes, linkinfo.Ends(r.Fabric, r.Fabric.Nodes), linkinfo.ReportOptions{Attributes: true})
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write fabric as JSON: %w", err)
	}
	return nil
}
