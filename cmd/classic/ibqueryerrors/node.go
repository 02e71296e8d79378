package ibqueryerrors

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/cmd/internal/shared/pma"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// report queries node agents, prints the counters, and clears them. Requests to many
// nodes are in flight; the output is in node order.
func (c *command) report(ctx context.Context, out *render.Output, client *umad.Client, nodes []*fabric.Node) error {
	var selected []*fabric.Node
	for _, n := range nodes {
		if len(c.types) == 0 || c.types[n.Info.NodeType] {
			selected = append(selected, n)
		}
	}
	reports := make([]*report, len(selected))
	pool := pma.Pool{
		Diag: c.Diag, Client: client,
		Work: func(j *pma.Job) {
			r := &report{command: c, job: j, node: selected[j.Index], name: c.names.Name(selected[j.Index])}
			reports[j.Index] = r
			r.run()
		},
		Done: func(j *pma.Job) {
			c.totals.add(reports[j.Index].totals)
			reports[j.Index] = nil
			out.Write(j.Out.Bytes())
			if j.ErrOut.Len() > 0 {
				out.Flush()
				_, _ = j.ErrOut.WriteTo(c.Env.ErrOut)
			}
		},
	}
	return pool.Run(ctx, len(selected))
}

func (t *totals) add(more totals) {
	t.nodes += more.nodes
	t.badNodes += more.badNodes
	t.ports += more.ports
	t.badPorts += more.badPorts
	t.failures += more.failures
}

// A report is a single node's part of the output.
type report struct {
	*command
	job    *pma.Job
	node   *fabric.Node
	name   string
	to     umad.Target
	caps   mad.PerfCapMask
	caps2  mad.PerfCapMask2
	header bool // the line above the ports is printed

	alive    bool // the agent has responded
	timeouts int  // before any response

	totals totals
}

// allPorts is the PortSelect for the sums over all ports.
const allPorts = mad.AllPorts

// run queries the node as the C tool's print_node does.
func (r *report) run() {
	isSwitch := r.node.IsSwitch()
	first, agent := 1, 0
	if isSwitch && r.node.Switch != nil && r.node.Switch.EnhancedPort0 != 0 {
		first = 0
	}
	if isSwitch {
		r.address(r.port(0))
	} else if agent = r.firstPort(); agent <= int(r.node.Info.NumPorts) {
		r.address(r.port(agent))
	}
	all := r.queryCaps(agent) && r.caps.Has(mad.PerfAllPortSelect)
	if !all || r.onlyData || r.queryErrors(allPorts) {
		for n := first; n <= int(r.node.Info.NumPorts); n++ {
			p := r.port(n)
			if p == nil {
				continue
			}
			r.address(p)
			if r.onlyData {
				r.queryData(p)
			} else {
				r.queryErrors(n)
			}
			r.totals.ports++
			if !all {
				r.clear(n)
			}
		}
	} else {
		r.totals.ports += int(r.node.Info.NumPorts)
	}
	r.totals.nodes++
	if all {
		r.clear(allPorts)
	}
}

// port returns a port on the node; nil if it did not respond.
func (r *report) port(n int) *fabric.Port {
	if n < len(r.node.Ports) && r.node.Ports[n] != nil && r.node.Ports[n].Info != nil {
		return r.node.Ports[n]
	}
	return nil
}

// firstPort returns the number of the first port that responded.
func (r *report) firstPort() int {
	n := 1
	for n <= int(r.node.Info.NumPorts) && r.port(n) == nil {
		n++
	}
	return n
}

// address directs the following requests to a port's agent.
func (r *report) address(p *fabric.Port) {
	if p == nil {
		return
	}
	r.to = umad.Target{LID: p.LID()}
	r.to.SL = r.levels[r.to.LID]
	r.job.Caller.Expect = p.Identity()
}

// queryCaps queries the agent's capabilities.
func (r *report) queryCaps(port int) bool {
	var info mad.ClassPortInfo
	if !r.get("query_cap_mask", "classportinfo", port, &info) {
		return false
	}
	r.caps, r.caps2 = info.PerfCaps()
	return true
}

