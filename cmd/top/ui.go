package top

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/portindex"
	"github.com/ibkit/ibkit/cmd/internal/shared/registers"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/fileout"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/internal/tool/top"
)

// A viewKind is a kind of screen.
type viewKind uint8

const (
	linksView viewKind = iota
	nodeView
	portView
	pathView
)

// A view is a screen that the user has opened.
type view struct {
	kind viewKind
	guid ib.GUID // of the node
	port uint8

	ends   [2]lookup.Address // of pathView
	paths  *top.Paths        // nil: not read yet
	layout *top.Layout       // for which the paths were requested

	registers *registers.Reader // of portView; nil: not read
	fault     string            // the reason why registers were not read, or ""

	selected, scroll int // rows
}

// A ui is the state of the screen.
type ui struct {
	state  *top.State
	names  *fabric.NameMap
	gid    func(netip.Addr) (ib.GID, error) // of the port with an IP address
	styles *styles
	now    func() time.Time

	views   []view // the last one is shown
	prompt  *prompt
	help    bool
	message string // of the last key; ""
	problem error  // of the sampler
	status  string // before the first sample

	exports string // directory
	most    int    // links that --once prints; 0: all

	// request requests the paths of the current view.
	request func(v *view)

	// requestRegisters requests the registers of the current view; nil: they are not shown.
	requestRegisters func(v *view)
}

// A prompt is a line of input.
type prompt struct {
	label string
	text  []rune
	done  func(text string)
}

func (u *ui) view() *view { return &u.views[len(u.views)-1] }

// open shows a screen, from which back returns.
func (u *ui) open(v view) {
	u.views = append(u.views, v)
	switch {
	case v.kind == pathView:
		u.requestPaths()
	case v.kind == portView && u.requestRegisters != nil:
		u.requestRegisters(u.view())
	}
}

// requestPaths requests the paths of the current view.
func (u *ui) requestPaths() {
	v := u.view()
	v.layout = u.state.Sample().Layout
	u.request(v)
}

// back returns to the screen before.
func (u *ui) back() {
	if len(u.views) > 1 {
		u.views = u.views[:len(u.views)-1]
	}
}

// add adds a sample. The tables are read again after a scan.
func (u *ui) add(s *top.Sample) {
	u.state.Add(s)
	switch v := u.view(); {
	case u.state.Paused():
	case v.kind == pathView && v.layout != s.Layout:
		u.requestPaths()
	case v.registers != nil: // again, unless the devices have none
		u.requestRegisters(v)
	}
}

// gotRegisters shows the result of a request.
func (u *ui) gotRegisters(v view, r *phy.Result, err error) {
	for i := range u.views {
		w := &u.views[i]
		if w.kind != portView || w.guid != v.guid || w.port != v.port {
			continue
		}
		switch {
		case err != nil:
			w.fault = messageOf(err)
		case r.Readable() == 0 && len(r.Devices) > 0:
			w.fault = messageOf(r.Devices[0].Missing)
		default:
			w.registers, w.fault = &registers.Reader{Result: r}, ""
		}
	}
}

// gotPaths shows the result of a request.
func (u *ui) gotPaths(v view, p *top.Paths, err error) {
	if err != nil {
		u.message = err.Error()
	}
	for i := range u.views {
		if w := &u.views[i]; w.kind == pathView && w.ends == v.ends && p != nil {
			w.paths = p
		}
	}
}

// report returns the current screen, nil if the sample does not have its node or port, or if
// the paths are not known yet.
func (u *ui) report(most int) *top.Report {
	if u.state.Sample() == nil {
		return nil
	}
	switch v := u.view(); v.kind {
	case nodeView:
		return u.state.ReportNode(v.guid)
	case portView:
		return v.addRegisters(u.state.ReportPort(v.guid, v.port))
	case pathView:
		if v.paths == nil {
			return nil
		}
		return u.state.ReportPath(v.paths, u.names)
	}
	return u.state.ReportLinks(most)
}

// addRegisters adds the values from registers to the report on a port, which may be nil.
func (v *view) addRegisters(r *top.Report) *top.Report {
	if r == nil || v.registers == nil {
		return r
	}
	for i := range r.Port.Ends {
		e := &r.Port.Ends[i]
		if n := v.registers.Result.Fabric.NodeByGUID(e.NodeGUID); n != nil && int(e.Port) < len(n.Ports) {
			e.PHY = v.registers.Report(n.Ports[e.Port])
		}
	}
	return r
}

// rows returns the number of rows of the current screen that can be selected.
func (u *ui) rows() int {
	if u.view().kind == linksView {
		return len(u.state.Rows())
	}
	return len(u.links())
}

// links returns the rows of a screen other than links.
func (u *ui) links() []top.ReportLink {
	r := u.report(0)
	switch {
	case r == nil:
	case r.Node != nil:
		return r.Node.Links
	case r.Path != nil && r.Path.Reverse != nil:
		return append(r.Path.Forward.Links[:len(r.Path.Forward.Links):len(r.Path.Forward.Links)], r.Path.Reverse.Links...)
	case r.Path != nil:
		return r.Path.Forward.Links
	}
	return nil
}

// selectedLink returns the link of the selected row, nil without rows.
func (u *ui) selectedLink() *top.ReportLink {
	v := u.view()
	switch v.kind {
	case linksView:
		if rows := u.state.Rows(); v.selected < len(rows) {
			return new(u.state.Sample().ReportLink(rows[v.selected]))
		}
	case portView:
		if r := u.report(0); r != nil {
			return &r.Port.Link
		}
	default:
		if links := u.links(); v.selected < len(links) {
			return &links[v.selected]
		}
	}
	return nil
}

// move moves the selection.
func (u *ui) move(by int) {
	v := u.view()
	v.selected = max(min(v.selected+by, u.rows()-1), 0)
}

// goTo opens the node or port with an address.
func (u *ui) goTo(text string) {
	a, err := portindex.Parse(text)
	if err == nil {
		err = u.openTarget(a)
	}
	if err != nil {
		u.message = messageOf(err)
	}
}

// openTarget opens the node or port with an address.
func (u *ui) openTarget(a lookup.Address) error {
	v, err := u.find(u.state.Sample(), a)
	if err == nil {
		u.open(v)
	}
	return err
}

// findPaths opens the paths between two addresses.
func (u *ui) findPaths(text string) {
	words := strings.Fields(text)
	if len(words) != 2 {
		u.message = fmt.Sprintf("paths: got %d addresses, want 2", len(words))
		return
	}
	v := view{kind: pathView}
	for i, word := range words {
		a, err := portindex.Parse(word)
		if err != nil {
			u.message = messageOf(err)
			return
		}
		v.ends[i] = a
	}
	u.open(v)
}

func messageOf(err error) string { return cmdutil.Visible(strings.ReplaceAll(err.Error(), "\n", "; ")) }

// export writes the current screen to a file.
func (u *ui) export() {
	r := u.report(0)
	if r == nil {
		u.message = "there is no screen to export"
		return
	}
	path := filepath.Join(u.exports, fmt.Sprintf("ibkit-top-%s-%s.json", r.Screen, u.now().Format("20060102-150405")))
	f, err := fileout.Create(path)
	if err == nil {
		defer f.Abort()
		out := render.NewOutput(f)
		render.WriteDocument(out, r)
		if err = out.Flush(); err == nil {
			err = f.Commit()
		}
	}
	if err != nil {
		u.message = messageOf(err)
		return
	}
	u.message = "wrote " + path
}
