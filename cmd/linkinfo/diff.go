package linkinfo

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/linkinfo"
)

// The changes in the table of differences.
const (
	lost    = "lost"
	added   = "added"
	changed = "changed"
)

// A change is a row: a link, a port without a peer, or a node. Texts that do not apply are "".
type change struct {
	what, node, peer, before, now string
}

// A diffTable is the table of the differences between two fabrics.
type diffTable struct {
	names      *fabric.NameMap
	checks     linkinfo.Checks
	onlyDown   bool
	downBefore *fabric.Fabric
	headers    [2]string // of the two fabrics

	rows    []change
	index   map[linkChange]int // in rows
	counts  map[string]int     // of links, by change
	numNode int                // of nodes
}

// A linkChange is the change of a link, whose ends are in a fixed order.
type linkChange struct {
	what string
	ends [2]portKey
}

// A portKey is a port in both fabrics.
type portKey struct {
	guid   ib.GUID
	number uint8
}

// add adds the rows of a node.
func (t *diffTable) add(d linkinfo.NodeDiff) {
	switch {
	case d.New == nil:
		t.node(change{what: lost, node: t.names.Label(d.Old), before: nodeText(d.Old)})
		t.allPorts(d.Old, func(p *fabric.Port) linkinfo.PortDiff { return linkinfo.PortDiff{Old: p} })
	case d.Old == nil:
		t.node(change{what: added, node: t.names.Label(d.New), now: nodeText(d.New)})
		t.allPorts(d.New, func(p *fabric.Port) linkinfo.PortDiff { return linkinfo.PortDiff{New: p} })
	case d.Renamed || d.PortCount:
		before, now := t.nodeTexts(d)
		t.node(change{what: changed, node: t.names.Label(d.New), before: before, now: now})
	}
	for _, p := range d.Ports {
		t.port(p)
	}
}

func (t *diffTable) node(c change) {
	if t.onlyDown {
		return
	}
	t.rows = append(t.rows, c)
	t.numNode++
}

// nodeText describes a node that only one of the fabrics has.
func nodeText(n *fabric.Node) string {
	return n.Info.NodeType.String() + ", " + plural.Count(int(n.Info.NumPorts), "port", "ports")
}

// nodeTexts describes the differences between the two states of a node.
func (t *diffTable) nodeTexts(d linkinfo.NodeDiff) (before, now string) {
	var texts [2][]string
	add := func(a, b string) {
		if a != b {
			texts[0], texts[1] = append(texts[0], a), append(texts[1], b)
		}
	}
	if d.PortCount {
		add(nodeText(d.Old), nodeText(d.New))
	}
	if t.checks.LID && d.New.IsSwitch() {
		add(lidText(d.Old.Ports[0]), lidText(d.New.Ports[0]))
	}
	if t.checks.Description {
		add(strconv.Quote(d.Old.Desc.Clean()), strconv.Quote(d.New.Desc.Clean()))
	}
	return strings.Join(texts[0], ", "), strings.Join(texts[1], ", ")
}

func lidText(p *fabric.Port) string {
	if p == nil {
		return "LID " + render.Absent
	}
	return "LID " + strconv.Itoa(int(p.LID()))
}

// allPorts adds the links of a node that only one of the fabrics has.
func (t *diffTable) allPorts(n *fabric.Node, diff func(*fabric.Port) linkinfo.PortDiff) {
	for _, p := range n.Ports {
		if p != nil && p.Peer != nil {
			t.port(diff(p))
		}
	}
}

// port adds the row of a port, or two rows if its link has another peer.
func (t *diffTable) port(d linkinfo.PortDiff) {
	if now := d.New; now != nil && isDown(now) && links.WasDown(t.downBefore, now) || t.onlyDown && (now == nil || !isDown(now)) {
		return
	}
	before, now := peerOf(d.Old), peerOf(d.New)
	switch {
	case before != nil && now != nil && keyOf(before) != keyOf(now):
		t.link(lost, d.Old, before, linkText(d.Old), "")
		t.link(added, d.New, now, "", linkText(d.New))
	case before != nil && now == nil:
		t.link(lost, d.Old, before, linkText(d.Old), linkText(d.New))
	case before == nil && now != nil:
		t.link(added, d.New, now, linkText(d.Old), linkText(d.New))
	case d.New != nil:
		old, current := t.linkTexts(d)
		t.link(changed, d.New, now, old, current)
	default:
		t.link(changed, d.Old, before, linkText(d.Old), "")
	}
}