// maxTimeouts is the unanswered request count after which an agent without any response
// is not queried again: each further request would cost the timeout.
const maxTimeouts = 2

// get queries an attribute. It counts and reports a failure.
func (r *report) get(function, attr string, port int, a mad.Attribute) bool {
	err := r.job.Caller.Get(&r.to, port, a)
	if err == nil {
		r.alive = true
		return true
	}
	r.job.Caller.Warnf(function, "%s query failed on %s, %s port %d", attr, r.name, pma.PortID(r.to), port)
	r.totals.failures++
	if !errors.Is(err, umad.ErrTimeout) || r.alive {
		return false
	}
	if r.timeouts++; r.timeouts == maxTimeouts {
		r.job.Caller.Call = func(*umad.Request) umad.Reply { return umad.Reply{Err: err} }
	}
	return false
}

const (
	countersName = "IB_GSI_PORT_COUNTERS"
	extendedName = "IB_GSI_PORT_COUNTERS_EXT"
)

// queryErrors prints a port's counters, or their sums over all ports, that exceed their
// thresholds. It reports whether there are any.
func (r *report) queryErrors(port int) bool {
	normal := &mad.PortCounters{}
	if !r.get("print_errors", countersName, port, normal) {
		return false
	}
	var extended *mad.PortCountersExtended
	if r.caps.HasExtended() {
		extended = &mad.PortCountersExtended{}
		if !r.get("print_errors", extendedName, port, extended) {
			return false
		}
	}
	if !r.caps.Has(mad.PerfXmitWait) {
		normal.XmitWait = 0
	}
	text := r.errorText(port, normal, extended)
	if text == "" {
		return false
	}
	if r.data {
		text += r.dataText(normal, extended, false)
	}
	r.printErrors(port, text)
	return true
}

// printErrors prints a port's error line.
func (r *report) printErrors(port int, text string) {
	isSwitch := r.node.IsSwitch()
	out := &r.job.Out
	guid := r.node.Info.PortGUID
	if p := r.port(0); isSwitch && p != nil {
		guid = p.GUID
	}
	if !r.header {
		if isSwitch {
			fmt.Fprintf(out, "Errors for 0x%x \"%s\"\n", uint64(guid), r.name)
		} else {
			fmt.Fprintf(out, "Errors for \"%s\"\n", r.name)
		}
		r.header = true
		r.totals.badNodes++
	}
	if port == allPorts {
		if isSwitch {
			fmt.Fprintf(out, "   GUID 0x%x port ALL:%s\n", uint64(guid), text)
		}
		return
	}
	p := r.port(port)
	fmt.Fprintf(out, "   GUID 0x%x port %d:%s\n", uint64(p.GUID), port, text)
	r.printLink(p)
	r.totals.badPorts++
}

// printLink prints a port's link.
func (r *report) printLink(p *fabric.Port) {
	if !r.reportPort {
		return
	}
	out := render.NewOutput(&r.job.Out)
	(&links.Classic{Out: out, Names: r.names}).PortLine(p)
	out.Flush()
}

// queryData prints a port's traffic.
func (r *report) queryData(p *fabric.Port) {
	var normal *mad.PortCounters
	var extended *mad.PortCountersExtended
	if r.caps.HasExtended() {
		extended = &mad.PortCountersExtended{}
		if !r.get("print_data_cnts", extendedName, int(p.Number), extended) {
			return
		}
	} else {
		normal = &mad.PortCounters{}
		if !r.get("print_data_cnts", countersName, int(p.Number), normal) {
			return
		}
	}
	out := &r.job.Out
	if !r.header {
		fmt.Fprintf(out, "Data Counters for 0x%x \"%s\"\n", uint64(r.node.GUID), r.name)
		r.header = true
	}
	fmt.Fprintf(out, "   GUID 0x%x port %d:%s\n", uint64(r.node.GUID), p.Number, r.dataText(normal, extended, true))
	r.printLink(p)
}
