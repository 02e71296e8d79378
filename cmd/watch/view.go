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
	subject, text := render.Absent, cmdutil.Visible(e.Text)
	if e.Subject != nil {
		subject = render.OrAbsent(e.Subject.String())
	}
	if e.Peer != nil {
		text = "peer " + e.Peer.String() + ": " + text
	}
	fmt.Fprintf(v.out, rowFormat, e.Time.Format("15:04:05.000"), e.Event, subject, v.mark(e.Level)(text))
}

// mark returns the colour of a level.
func (v *view) mark(l watch.Level) func(string) string {
	switch l {
	case watch.Problem:
		return v.colour.Bad
	case watch.Recovery:
		return v.colour.Good
	}
	return func(text string) string { return text }
}
