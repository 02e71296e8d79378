package linkinfo

import (
	"strconv"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/errorcounters"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/linkinfo"
)

// errorsColumn returns the column with the worst counter of each end.
func errorsColumn(r *errorcounters.Reader, colour *render.Palette, withPeer bool) render.Column[linkinfo.Link] {
	return render.Column[linkinfo.Link]{Header: "ERRORS", Append: orAbsent(func(b []byte, l linkinfo.Link) []byte {
		start := len(b)
		for i, p := range []*fabric.Port{l.Near.Port, l.Near.Port.Peer} {
			if p == nil || i == 1 && !withPeer {
				continue
			}
			problems := r.Problems(p)
			if len(problems) == 0 {
				continue
			}
			f := problems[0]
			if len(b) > start {
				b = append(b, "; "...)
			}
			if i == 1 {
				b = append(b, "at the peer "...)
			}
			b = append(b, colour.Bad(f.Class.String())...)
			b = append(append(b, ": "...), f.Text()...)
		}
		return b
	})}
}

// reportCounters returns the worst counter of a port for JSON.
func reportCounters(r *errorcounters.Reader) func(*fabric.Port) *linkinfo.ReportCounters {
	return func(p *fabric.Port) *linkinfo.ReportCounters {
		report := &linkinfo.ReportCounters{Read: r.WasRead(p)}
		if problems := r.Problems(p); len(problems) > 0 {
			f := problems[0]
			report.Worst = &linkinfo.ReportCounter{
				Counter: f.Counter.String(), Kind: string(f.Kind), Value: f.Value, Meaning: f.Meaning,
			}
			if f.Class != 0 {
				report.Worst.Class = new(f.Class.String())
			}
		}
		return report
	}
}

// csvColumns returns the columns with the worst counter of each end.
func csvColumns(r *errorcounters.Reader) []links.CSVColumn {
	var all []links.CSVColumn
	for _, end := range []struct {
		prefix string
		port   func(linkinfo.Link) *fabric.Port
	}{
		{"", func(l linkinfo.Link) *fabric.Port { return l.Near.Port }},
		{"peer_", func(l linkinfo.Link) *fabric.Port { return l.Near.Port.Peer }},
	} {
		for _, c := range []struct {
			name  string
			value func(counters.Finding) string
		}{
			{"error_class", func(f counters.Finding) string { return f.Class.String() }},
			{"error_counter", func(f counters.Finding) string { return f.Counter.String() }},
			{"error_value", func(f counters.Finding) string { return strconv.FormatUint(f.Value, 10) }},
		} {
			all = append(all, links.CSVColumn{Name: end.prefix + c.name, Value: func(l linkinfo.Link) string {
				if p := end.port(l); p != nil {
					if problems := r.Problems(p); len(problems) > 0 {
						return c.value(problems[0])
					}
				}
				return ""
			}})
		}
	}
	return all
}
