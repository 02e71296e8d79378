package trap

import (
	"fmt"
	"strconv"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/report"
)

// A view prints events.
type view struct {
	out    *render.Output
	colour *render.Palette
	headed bool // the header was printed
}

// rowFormat has fixed widths, because later rows are not known.
const rowFormat = "%-12s  %4s  %-14s  %5s  %-24s  %s\n"

// row prints a notice as a row of the table.
func (v *view) row(e *trap.Event) {
	if e.Kind != report.Notice {
		return
	}
	if !v.headed {
		v.headed = true
		fmt.Fprintf(v.out, rowFormat, "TIME", "TRAP", "NAME", "LID", "NODE", "DETAILS")
	}
	n := e.Notice
	number, name := render.Absent, "vendor"
	if n.Notice.Generic != 0 {
		number, name = strconv.Itoa(int(n.Notice.TrapNumber)), render.Absent
	}
	if kind, known := n.Kind(); known {
		name = kind.Name
	}
	lid, node := render.Show(e.Data.Place.LID), render.Absent
	if p := e.Data.Place; p.Name != nil || p.GID != nil {
		node = p.String()
	}
	fmt.Fprintf(v.out, rowFormat, e.Time.Format("15:04:05.000"), number, name, lid, node, v.colour.OfSeverity(e.Severity, n.Text()))
}

// json prints an event as one line.
func (v *view) json(e *trap.Event) { render.WriteLine(v.out, e) }
