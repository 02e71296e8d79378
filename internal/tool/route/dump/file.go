package dump

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"

	"github.com/ibkit/ibkit/internal/tool/route"
)

// hexNumber parses hexadecimal digits without a prefix.
func hexNumber(digits []byte, bits int) (uint64, bool) {
	v, err := strconv.ParseUint(string(digits), 16, bits)
	return v, err == nil
}

// prefixedHex parses a hexadecimal number that begins with 0x.
func prefixedHex(text []byte, bits int) (uint64, bool) {
	digits, ok := bytes.CutPrefix(text, []byte("0x"))
	if !ok {
		return 0, false
	}
	return hexNumber(digits, bits)
}

// decimalNumber parses decimal digits.
func decimalNumber(digits []byte, most uint64) (uint64, bool) {
	v, err := strconv.ParseUint(string(digits), 10, 64)
	return v, err == nil && v <= most
}

// damaged adds a failure for a part of a file that could not be read, or that contradicts
// another part. The rest of the file counts. n is nil, and attr "", without a table.
func damaged(r *route.Routing, n *route.Node, attr string, file string, line int, format string, args ...any) {
	err := &textfile.Error{File: file, Line: line, Err: fmt.Errorf(format, args...)}
	r.Failures = append(r.Failures, route.Failure{Node: n, Attr: attr, Err: err})
}

// linearTable is the attribute of a failure in a linear forwarding table.
var linearTable = mad.AttrLinearForwardingTable.String()

// switchByGUID returns a switch that the topology has.
func switchByGUID(r *route.Routing, guid uint64) (*route.Node, string) {
	n := r.NodeByGUID(ib.GUID(guid))
	switch {
	case n == nil:
		return nil, fmt.Sprintf("switch 0x%016x is not in the topology: the files are of different fabrics or times", guid)
	case !n.IsSwitch():
		return nil, fmt.Sprintf("0x%016x is not a switch in the topology", guid)
	}
	return n, ""
}

// reject adds a failure for a reader's current line.
func reject(r *route.Routing, l *textfile.Reader, n *route.Node, attr, problem string) {
	err := l.Errorf("%s", problem)
	l.Reject(err)
	if n != nil && attr == linearTable && n.Tables != nil {
		n.Tables.Incomplete = true
	}
	r.Failures = append(r.Failures, route.Failure{Node: n, Attr: attr, Err: err})
}

// endOf ends a file. Without any valid line, the first invalid line is an error; otherwise a
// line that ended the file early is a failure.
func endOf(r *route.Routing, l *textfile.Reader, valid bool) error {
	if !valid {
		return l.Err()
	}
	if err := l.End(); err != nil {
		r.Failures = append(r.Failures, route.Failure{Err: err})
	}
	return nil
}
