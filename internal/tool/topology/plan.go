package topology

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// A Plan is a fabric's intended cabling. [ReadPlan] reads it.
type Plan struct {
	File   string
	Cables []PlanCable

	// Damage has an error for each part of the file that could not be read, a
	// [*textfile.Error]. The rest of the plan applies.
	Damage []error

	// Incomplete is set if cables are missing: [Plan.Compare] then omits
	// [report.UnexpectedCable].
	Incomplete bool
}

// A PlanCable is a cable in a plan.
type PlanCable struct {
	A, B PlanEnd
	Line int // in the file; 0 for a file without lines

	// The intended width and speed, or the rate in 10^9 bits per second; 0 if the
	// plan does not have them.
	Width ib.LinkWidth
	Speed ib.Speed
	Gbps  float64
}

// A PlanEnd is an end of a planned cable.
type PlanEnd struct {
	Name  string  // node or host name
	GUID  ib.GUID // node or port GUID; 0 if unknown
	Port  string  // number or label, for example "12", "1/2", "mlx5_0"; "" for any port
	Place string  // rack and unit; "" if unknown
}

// String returns name and port.
func (e PlanEnd) String() string {
	s := e.Name
	if s == "" {
		s = e.GUID.String()
	}
	switch {
	case e.Port == "":
	case e.Port[0] >= '0' && e.Port[0] <= '9':
		s += "[" + e.Port + "]" // also labels, which fabric.PortName does not print
	case s != "" && strings.HasPrefix(fold(e.Port), fold(s)):
		s = e.Port // the label includes the host
	default:
		s += " " + e.Port
	}
	return printable(s)
}

// printable replaces the control characters in a plan's text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffd || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// PlanOf returns a fabric's cabling as a plan.
func PlanOf(f *fabric.Fabric, names *fabric.NameMap) *Plan {
	p := &Plan{}
	end := func(port *fabric.Port) PlanEnd {
		return PlanEnd{Name: names.Name(port.Node), GUID: port.Node.GUID, Port: strconv.Itoa(int(port.Number))}
	}
	for _, c := range Cables(f) {
		cable := PlanCable{A: end(c.A), B: end(c.B)}
		cable.Width, cable.Speed = c.Rate()
		p.Cables = append(p.Cables, cable)
	}
	return p
}

// Compare compares a fabric with the plan. The findings are in the plan's order,
// followed by unexpected cables, and by descriptions that several nodes share if the plan
// identifies nodes by them.
func (p *Plan) Compare(f *fabric.Fabric, names *fabric.NameMap) []report.Finding {
	c := comparison{
		names: names, index: newPlanIndex(f, names), partial: f.Partial(),
		used: make(map[*fabric.Port]*planned, 2*len(p.Cables)), absent: map[string]int{}, shared: map[*fabric.Node]bool{},
	}
	c.planned = make([]planned, len(p.Cables))
	for i := range p.Cables {
		c.planned[i].PlanCable = &p.Cables[i]
		c.resolve(&c.planned[i])
	}
	// Cables with both ports given come first: the others get the rest.
	for _, exact := range []bool{true, false} {
		for i := range c.planned {
			if d := &c.planned[i]; !d.bad && d.exact() == exact {
				c.match(d)
			}
		}
	}
	c.findSwaps()
	for i := range c.planned {
		c.report(&c.planned[i])
	}
	slices.SortStableFunc(c.defects, func(a, b defect) int { return cmp.Compare(a.Line, b.Line) })
	if !p.Incomplete {
		c.unexpected(f)
	}
	return findings(append(c.defects, duplicateNames(f, names, func(n *fabric.Node) bool { return c.shared[n] })...))
}

// A planned is a cable in a plan with the fabric's ports that fit its ends.
type planned struct {
	*PlanCable
	a, b     []*fabric.Port // candidates
	bad      bool           // an end is not in the fabric
	found    *Cable         // nil: the cable is missing
	swapped  *planned       // the two cables are exchanged
	reported bool
}

// exact reports whether the plan has exactly one port for each end.
func (d *planned) exact() bool { return len(d.a) == 1 && len(d.b) == 1 }

type comparison struct {
	names   *fabric.NameMap
	index   *planIndex
	planned []planned
	used    map[*fabric.Port]*planned // by both ports of found cables
	absent  map[string]int            // index in defects, by name
	defects []defect
	shared  map[*fabric.Node]bool // nodes that share a name in the plan
	partial bool                  // a node that is not in the fabric may exist
}

func (c *comparison) add(d *planned, f defect) {
	if d != nil {
		f.Line = d.Line
	}
	for _, p := range f.ports {
		f.Ends = append(f.Ends, endOf(p, c.names))
	}
	c.defects = append(c.defects, f)
}

