package linkinfo

import (
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
)

// explain tells on the error output what the view does not show: what was not
// answered, what contradicts itself, and with -v what the scan cost.
func (c *command) explain(r *linkinfo.Result) {
	w := c.env.ErrOut
	for _, err := range r.Warnings {
		fmt.Fprintf(w, "warning: %v\n", err)
	}
	f := r.Fabric
	for i, failure := range f.Failures {
		if i == fabricflag.MaxFailures && c.fabric.Verbose == 0 {
			fmt.Fprintf(w, "warning: and %d more (-v shows all)\n", len(f.Failures)-i)
			break
		}
		fmt.Fprintf(w, "warning: %s: %v\n", c.place(failure), failure.Err)
	}
	for _, conflict := range f.Conflicts {
		fmt.Fprintf(w, "warning: %s\n", conflict.Detail)
	}
	if n := len(f.Failures); n > 0 {
		fmt.Fprintf(w, "warning: the result is partial: %d requests were not answered\n", n)
	}
	if c.fabric.Verbose > 0 {
		s := f.Stats
		fmt.Fprintf(w, "%s, up to %d hops away; %d MADs sent, %d of them again, %d timed out, at most %d in flight\n",
			render.Count(len(f.Nodes), "node", "nodes"), f.MaxHops, s.Sent, s.Retries, s.Timeouts, s.Window)
	}
}

// place names where something was not answered.
func (c *command) place(f fabric.Failure) string {
	if f.NodeGUID == 0 {
		return "start of the scan"
	}
	name := f.NodeGUID.String()
	return fmt.Sprintf("%s port %d", name, f.Port)
}