// link adds a link, unless its other end has added it.
func (t *diffTable) link(what string, p, peer *fabric.Port, before, now string) {
	key := linkChange{what: what, ends: [2]portKey{keyOf(p), {}}}
	row := change{what: what, node: t.names.PortName(p), before: before, now: now}
	if peer != nil {
		row.peer = t.names.PortName(peer)
		key.ends[1] = keyOf(peer)
		if a, b := key.ends[0], key.ends[1]; b.guid < a.guid || b.guid == a.guid && b.number < a.number {
			key.ends[0], key.ends[1] = b, a
		}
	}
	if i, ok := t.index[key]; ok {
		if r := &t.rows[i]; r.before == "" && before != "" || r.now == "" && now != "" {
			*r = row // of the end that has both states
		}
		return
	}
	t.index[key] = len(t.rows)
	t.rows = append(t.rows, row)
	t.counts[what]++
}

func isDown(p *fabric.Port) bool { return p.Info != nil && p.Info.State == ib.PortDown }

func peerOf(p *fabric.Port) *fabric.Port {
	if p == nil {
		return nil
	}
	return p.Peer
}

func keyOf(p *fabric.Port) portKey { return portKey{p.Node.GUID, p.Number} }

// linkText returns width, speed and state of a port's link.
func linkText(p *fabric.Port) string {
	if p == nil || p.Info == nil {
		return ""
	}
	var b []byte
	if e := linkinfo.NewEnd(p, false); e.Width != 0 {
		b = append(append(b, e.Width.String()...), ' ')
		if e.Speed != 0 {
			b = append(append(b, e.Speed.String()...), ' ')
		}
	}
	return string(appendState(b, p.Info))
}

// linkTexts returns [linkText] for both fabrics, with the differences between the peers.
func (t *diffTable) linkTexts(d linkinfo.PortDiff) (before, now string) {
	before, now = linkText(d.Old), linkText(d.New)
	a, b := peerOf(d.Old), peerOf(d.New)
	if a == nil || b == nil || !t.checks.Connection {
		return before, now
	}
	if t.checks.LID && a.LID() != b.LID() {
		before, now = before+", peer "+lidText(a), now+", peer "+lidText(b)
	}
	if t.checks.Description && a.Node.Desc != b.Node.Desc {
		before += ", peer " + strconv.Quote(a.Node.Desc.Clean())
		now += ", peer " + strconv.Quote(b.Node.Desc.Clean())
	}
	return before, now
}

// print prints the table, and below it the numbers of changes.
func (t *diffTable) print(out *render.Output, env *cmdutil.Env, partial bool) {
	colour := render.NewPalette(env.Out, env.Getenv)
	mark := map[string]func(string) string{lost: colour.Bad, added: colour.Good, changed: colour.Warn}
	if len(t.rows) > 0 {
		column := func(header string, text func(change) string) render.Column[change] {
			return render.TextColumn(header, func(c change) string { return render.OrAbsent(text(c)) })
		}
		render.Columns(out, []render.Column[change]{
			column("CHANGE", func(c change) string { return mark[c.what](c.what) }),
			column("NODE", func(c change) string { return c.node }),
			column("PEER", func(c change) string { return c.peer }),
			column(t.headers[0], func(c change) string { return c.before }),
			column(t.headers[1], func(c change) string { return c.now }),
		}, t.rows)
	}
	verdict := t.verdict()
	if partial {
		verdict = "partial result, " + verdict
	}
	fmt.Fprintln(out, verdict)
}

// verdict returns the numbers of changes.
func (t *diffTable) verdict() string {
	var parts []string
	for _, what := range []string{lost, added, changed} {
		if n := t.counts[what]; n > 0 {
			parts = append(parts, plural.Count(n, "link", "links")+" "+what)
		}
	}
	if t.numNode > 0 {
		parts = append(parts, plural.Count(t.numNode, "node", "nodes")+" with differences")
	}
	if len(parts) == 0 {
		return "no differences"
	}
	return strings.Join(parts, ", ")
}
