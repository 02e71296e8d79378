package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// linksSchemas are the versions of JSON that can be read: those of ibkit linkinfo
// --json, which schema/linkinfo.json describes. Version 1 always has the attributes,
// version 2 with --attributes.
var linksSchemas = []string{"ibkit/linkinfo/1", "ibkit/linkinfo/2"}

// ParseJSON reads a fabric as ibkit linkinfo --json printed it: all nodes with
// what NodeInfo, SwitchInfo and PortInfo said of them, and the links. Ports are
// as they were then, LIDs and states included; forwarding tables are not in the
// file. Of a port that did not answer it is taken that it does what the other
// end does.
//
// The whole fabric has to be in the file: one that was printed with filters, so
// that nodes or ports are left out, is refused. Only where the scan itself was a
// partial one may ports be missing; they are down then. name stands
// for the file in errors, which name line, column and member; after an error
// there is no fabric.
func ParseJSON(r io.Reader, name string) (*Fabric, error) {
	j := &jsonReader{at: newPlaces(r, name), byGUID: map[ib.GUID]*jsonNode{}}
	j.tokens = json.NewDecoder(j.at)
	f, err := j.read()
	if err != nil {
		return nil, fmt.Errorf("read fabric: %w", err)
	}
	return f, nil
}

// A jsonReader reads a node at a time: the text of a large fabric would not fit
// into memory next to it.
type jsonReader struct {
	at     *places
	tokens *json.Decoder

	nodes  []*jsonNode
	byGUID map[ib.GUID]*jsonNode
	ports  int
}

func (j *jsonReader) read() (*Fabric, error) {
	if err := j.delimiter('{', "an object, as ibkit linkinfo --json --attributes prints it"); err != nil {
		return nil, err
	}
	var schema *string
	var partial bool
	for j.tokens.More() {
		member, err := j.tokens.Token()
		if err != nil {
			return nil, j.syntax(err)
		}
		switch member {
		case "schema":
			err = j.value(&schema, "schema")
		case "partial":
			err = j.value(&partial, "partial")
		case "nodes":
			err = j.readNodes()
		default:
			var skipped json.RawMessage
			err = j.value(&skipped, fmt.Sprint(member))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := j.delimiter('}', "the end of the object"); err != nil {
		return nil, err
	}
	switch {
	case schema == nil || !slices.Contains(linksSchemas, *schema):
		return nil, j.errorf("schema: expected %s, the form that ibkit linkinfo --json --attributes prints", strings.Join(linksSchemas, " or "))
	case len(j.nodes) == 0:
		return nil, j.errorf("nodes: there is none")
	}
	if _, err := j.tokens.Token(); !errors.Is(err, io.EOF) {
		return nil, j.errorf("expected the end of the file")
	}
	if !partial {
		for _, n := range j.nodes {
			if err := n.complete(); err != nil {
				return nil, err
			}
		}
	}
	return j.build()
}

// readNodes reads the member nodes.
func (j *jsonReader) readNodes() error {
	if err := j.delimiter('[', "nodes: an array"); err != nil {
		return err
	}
	for j.tokens.More() {
		var text json.RawMessage
		path := fmt.Sprintf("nodes[%d]", len(j.nodes))
		if err := j.value(&text, path); err != nil {
			return err
		}
		start := j.tokens.InputOffset() - int64(len(text))
		n := &jsonNode{path: path, place: j.at.of(start)}
		if err := n.read(text); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) {
				return j.at.errorf(start+wrong.Offset-1, "%s: expected %s, not %s", member(path, wrong.Field), kindOf(wrong.Type), wrong.Value)
			}
			return n.errorf("%w", err)
		}
		if other := j.byGUID[n.info.NodeGUID]; other != nil {
			return n.errorf("%s.guid: %s has the GUID 0x%x as well", path, other, n.info.NodeGUID)
		}
		j.byGUID[n.info.NodeGUID] = n
		j.nodes = append(j.nodes, n)
		if j.ports += int(n.info.NumPorts); len(j.nodes) > maxNetNodes || j.ports > maxNetPorts {
			return n.errorf("%s: more than %d nodes or %d ports", path, maxNetNodes, maxNetPorts)
		}
	}
	return j.delimiter(']', "the end of the array")
}

// member joins a path and the name of what is in it.
func member(path, name string) string { return strings.TrimSuffix(path+"."+name, ".") }

// delimiter reads a bracket.
func (j *jsonReader) delimiter(want json.Delim, what string) error {
	got, err := j.tokens.Token()
	switch {
	case err != nil:
		return j.syntax(err)
	case got != want:
		return j.errorf("expected %s", what)
	}
	return nil
}

// value reads a value and sets the mark before it.
func (j *jsonReader) value(v any, path string) error {
	start := j.tokens.InputOffset()
	j.at.mark(start)
	err := j.tokens.Decode(v)
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return j.errorf("%s: expected %s, not %s", path, kindOf(wrong.Type), wrong.Value)
	case errors.As(err, &syntax):
		// Where tokens are read as well, the decoder's offset is no place in the
		// file.
		text := bytes.TrimLeft(j.at.kept, " \t\r\n:,")
		if !errors.As(json.Unmarshal(text, new(json.RawMessage)), &syntax) {
			return j.syntax(err)
		}
		return j.at.errorf(j.at.end()-int64(len(text))+syntax.Offset-1, "%s: %w", path, syntax)
	case err != nil:
		return j.syntax(err)
	}
	return nil
}

// errorf makes an error about what was read last.
func (j *jsonReader) errorf(format string, args ...any) error {
	return j.at.errorf(j.tokens.InputOffset()-1, format, args...)
}

// syntax adds the place to an error of the decoder about a token, or of the file.
func (j *jsonReader) syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return j.at.errorf(j.at.end(), "expected more: the file ends in the middle")
	}
	return j.at.errorf(j.tokens.InputOffset(), "%w", err)
}
