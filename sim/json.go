package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/netfile"
	"github.com/ibkit/ibkit/internal/textfile"
)

// linksSchema is the ibkit linkinfo --json schema: see schema/linkinfo.json.
const linksSchema = "ibkit/linkinfo/4"

// ParseJSON parses ibkit linkinfo --json --attributes output: all nodes with NodeInfo,
// SwitchInfo and PortInfo, and the links. Ports keep the state in the file, with LIDs and
// port states; the file has no forwarding tables. A port without a PortInfo gets the
// peer's PortInfo.
//
// The file must contain the whole fabric: output that was filtered by nodes or ports is
// rejected. Only partial scan output may lack ports, which are then down. Errors name the
// file (name), line, column and JSON member.
func ParseJSON(r io.Reader, name string) (*Fabric, error) {
	j := &jsonReader{at: newPositions(r, name), byGUID: map[ib.GUID]*jsonNode{}}
	j.tokens = json.NewDecoder(j.at)
	f, err := j.read()
	if err != nil {
		return nil, fmt.Errorf("read fabric: %w", err)
	}
	return f, nil
}

// A jsonReader decodes nodes one by one, because the text for a large fabric would double
// the memory use.
type jsonReader struct {
	at     *positions
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
	case schema == nil || *schema != linksSchema:
		return nil, j.errorf("schema: want %s, the form that ibkit linkinfo --json --attributes prints", linksSchema)
	case len(j.nodes) == 0:
		return nil, j.errorf("nodes: the array is empty")
	}
	if _, err := j.tokens.Token(); !errors.Is(err, io.EOF) {
		return nil, j.errorf("want the end of the file")
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

// readNodes decodes the member nodes.
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
				return j.at.errorf(start+wrong.Offset-1, "%s: got %s, want %s", member(path, wrong.Field), wrong.Value, kindOf(wrong.Type))
			}
			return n.errorf("%w", err)
		}
		if other := j.byGUID[n.info.NodeGUID]; other != nil {
			return n.errorf("%s.guid: duplicate GUID 0x%x, used by %s", path, n.info.NodeGUID, other)
		}
		j.byGUID[n.info.NodeGUID] = n
		j.nodes = append(j.nodes, n)
		if j.ports += int(n.info.NumPorts); len(j.nodes) > netfile.MaxNodes || j.ports > netfile.MaxAllPorts {
			return n.errorf("%s: more than %d nodes or %d ports", path, netfile.MaxNodes, netfile.MaxAllPorts)
		}
	}
	return j.delimiter(']', "the end of the array")
}

// member joins a path and a member name.
func member(path, name string) string { return strings.TrimSuffix(path+"."+name, ".") }

// delimiter decodes a bracket.
func (j *jsonReader) delimiter(want json.Delim, what string) error {
	got, err := j.tokens.Token()
	switch {
	case err != nil:
		return j.syntax(err)
	case got != want:
		return j.errorf("want %s", what)
	}
	return nil
}

// value decodes a value and moves the mark to its start.
func (j *jsonReader) value(v any, path string) error {
	start := j.tokens.InputOffset()
	j.at.mark(start)
	err := j.tokens.Decode(v)
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return j.errorf("%s: got %s, want %s", path, wrong.Value, kindOf(wrong.Type))
	case errors.As(err, &syntax):
		// The offset in the decoder's error is not a position in the file if tokens are
		// read as well.
		text := bytes.TrimLeft(j.at.kept, " \t\r\n:,")
		if !errors.As(json.Unmarshal(text, new(json.RawMessage)), &syntax) {
			return j.syntax(err)
		}
		return j.at.errorf(j.at.end()-int64(len(text))+syntax.Offset-1, "%s: %w", path, textfile.InvalidJSON(syntax))
	case err != nil:
		return j.syntax(err)
	}
	return nil
}

// errorf returns an error with the last token's position.
func (j *jsonReader) errorf(format string, args ...any) error {
	return j.at.errorf(j.tokens.InputOffset()-1, format, args...)
}

// syntax adds a position to a decoder or file error.
func (j *jsonReader) syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return j.at.errorf(j.at.end(), "unexpected end of the file")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		err = textfile.InvalidJSON(syntax)
	}
	return j.at.errorf(j.tokens.InputOffset(), "%w", err)
}
