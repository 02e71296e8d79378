package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/textfile"
)

// maxDocument is the largest size of a file in bytes.
const maxDocument = 1 << 20

// A document is a YAML file with mappings, whose keys are declared. JSON is a part of
// YAML. Its errors are of type [*textfile.Error].
type document struct{ file string }

// readDocument reads a file.
func readDocument(path string) ([]byte, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxDocument+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxDocument:
		return nil, &textfile.Error{File: path, Err: fmt.Errorf("larger than %d bytes", maxDocument)}
	}
	return data, nil
}

// root parses the only document of a file.
func (d document) root(data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var n yaml.Node
	switch err := decoder.Decode(&n); {
	case errors.Is(err, io.EOF):
		return nil, &textfile.Error{File: d.file, Err: errors.New("the file is empty")}
	case err != nil:
		return nil, d.syntax(err)
	}
	var more yaml.Node
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &textfile.Error{File: d.file, Line: more.Line, Err: errors.New("got more than one document")}
	}
	return n.Content[0], nil
}

// syntax converts an error of the parser: "yaml: line 3: did not find …".
func (d document) syntax(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &textfile.Error{File: d.file, Err: errors.New(text)}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, cause, ok := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); ok && err == nil {
			e.Line, e.Err = line, errors.New(cause)
		}
	}
	return e
}

// errorf returns an error at a node.
func (d document) errorf(n *yaml.Node, format string, args ...any) error {
	return &textfile.Error{File: d.file, Line: n.Line, Err: fmt.Errorf(format, args...)}
}

// A field reads the value of a key.
type field func(*yaml.Node) error

// mapping reads the fields of a mapping. It rejects unknown and repeated keys.
func (d document) mapping(n *yaml.Node, what string, fields map[string]field) error {
	return d.entries(n, what, func(key string, k, value *yaml.Node) error {
		read := fields[key]
		if read == nil {
			return d.errorf(k, "%s: unknown key %s", what, textfile.Quote(key))
		}
		return read(value)
	})
}

// entries reads a mapping whose keys are names.
func (d document) entries(n *yaml.Node, what string, each func(key string, k, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return d.errorf(n, "%s: got %s, want a mapping", what, nodeText(n))
	}
	known := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, value := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			return d.errorf(k, "%s: got %s, want a key", what, nodeText(k))
		}
		if known[k.Value] {
			return d.errorf(k, "%s: repeated key %s", what, textfile.Quote(k.Value))
		}
		known[k.Value] = true
		if err := each(k.Value, k, value); err != nil {
			return err
		}
	}
	return nil
}

// list reads the elements of a sequence.
func (d document) list(n *yaml.Node, what string, each field) error {
	if n.Kind != yaml.SequenceNode {
		return d.errorf(n, "%s: got %s, want a list", what, nodeText(n))
	}
	for _, e := range n.Content {
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// text reads a scalar.
func (d document) text(n *yaml.Node, what string, to *string) error {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return d.errorf(n, "%s: got %s, want a text", what, nodeText(n))
	}
	*to = n.Value
	return nil
}

// parsed returns a field whose text a function parses.
func parsed[T any](d document, what string, to *T, parse func(string) (T, error)) field {
	return func(n *yaml.Node) error {
		var text string
		if err := d.text(n, what, &text); err != nil {
			return err
		}
		v, err := parse(text)
		if err != nil {
			return d.errorf(n, "%s: got %s, %w", what, textfile.Quote(text), err)
		}
		*to = v
		return nil
	}
}

// parseCount parses a number from 0.
func parseCount(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, errors.New("want a number from 0")
	}
	return n, nil
}

// parsePositive parses a number above 0 with a fraction.
func parsePositive(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0 && v <= 1e300) {
		return 0, errors.New("want a number above 0")
	}
	return v, nil
}

// parseTime parses a duration of at least 0.
func parseTime(s string) (time.Duration, error) {
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return 0, errors.New("want a time such as 6h or 500ms")
	}
	return v, nil
}

// schema returns the field schema, which must have a value.
func (d document) schema(want string) field {
	return func(n *yaml.Node) error {
		if n.Value != want {
			return d.errorf(n, "schema: got %s, want %s", textfile.Quote(n.Value), want)
		}
		return nil
	}
}

// nodeText describes a node in errors.
func nodeText(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	case yaml.ScalarNode:
		if n.Tag != "!!null" {
			return textfile.Quote(n.Value)
		}
	}
	return "an empty value"
}

// A mapping is a YAML mapping in the order of its additions.
type mapping struct{ yaml.Node }

// add adds a key if present is true. The value is a node, or of a basic type.
func (m *mapping) add(key string, value any, present bool) {
	if !present {
		return
	}
	m.Kind = yaml.MappingNode
	v, ok := value.(*yaml.Node)
	if !ok {
		v = &yaml.Node{}
		if err := v.Encode(value); err != nil {
			panic(err) // the types are known
		}
	}
	if v.Kind == 0 {
		v.Kind = yaml.MappingNode // without entries
	}
	k := &yaml.Node{}
	k.SetString(key)
	m.Content = append(m.Content, k, v)
}

// writeYAML writes a document.
func writeYAML(w io.Writer, v any) error {
	var text bytes.Buffer // the encoder's errors of writes are text
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(v), e.Close()); err != nil {
		return err
	}
	_, err := text.WriteTo(w)
	return err
}
