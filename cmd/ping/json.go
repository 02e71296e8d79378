package ping

import (
	"math"
	"net/netip"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/ping"
)

// schemaID names the form of ping's JSON, which schema/ping.json describes. A
// change that breaks readers changes the number.
const schemaID = "ibkit/ping/1"

type jsonResult struct {
	Schema     string           `json:"schema"`
	Type       string           `json:"type"`
	Partial    bool             `json:"partial"`
	Began      time.Time        `json:"began"`
	Seconds    float64          `json:"seconds"`
	Targets    []jsonTarget     `json:"targets"`
	Unresolved []jsonUnresolved `json:"unresolved"`
	Total      jsonStats        `json:"total"`
	Stray      int              `json:"stray"`
}

type jsonTarget struct {
	Target   string     `json:"target"`
	Via      string     `json:"via"`
	LID      *ib.LID    `json:"lid"`
	Route    *mad.Route `json:"route"`
	GID      *string    `json:"gid"`
	PortGUID *ib.GUID   `json:"port_guid"`
	Problem  bool       `json:"problem"`
	jsonStats
}

type jsonUnresolved struct {
	Target string `json:"target"`
	Error  string `json:"error"`
}

type jsonStats struct {
	Sent        int       `json:"sent"`
	Received    int       `json:"received"`
	Lost        int       `json:"lost"`
	Late        int       `json:"late"`
	Duplicated  int       `json:"duplicated"`
	Corrupted   int       `json:"corrupted"`
	WrongSource int       `json:"wrong_source"`
	WrongOUI    int       `json:"wrong_oui"`
	Refused     int       `json:"refused"`
	Unreachable int       `json:"unreachable"`
	LossPercent float64   `json:"loss_percent"`
	RTT         *jsonRTT  `json:"rtt"`
	Histogram   []jsonBar `json:"histogram"`
}

// jsonRTT has times in nanoseconds.
type jsonRTT struct {
	Min    int64 `json:"min_ns"`
	Avg    int64 `json:"avg_ns"`
	Median int64 `json:"median_ns"`
	P90    int64 `json:"p90_ns"`
	P99    int64 `json:"p99_ns"`
	P999   int64 `json:"p99_9_ns"`
	Max    int64 `json:"max_ns"`
	StdDev int64 `json:"stddev_ns"`
	Jitter int64 `json:"jitter_ns"`
}

type jsonBar struct {
	From  int64 `json:"from_ns"`
	To    int64 `json:"to_ns"`
	Count int   `json:"count"`
}

func (v *view) newJSONStats(s *ping.Stats) jsonStats {
	j := jsonStats{
		Sent: s.Sent, Received: s.Received, Lost: s.Lost, Late: s.Late, Duplicated: s.Duplicated, Corrupted: s.Corrupted,
		WrongSource: s.WrongSource, WrongOUI: s.WrongOUI, Refused: s.Refused, Unreachable: s.Unreachable,
		LossPercent: math.Round(100*s.Loss()*1e6) / 1e6,
	}
	if s.Received == 0 {
		return j
	}
	j.RTT = &jsonRTT{
		Min: int64(s.Min), Avg: int64(s.Avg()), Median: int64(s.Quantile(50)), P90: int64(s.Quantile(90)),
		P99: int64(s.Quantile(99)), P999: int64(s.Quantile(99.9)), Max: int64(s.Max), StdDev: int64(s.StdDev()), Jitter: int64(s.Jitter()),
	}
	if v.histogram {
		for _, b := range s.Bars(mostBars) {
			j.Histogram = append(j.Histogram, jsonBar{int64(b.From), int64(b.To), b.Count})
		}
	}
	return j
}

// accountJSON prints the account as an object in a line of its own.
func (v *view) accountJSON(r *ping.Result) {
	j := jsonResult{
		Schema: schemaID, Type: "summary", Partial: v.finder.partial || len(v.finder.notFound) > 0,
		Began: r.Began, Seconds: r.Took.Seconds(),
		Targets: []jsonTarget{}, Unresolved: []jsonUnresolved{}, Total: v.newJSONStats(&r.Total), Stray: r.Stray,
	}
	for _, t := range r.Targets {
		one := jsonTarget{Target: t.Name, Via: t.Via.String(), Problem: v.limits.exceeded(&t.Stats), jsonStats: v.newJSONStats(&t.Stats)}
		switch {
		case t.GRH != nil:
			one.GID = render.Ptr(netip.AddrFrom16(t.GRH.DGID).String())
		case t.To.LID != 0:
			one.LID = &t.To.LID
		default:
			one.Route = &t.To.Route
		}
		if t.PortGUID != 0 {
			one.PortGUID = render.Ptr(t.PortGUID)
		}
		j.Targets = append(j.Targets, one)
	}
	for _, u := range v.finder.notFound {
		j.Unresolved = append(j.Unresolved, jsonUnresolved{u.text, u.err.Error()})
	}
	v.out.Write(append(render.MustMarshal(j), '\n'))
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
		}{schemaID, "probe", t.Name, t.Via.String()})
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
