package counters

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/ib"
)

// AppendNodeJSON appends [Result.ReportNode]'s JSON form to b, byte for byte as
// [json.Marshal] returns it. It allocates memory only for unusual texts, findings, bit
// error rates and lanes: the report on a large fabric has tens of thousands of ports.
func (r *Result) AppendNodeJSON(b []byte, n *Node, ports []*Port, o ReportOptions) []byte {
	head := r.ReportNode(n, nil, o)
	b = appendText(append(b, `{"name":`...), head.Name)
	b = appendGUID(append(b, `,"node_guid":`...), n.GUID)
	b = appendText(append(b, `,"type":`...), head.Type)
	b = append(b, `,"lid":`...)
	if head.LID != nil {
		b = strconv.AppendUint(b, uint64(*head.LID), 10)
	} else {
		b = append(b, "null"...)
	}
	chosen := countersByName
	if o.Counters != nil {
		chosen = byName(o.Counters)
	}
	b = append(b, `,"ports":[`...)
	for i, p := range ports {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.appendPort(b, p, chosen, &o)
	}
	return append(b, "]}"...)
}

// countersByName are all counters in name order, as JSON sorts map keys.
var countersByName = byName(Counters())

func byName(all []Counter) []Counter {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Counter) int { return cmp.Compare(a.String(), b.String()) })
	return slices.Compact(all)
}

// appendPort appends the JSON form of a [ReportPort].
func (r *Result) appendPort(b []byte, p *Port, chosen []Counter, o *ReportOptions) []byte {
	b = strconv.AppendUint(append(b, `{"port":`...), uint64(p.Number), 10)
	b = appendGUID(append(b, `,"port_guid":`...), p.GUID)
	b = append(b, `,"peer":`...)
	if peer := p.Peer; peer != nil {
		b = appendText(append(b, `{"name":`...), o.Names.Name(peer.Node))
		b = appendGUID(append(b, `,"node_guid":`...), peer.Node.GUID)
		b = append(strconv.AppendUint(append(b, `,"port":`...), uint64(peer.Number), 10), '}')
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"state":`...)
	if s := p.State(); s != 0 {
		b = appendText(b, s.String())
	} else {
		b = append(b, "null"...)
	}
	rate := DataRate(p.Port)
	b = appendFloat(append(b, `,"data_bits_per_second":`...), rate, rate > 0)
	b = r.appendSamples(b, p, chosen, o)
	b = append(b, `,"findings":[`...)
	for i, f := range r.Findings(p) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, string(f.Kind))
	}
	return append(b, "]}"...)
}

// appendSamples appends the members that depend on samples.
func (r *Result) appendSamples(b []byte, p *Port, chosen []Counter, o *ReportOptions) []byte {
	var d *Delta
	if p.Now == nil {
		b = append(b, `,"time":null,"window_seconds":null,"counters":null,"increase":null,"rates":null`...)
	} else {
		d = p.Delta()
		b = p.Now.At().AppendFormat(append(b, `,"time":"`...), time.RFC3339Nano)
		b = append(b, `","window_seconds":`...)
		if d != nil {
			b = appendFloat(b, d.Window().Seconds(), true)
		} else {
			b = append(b, "null"...)
		}
		b = p.appendCounters(b, d, chosen, o.Counters != nil)
	}
	if d != nil {
		v, ok := p.Utilization(d, XmitData)
		b = appendFloat(append(b, `,"transmit":`...), v, ok)
		v, ok = p.Utilization(d, RcvData)
		b = appendFloat(append(b, `,"receive":`...), v, ok)
		v, ok = p.LostBandwidth(d)
		b = appendFloat(append(b, `,"lost_bandwidth":`...), v, ok)
	} else {
		b = append(b, `,"transmit":null,"receive":null,"lost_bandwidth":null`...)
	}
	b = append(b, `,"tick":`...)
	if p.Tick != nil {
		b = strconv.AppendUint(b, uint64(*p.Tick), 10)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"ber":`...)
	if ber, ok := knownBER(p, d); ok {
		b = appendJSON(b, reportBER(ber))
	} else {
		b = append(b, "null"...)
	}
	if o.Measured != nil {
		if m := o.Measured(p.Port); m != nil {
			b = appendJSON(append(b, `,"measured_ber":`...), m)
		}
	}
	b = append(b, `,"lanes":`...)
	if lanes := reportLanes(p); lanes != nil {
		return appendJSON(b, lanes)
	}
	return append(b, "null"...)
}

func knownBER(p *Port, d *Delta) (BER, bool) {
	if d == nil {
		return BER{}, false
	}
	return p.SymbolBER(d)
}

// appendCounters appends counter values, increases and rates. Details that the agent lacks
// are omitted unless they were chosen.
func (p *Port) appendCounters(b []byte, d *Delta, chosen []Counter, given bool) []byte {
	object := func(name string, value func([]byte, Counter) []byte) {
		b = append(b, name...)
		before := byte('{')
		for _, c := range chosen {
			if !given && c.IsDetail() {
				if _, ok := p.Now.Value(c); !ok {
					continue
				}
			}
			b = append(append(append(b, before, '"'), c.String()...), `":`...)
			b = value(b, c)
			before = ','
		}
		if before == '{' {
			b = append(b, '{')
		}
		b = append(b, '}')
	}
	number := func(b []byte, n uint64, ok bool) []byte {
		if !ok {
			return append(b, "null"...)
		}
		return strconv.AppendUint(b, n, 10)
	}
	object(`,"counters":`, func(b []byte, c Counter) []byte {
		v, ok := p.Now.Value(c)
		return number(b, v.N, ok)
	})
	if d == nil {
		return append(b, `,"increase":null,"rates":null`...)
	}
	object(`,"increase":`, func(b []byte, c Counter) []byte {
		change, ok := d.Change(c)
		return number(b, change.Increase, ok && !change.Saturated)
	})
	object(`,"rates":`, func(b []byte, c Counter) []byte {
		rate, ok := d.PerSecond(c)
		return appendFloat(b, rate, ok)
	})
	return b
}

func appendGUID(b []byte, g ib.GUID) []byte { return append(g.AppendTo(append(b, '"')), '"') }

// appendFloat appends a number in encoding/json's format, null if it is not known.
func appendFloat(b []byte, v float64, ok bool) []byte {
	switch size := math.Abs(v); {
	case !ok:
		return append(b, "null"...)
	case size != 0 && (size < 1e-6 || size >= 1e21):
		return appendJSON(b, v)
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return appendJSON(b, s)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendJSON appends a value that cannot fail to encode.
func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return append(b, text...)
}
