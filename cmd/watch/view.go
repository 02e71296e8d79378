package watch

import (
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/internal/tool/watch"
)

// A view prints events as rows.
type view struct {
	out    *render.Output
	colour *render.Palette
	headed bool // the header was printed
}

// rowFormat has fixed widths, because later rows are not known.
const rowFormat = "%-12s  %-16s  %-20s  %s\n"

func (v *view) row(e *watch.Event) {
	if !v.headed {
		v.headed = true
		fmt.Fprintf(v.out, rowFormat, "TIME", "EVENT", "SUBJECT", "DETAILS")
	}
	text := cmdutil.Visible(e.Detail)
	if p := e.Data.Peer; p != nil {
		text = "peer " + p.String() + ": " + text
	}
	fmt.Fprintf(v.out, rowFormat, e.Time.Format("15:04:05.000"), e.Kind, render.OrAbsent(e.Subject), v.colour.OfSeverity(e.Severity, text))
}