// resolve finds both ends' ports.
func (c *comparison) resolve(d *planned) {
	for _, end := range []struct {
		plan  PlanEnd
		ports *[]*fabric.Port
	}{{d.A, &d.a}, {d.B, &d.b}} {
		nodes := c.index.nodes(end.plan)
		if len(nodes) == 0 {
			d.bad = true
			c.missingNode(d, end.plan)
			continue
		}
		for _, n := range nodes {
			c.shared[n] = c.shared[n] || len(nodes) > 1
		}
		ports, problem := c.index.ports(end.plan, nodes)
		*end.ports = ports
		if problem != "" {
			d.bad, d.reported = true, true
			kind := report.MissingCable
			if len(nodes) > 1 {
				kind = report.Ambiguous
			}
			c.add(d, defect{Kind: kind, Detail: problem, Ends: []End{planEnd(end.plan)},
				Job: fmt.Sprintf("%scheck the port of %v in the plan", place(end.plan), end.plan)})
		}
	}
}

func planEnd(e PlanEnd) End {
	end := End{Name: printable(e.Name)}
	if e.GUID != 0 {
		end.GUID = new(e.GUID.String())
	}
	if e.Port != "" {
		end.Port = new(printable(e.Port))
	}
	return end
}

// place returns rack and unit before a job.
func place(e PlanEnd) string {
	if e.Place == "" {
		return ""
	}
	return printable(e.Place) + ": "
}

// missingNode reports a node once.
func (c *comparison) missingNode(d *planned, e PlanEnd) {
	key := fold(e.Name)
	if key == "" {
		key = e.GUID.String()
	}
	if _, known := c.absent[key]; known {
		return
	}
	c.absent[key] = len(c.defects)
	name := printable(e.Name)
	if name == "" {
		name = e.GUID.String()
	}
	end := planEnd(e)
	end.Port = nil
	detail := name + " is not in the fabric"
	if c.partial {
		detail = name + " is not among the nodes that responded with their names"
	}
	c.add(d, defect{Kind: report.MissingNode, Detail: detail, Ends: []End{end},
		Job: fmt.Sprintf("%scheck power, links and name of %s", place(e), name)})
}

// match looks for the cable in the fabric.
func (c *comparison) match(d *planned) {
	for _, p := range d.a {
		if p.Peer != nil && slices.Contains(d.b, p.Peer) && c.used[p] == nil && c.used[p.Peer] == nil {
			d.found = &Cable{p, p.Peer}
			c.used[p], c.used[p.Peer] = d, d
			return
		}
	}
	c.matchOtherEnd(d)
}

// matchOtherEnd accepts a cable that the plan lists at each end, in both cases without the
// port at the other end.
func (c *comparison) matchOtherEnd(d *planned) {
	p := d.onlyPort()
	if p == nil || p.Peer == nil || !slices.Contains(d.a, p.Peer) && !slices.Contains(d.b, p.Peer) {
		return
	}
	if other := c.used[p]; other != nil && other.onlyPort() == p.Peer {
		d.found = &Cable{p, p.Peer}
	}
}

// onlyPort returns the port that the plan gives, nil if it gives both or none.
func (d *planned) onlyPort() *fabric.Port {
	switch {
	case d.A.Port == "" && d.B.Port != "" && len(d.b) == 1:
		return d.b[0]
	case d.B.Port == "" && d.A.Port != "" && len(d.a) == 1:
		return d.a[0]
	}
	return nil
}

// findSwaps finds cable pairs with exchanged ends.
func (c *comparison) findSwaps() {
	byPort := map[*fabric.Port]*planned{}
	for i := range c.planned {
		if d := &c.planned[i]; !d.bad && d.found == nil && d.exact() {
			byPort[d.a[0]], byPort[d.b[0]] = d, d
		}
	}
	for i := range c.planned {
		d := &c.planned[i]
		if d.bad || d.found != nil || d.swapped != nil || !d.exact() {
			continue
		}
		for _, near := range []*fabric.Port{d.a[0], d.b[0]} {
			other := byPort[near.Peer]
			if near.Peer == nil || other == nil || other == d || other.swapped != nil {
				continue
			}
			if c.exchanged(d, other) {
				d.swapped, other.swapped = other, d
				break
			}
		}
	}
}

// exchanged reports whether two cables' ends are linked crosswise.
func (c *comparison) exchanged(x, y *planned) bool {
	x1, x2, y1, y2 := x.a[0], x.b[0], y.a[0], y.b[0]
	return x1.Peer == y2 && y1.Peer == x2 || x1.Peer == y1 && x2.Peer == y2
}

// report adds a cable's finding.
func (c *comparison) report(d *planned) {
	switch {
	case d.reported:
	case d.found != nil:
		c.reportSpeed(d)
	case d.swapped != nil:
		c.reportSwap(d, d.swapped)
	case d.bad:
		c.reportReplaced(d)
	default:
		c.reportMissing(d)
	}
	d.reported = true
}

