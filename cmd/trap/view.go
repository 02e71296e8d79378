package trap

import (
	"fmt"
	"strconv"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/mad"
)

// A view prints events.
type view struct {
	env      *cmdutil.Env
	names    *fabric.NameMap
	out      *render.Output
	colour   *render.Palette
	showKeys bool

	headed bool // the header was printed
}

// rowFormat has fixed widths, because later rows are not known.
const rowFormat = "%-12s  %4s  %-14s  %5s  %-24s  %s\n"

// row prints a notice as a row of the table.
func (v *view) row(e *trap.Event) {
	if e.Kind != trap.Received {
		return
	}
	if !v.headed {
		v.headed = true
		fmt.Fprintf(v.out, rowFormat, "TIME", "TRAP", "NAME", "LID", "NODE", "DETAILS")
	}
	n := e.Notice
	number, name, subject := render.Absent, "vendor", &n.Subject
	if n.Notice.Generic != 0 {
		number, name = strconv.Itoa(int(n.Notice.TrapNumber)), render.Absent
	}
	if kind, known := n.Kind(); known {
		name = kind.Name
	}
	fmt.Fprintf(v.out, rowFormat, e.Time.Format("15:04:05.000"), number, name, render.Show(render.NonZero(subject.LID)), v.place(subject), v.mark(n)(n.Text()))
}

// place returns the name of a node and the port, or the GID of one that is not known.
func (v *view) place(p *trap.Place) string {
	name := p.Name(v.names)
	switch {
	case name == "" && !p.GID.IsZero():
		return p.GID.String()
	case name == "":
		return render.Absent
	case p.Port != 0:
		return fabric.PortName(name, int(p.Port))
	}
	return name
}

// mark returns the colour of a notice.
func (v *view) mark(n *trap.Notice) func(string) string {
	switch {
	case n.Notice.Generic != 0 && n.Notice.TrapNumber == mad.TrapGIDInService:
		return v.colour.Good
	case n.Notice.Type < mad.NoticeSubnetManager, n.Notice.Generic != 0 && n.Notice.TrapNumber == mad.TrapGIDOutOfService:
		return v.colour.Bad
	}
	return func(text string) string { return text }
}

// json prints an event as one line.
func (v *view) json(e *trap.Event) { render.WriteLine(v.out, trap.NewReport(e, v.names, v.showKeys)) }
