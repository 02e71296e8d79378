package counters

import (
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/counters"
)

// writeJSON writes a document, with one node per line.
func (c *command) writeJSON(out *render.Output, r *counters.Result, rows []row) {
	shown := map[*counters.Node][]*counters.Port{}
	ports := make([]*counters.Port, 0, len(rows))
	for _, w := range rows {
		n := r.Node(w.Port)
		shown[n], ports = append(shown[n], w.Port), append(ports, w.Port)
	}
	head := r.Head(ports, c.names)
	if c.registers != nil {
		head.Fail(c.registers.Result.ReportFailures()...)
	}
	render.WriteHead(out, &head)
	render.WriteMembers(out, ',', r.Window(c.options.Window))
	var nodes []*counters.Node
	for _, n := range r.Nodes {
		if len(shown[n]) > 0 {
			nodes = append(nodes, n)
		}
	}
	o := counters.ReportOptions{Names: c.names, Counters: c.rows.chosen}
	if c.registers != nil {
		o.Measured = c.measured
	}
	render.AppendArray(out, "nodes", nodes, func(b []byte, n *counters.Node) []byte { return r.AppendNodeJSON(b, n, shown[n], o) })
	out.WriteString("\n}\n")
}

// measured returns the bit error rates that a port's device measures, nil if they are unknown.
func (c *command) measured(p *fabric.Port) *counters.ReportMeasured {
	b := c.registers.End(p).BitErrors
	if b == nil {
		return nil
	}
	return &counters.ReportMeasured{Raw: b.Raw, Effective: b.Effective, Symbol: b.Symbol, Seconds: b.Seconds}
}

// writeCSV writes one record per port, after a header in the first window. "" stands for
// an unknown value.
func (c *command) writeCSV(out *render.Output, rows []row) {
	w := textfile.NewCSV(out)
	chosen := c.rows.chosen
	if len(chosen) == 0 {
		chosen = counters.Counters()
	}
	header := []string{
		"time", "node_guid", "node", "port", "peer_guid", "peer", "peer_port", "window",
		"transmit", "receive", "lost_bandwidth", "findings", "cause",
	}
	for _, counter := range chosen {
		header = append(header, counter.String(), counter.String()+"_per_second")
	}
	if c.registers != nil {
		header = append(header, "raw_ber", "effective_ber", "symbol_ber")
	}
	if !c.hasTable {
		c.hasTable = true
		w.Write(header...)
	}
	var record []string // for reuse
	for _, r := range rows {
		record = appendCSVCounters(c.appendCSVHead(record[:0], r), r, chosen)
		if c.registers != nil {
			record = c.appendMeasured(record, r)
		}
		w.Write(record...)
	}
	_ = w.Flush() // Flush of out reports errors
}

// appendCSVHead appends the columns before those of the counters to an empty record.
func (c *command) appendCSVHead(record []string, r row) []string {
	record = append(record, make([]string, 13)...)
	if r.Now != nil {
		record[0] = r.Now.At().Format(render.TimeFormat)
	}
	record[1], record[2], record[3] = r.Node.GUID.String(), c.names.Name(r.Node), strconv.Itoa(int(r.Number))
	if r.Peer != nil {
		record[4], record[5], record[6] = r.Peer.Node.GUID.String(), c.names.Name(r.Peer.Node), strconv.Itoa(int(r.Peer.Number))
	}
	if d := r.delta; d != nil {
		record[7] = number(d.Window().Seconds(), true)
		record[8] = number(r.Utilization(d, counters.XmitData))
		record[9] = number(r.Utilization(d, counters.RcvData))
		record[10] = number(r.LostBandwidth(d))
	}
	var kinds []string
	for _, f := range r.findings {
		kinds = append(kinds, string(f.Kind))
	}
	record[11] = strings.Join(kinds, " ")
	if len(r.findings) > 0 && r.findings[0].Class != 0 {
		record[12] = r.findings[0].Class.String()
	}
	return record
}

func appendCSVCounters(record []string, r row, chosen []counters.Counter) []string {
	for _, c := range chosen {
		value, rate := "", ""
		if r.Now != nil {
			if v, ok := r.Now.Value(c); ok {
				value = strconv.FormatUint(v.N, 10)
			}
			if r.delta != nil {
				rate = number(r.delta.PerSecond(c))
			}
		}
		record = append(record, value, rate)
	}
	return record
}

// appendMeasured appends the bit error rates from registers.
func (c *command) appendMeasured(record []string, r row) []string {
	m := c.measured(r.Port.Port)
	if m == nil {
		return append(record, "", "", "")
	}
	return append(record, number(m.Raw, true), number(m.Effective, true), number(m.Symbol, true))
}

func number(v float64, ok bool) string {
	if !ok {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