func (c *comparison) reportSpeed(d *planned) {
	width, speed := d.found.Rate()
	if width == 0 || speed == 0 {
		return
	}
	var want string
	const tolerance = 0.98
	switch nominal := float64(width.Lanes()) * speed.NominalGbps(); {
	case d.Speed != 0 && speed < d.Speed:
		want = d.Speed.String()
	case d.Width != 0 && width.Lanes() < d.Width.Lanes():
		want = d.Width.String()
	case d.Gbps != 0 && nominal < d.Gbps*tolerance:
		want = strconv.FormatFloat(d.Gbps, 'f', -1, 64) + " Gbit/s"
	default:
		return
	}
	a, b := d.found.A, d.found.B
	c.add(d, defect{Kind: report.Slower, ports: []*fabric.Port{a, b},
		Detail: fmt.Sprintf("%s to %s runs at %s %s, planned: %s", portText(a, c.names), portText(b, c.names), width, speed, want),
		Job:    fmt.Sprintf("%sreplace or reseat the cable between %s and %s", place(d.A), portText(a, c.names), portText(b, c.names))})
}

func (c *comparison) reportSwap(d, other *planned) {
	other.reported = true
	// The exchange is least work at two ports on the same node.
	p, q, at := d.a[0], other.a[0], d.A
	for _, pair := range [][2]*fabric.Port{{d.a[0], other.a[0]}, {d.b[0], other.b[0]}, {d.a[0], other.b[0]}, {d.b[0], other.a[0]}} {
		if pair[0].Node == pair[1].Node && pair[0].Peer != pair[1] {
			p, q = pair[0], pair[1]
			if p == d.b[0] {
				at = d.B
			}
			break
		}
	}
	c.add(d, defect{Kind: report.Swapped, ports: []*fabric.Port{p, q},
		Detail: fmt.Sprintf("the cables of %s and %s look swapped: %s is connected to %s, %s to %s", portText(p, c.names), portText(q, c.names),
			portText(p, c.names), portText(p.Peer, c.names), portText(q, c.names), portText(q.Peer, c.names)),
		Job: fmt.Sprintf("%sexchange the cables at %s and %s", place(at), portText(p, c.names), portText(q, c.names))})
}

// reportReplaced reports a port with a planned peer that is not in the fabric, and with
// a connection to another node.
func (c *comparison) reportReplaced(d *planned) {
	for _, end := range []struct {
		ports      []*fabric.Port
		here, want PlanEnd
	}{{d.a, d.A, d.B}, {d.b, d.B, d.A}} {
		if len(end.ports) == 1 && end.ports[0].Peer != nil {
			c.wrongPeer(d, end.ports[0], end.here, end.want)
			return
		}
	}
}

func (c *comparison) wrongPeer(d *planned, p *fabric.Port, here, want PlanEnd) {
	c.used[p], c.used[p.Peer] = d, d
	c.add(d, defect{Kind: report.WrongPeer, ports: []*fabric.Port{p, p.Peer},
		Detail: fmt.Sprintf("%s is connected to %s, planned: %v", portText(p, c.names), portText(p.Peer, c.names), want),
		Job:    fmt.Sprintf("%smove the cable of %s from %s to %v", place(here), portText(p, c.names), portText(p.Peer, c.names), want)})
}

// reportMissing reports a cable that is not in the fabric, or has another end.
func (c *comparison) reportMissing(d *planned) {
	for _, end := range []struct {
		ports      []*fabric.Port
		here, want PlanEnd
	}{{d.a, d.A, d.B}, {d.b, d.B, d.A}} {
		if len(end.ports) == 1 && end.ports[0].Peer != nil && c.used[end.ports[0]] == nil {
			c.wrongPeer(d, end.ports[0], end.here, end.want)
			return
		}
	}
	var ends []End
	text := make([]string, 2)
	for i, end := range []struct {
		ports []*fabric.Port
		plan  PlanEnd
	}{{d.a, d.A}, {d.b, d.B}} {
		text[i] = end.plan.String()
		if len(end.ports) == 1 {
			ends = append(ends, endOf(end.ports[0], c.names))
			text[i] = portText(end.ports[0], c.names)
		} else {
			ends = append(ends, planEnd(end.plan))
		}
	}
	c.add(d, defect{Kind: report.MissingCable, Ends: ends,
		Detail: fmt.Sprintf("no link between %s and %s", text[0], text[1]),
		Job:    fmt.Sprintf("%sconnect %s to %s", place(d.A), text[0], text[1])})
}

// unexpected reports the cables that no planned cable accounts for, except cables
// within a chassis and to aggregation nodes.
func (c *comparison) unexpected(f *fabric.Fabric) {
	for _, d := range c.planned {
		if d.swapped != nil {
			for _, p := range []*fabric.Port{d.a[0], d.b[0]} {
				c.used[p], c.used[p.Peer] = d.swapped, d.swapped
			}
		}
	}
	for _, cable := range Cables(f) {
		a, b := cable.A, cable.B
		inside := a.Node.System != nil && a.Node.System == b.Node.System && a.Node.IsSwitch() && b.Node.IsSwitch()
		if c.used[a] != nil || c.used[b] != nil || inside || a.Node.IsAggregation() || b.Node.IsAggregation() {
			continue
		}
		c.add(nil, defect{Kind: report.UnexpectedCable, ports: []*fabric.Port{a, b},
			Detail: fmt.Sprintf("%s is connected to %s, which the plan does not contain", portText(a, c.names), portText(b, c.names)),
			Job:    fmt.Sprintf("remove the cable between %s and %s, or add it to the plan", portText(a, c.names), portText(b, c.names))})
	}
}
