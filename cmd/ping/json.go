package ping

import (
	"strconv"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/report"
)

// accountJSON prints the statistics as a JSON object on one line.
func (v *view) accountJSON(r *ping.Result) {
	bars := 0
	if v.histogram {
		bars = mostBars
	}
	document := r.Report(bars)
	for i, t := range r.Targets {
		findings := v.limits.findings(t)
		document.Targets[i].Findings = report.KindsOf(findings)
		document.Add(findings...)
	}
	for _, u := range v.finder.notFound {
		document.Fail(fabric.ReportFailure(u.text, u.err))
	}
	v.finder.reportExpected(document)
	document.Partial = v.isPartial(r)
	render.WriteLine(v.out, document)
}

// jsonLabels are the beginnings of the lines of probes, by their targets.
func jsonLabels(targets []*ping.Target) map[*ping.Target][]byte {
	labels := make(map[*ping.Target][]byte, len(targets))
	for _, t := range targets {
		b := render.MustMarshal(struct {
			Schema string `json:"schema"`
			Type   string `json:"type"`
			Target string `json:"target"`
			Via    string `json:"via"`
		}{ping.Schema, "probe", t.Name, t.Agent.String()})
		labels[t] = append(b[:len(b)-1], `,"seq":`...)
	}
	return labels
}

// appendJSON appends the object of a probe. What encoding/json would allocate for
// each is why it does not write them.
func (v *view) appendJSON(b []byte, p *ping.Probe) []byte {
	b = append(b, v.labels[p.Target]...)
	b = strconv.AppendInt(b, int64(p.Seq), 10)
	b = append(b, `,"outcome":"`...)
	b = append(b, p.Outcome.String()...)
	b = append(b, `","sent":"`...)
	b = p.Sent.AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","rtt_ns":`...)
	if p.RTT > 0 {
		b = strconv.AppendInt(b, int64(p.RTT), 10)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"host":`...)
	if p.Host != nil {
		b = appendJSONText(b, p.Host)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"node_guid":`...)
	if p.Node != 0 {
		b = append(p.Node.AppendTo(append(b, '"')), '"')
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"error":`...)
	if p.Err != nil {
		b = append(b, render.MustMarshal(p.Err.Error())...)
	} else {
		b = append(b, "null"...)
	}
	return append(b, "}\n"...)
}

// appendJSONText appends what a server calls itself as a string.
func appendJSONText(b, text []byte) []byte {
	b = append(b, '"')
	for _, c := range text {
		switch {
		case c < ' ' || c > '~':
			c = ' '
		case c == '"' || c == '\\':
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return append(b, '"')
}
