package linkinfo

import (
	"encoding/hex"
	"encoding/json"
	"strconv"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// AppendNodeJSON appends the JSON form of [NewReportNode] to b, byte for byte the result
// of [json.Marshal]. It allocates memory only for unusual texts, attributes and counters:
// the report on a large fabric has tens of thousands of ports.
func AppendNodeJSON(b []byte, n *fabric.Node, ends []End, o ReportOptions) []byte {
	if o.Attributes {
		return appendJSON(b, NewReportNode(n, ends, o))
	}
	b = appendGUID(append(b, `{"guid":`...), n.GUID)
	b = appendText(append(b, `,"type":`...), n.Info.NodeType.String())
	b = appendName(append(b, `,"name":`...), n, o.Names)
	b = appendDescription(append(b, `,"description":`...), n)
	b = appendDescriptionHex(append(b, `,"description_hex":`...), n)
	b = appendLID(append(b, `,"lid":`...), firstPort(n))
	b = appendText(append(b, `,"route":`...), n.Route.String())
	b = strconv.AppendBool(append(b, `,"duplicate_guid":`...), n.Duplicate)
	b = appendJSON(append(b, `,"system":`...), reportSystem(n))
	b = append(b, `,"ports":[`...)
	for i := range ends {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPort(b, &ends[i], &o)
	}
	return append(b, "]}"...)
}

// appendDescriptionHex appends the bytes of a description that is not printable ASCII.
func appendDescriptionHex(b []byte, n *fabric.Node) []byte {
	for _, c := range n.Desc {
		if c == 0 {
			break
		}
		if c < ' ' || c > '~' {
			return appendText(b, hex.EncodeToString([]byte(n.Desc.String())))
		}
	}
	return append(b, "null"...)
}

// appendPort appends the JSON form of a [ReportPort] without attributes.
func appendPort(b []byte, e *End, o *ReportOptions) []byte {
	p := e.Port
	b = strconv.AppendUint(append(b, `{"number":`...), uint64(p.Number), 10)
	b = append(b, `,"external_number":`...)
	if p.External != 0 {
		b = strconv.AppendInt(b, int64(p.External), 10)
	} else {
		b = append(b, "null"...)
	}
	b = appendGUID(append(b, `,"guid":`...), p.GUID)
	b = appendLID(append(b, `,"lid":`...), p)
	if p.Info != nil {
		b = appendNonZero(append(b, `,"state":`...), p.Info.State)
		b = appendNonZero(append(b, `,"phys_state":`...), p.Info.PhysState)
	} else {
		b = append(b, `,"state":null,"phys_state":null`...)
	}
	b = appendNonZero(append(b, `,"width":`...), e.Width)
	b = appendNonZero(append(b, `,"speed":`...), e.Speed)
	b = append(b, `,"gbps":`...)
	if e.Width != 0 && e.Speed != 0 {
		// The format of encoding/json for numbers from 1e-6 to 1e21.
		b = strconv.AppendFloat(b, ib.LinkGbps(e.Width, e.Speed), 'f', -1, 64)
	} else {
		b = append(b, "null"...)
	}
	b = appendNonZero(append(b, `,"best_width":`...), e.BestWidth)
	b = appendNonZero(append(b, `,"best_speed":`...), e.BestSpeed)
	b = appendPeer(append(b, `,"peer":`...), p.Peer, o.Names)
	b = append(b, `,"findings":[`...)
	for i, f := range e.Findings {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"kind":`...), f.Kind.String())
		b = strconv.AppendBool(append(b, `,"problem":`...), f.IsProblem())
		b = append(appendText(append(b, `,"detail":`...), f.Detail()), '}')
	}
	b = append(b, ']')
	if o.Counters != nil {
		b = appendJSON(append(b, `,"counters":`...), o.Counters(p))
	}
	return append(b, '}')
}

// appendPeer appends the JSON form of a [ReportPeer].
func appendPeer(b []byte, peer *fabric.Port, names *fabric.NameMap) []byte {
	if peer == nil {
		return append(b, "null"...)
	}
	b = appendGUID(append(b, `{"node_guid":`...), peer.Node.GUID)
	b = appendGUID(append(b, `,"port_guid":`...), peer.GUID)
	b = strconv.AppendUint(append(b, `,"port":`...), uint64(peer.Number), 10)
	b = appendLID(append(b, `,"lid":`...), peer)
	b = appendText(append(b, `,"type":`...), peer.Node.Info.NodeType.String())
	return append(appendName(append(b, `,"name":`...), peer.Node, names), '}')
}

// appendNonZero appends the text of a value, null for the zero value.
func appendNonZero[T interface {
	comparable
	String() string
}](b []byte, v T) []byte {
	var zero T
	if v == zero {
		return append(b, "null"...)
	}
	return appendText(b, v.String())
}

func appendGUID(b []byte, g ib.GUID) []byte { return append(g.AppendTo(append(b, '"')), '"') }

// appendLID appends the LID of a port, null if it is unknown.
func appendLID(b []byte, p *fabric.Port) []byte {
	if p == nil || p.Caps() == nil {
		return append(b, "null"...)
	}
	return strconv.AppendUint(b, uint64(p.LID()), 10)
}

// appendName appends the name of a node as a JSON string, null if it has none.
func appendName(b []byte, n *fabric.Node, names *fabric.NameMap) []byte {
	start := len(b)
	b = names.AppendName(append(b, '"'), n)
	if len(b) == start+1 {
		return append(b[:start], "null"...)
	}
	return endText(b, start)
}

// appendDescription appends the description of a node as a JSON string, null if the node did
// not give it.
func appendDescription(b []byte, n *fabric.Node) []byte {
	if !n.Described() {
		return append(b, "null"...)
	}
	start := len(b)
	return endText(n.Desc.AppendClean(append(b, '"')), start)
}

// endText ends the JSON string that begins at an index of b.
func endText(b []byte, start int) []byte {
	if text := b[start+1:]; !isPlain(text) {
		return appendJSON(b[:start], string(text))
	}
	return append(b, '"')
}

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
	if !isPlain(s) {
		return appendJSON(b, s)
	}
	b = append(append(b, '"'), s...)
	return append(b, '"')
}

// isPlain reports whether encoding/json encodes a string as it is, between quotes.
func isPlain[T string | []byte](s T) bool {
	for i := range len(s) {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// plain contains the printable ASCII characters that encoding/json does not escape.
var plain = func() (is [256]bool) {
	for c := byte(' '); c <= '~'; c++ {
		is[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return is
}()

// appendJSON appends the result of [json.Marshal] for a value that cannot fail to encode.
func appendJSON(b []byte, v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return append(b, text...)
}
