package link

import (
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/softdevice"
)

// showPlan prints the change.
func (c *command) showPlan(p *softdevice.Plan) {
	note := ""
	switch {
	case p.Needless:
		note = ": exists"
	case p.Action == softdevice.Add && !p.NetdevUp:
		note = ", which is down"
	}
	fmt.Fprintf(c.env.Out, "%s %s: %s on %s%s\n", p.Action, p.Device, render.OrAbsent(p.Type), render.OrAbsent(p.Netdev), note)
	for _, u := range p.Users {
		name := render.Show(u.Process)
		if u.Kernel != nil {
			name = "[" + *u.Kernel + "]"
		}
		fmt.Fprintf(c.env.Out, "  in use by %s (PID %s): %s, %s, %s\n", name, render.Show(u.PID),
			plural.Count(u.Contexts, "context", "contexts"), plural.Count(u.QPs, "queue pair", "queue pairs"), plural.Count(u.CMIDs, "connection ID", "connection IDs"))
	}
}

// showResult prints the result of the change.
func (c *command) showResult(r *softdevice.Report) {
	switch {
	case r.Action == softdevice.Delete:
		fmt.Fprintf(c.env.Out, "%s was deleted\n", r.Device)
	case *r.Outcome == outcome.NotActive:
		state := "active, without a GID"
		if !r.Active {
			state = "not active: ip link set " + r.Netdev + " up"
		}
		fmt.Fprintf(c.env.Out, "%s exists, but its port is %s\n", r.Device, state)
	case *r.Outcome == outcome.Unneeded:
		fmt.Fprintf(c.env.Out, "%s exists already: port 1 is active, GID %s\n", r.Device, *r.GID)
	default:
		fmt.Fprintf(c.env.Out, "%s was added: port 1 is active, GID %s\n", r.Device, *r.GID)
	}
}

// showJSON prints a report with --json.
func (c *command) showJSON(r *softdevice.Report) {
	if c.json {
		out := render.NewOutput(c.env.Out)
		render.WriteDocument(out, r)
		_ = out.Flush() // the next write to the output has the error
	}
}
