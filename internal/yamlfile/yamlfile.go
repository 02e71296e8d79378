// Package yamlfile reads YAML files with declared keys. Errors contain the file, the
// line and the key.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
)

// ErrEmpty is the error for a file without content other than comments.
var ErrEmpty = errors.New("the file is empty")

// maxSize is the largest file size in bytes.
const maxSize = 1 << 20

// A File is a YAML file name with mappings and declared keys. JSON is a part of
// YAML. Errors have the type [*textfile.Error].
type File string

// Read reads a file.
func Read(path string) ([]byte, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxSize:
		return nil, &textfile.Error{File: path, Err: fmt.Errorf("larger than %d bytes", maxSize)}
	}
	return data, nil
}

// Root parses the only document in a file.
func (f File) Root(data []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var n yaml.Node
	switch err := decoder.Decode(&n); {
	case errors.Is(err, io.EOF):
		return nil, &textfile.Error{File: string(f), Err: ErrEmpty}
	case err != nil:
		return nil, f.syntax(data, err)
	}
	var more yaml.Node
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, &textfile.Error{File: string(f), Line: more.Line, Err: errors.New("got more than one document")}
	case !errors.Is(err, io.EOF):
		return nil, f.syntax(data, err)
	}
	return n.Content[0], nil
}

// syntax converts a parser error: "yaml: line 3: did not find …". The parser omits the
// first line's number, and counts lines from 0 in its own errors, but not in scanner
// errors (parser.fail in go.yaml.in/yaml/v3).
func (f File) syntax(data []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	e := &textfile.Error{File: string(f), Line: 1, Err: errors.New(text)}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, cause, ok := strings.Cut(rest, ": ")
		if line, err := strconv.Atoi(number); ok && err == nil {
			e.Line, e.Err = line, errors.New(cause)
			if slices.Contains(parserErrors, cause) {
				last := 1 + bytes.Count(bytes.TrimRight(data, "\n"), []byte("\n"))
				e.Line = min(line+1, last)
			}
		}
	}
	return e
}

// parserErrors are the parser errors with line numbers from 0 (parserc.go).
var parserErrors = []string{
	"did not find expected <document start>", "did not find expected node content",
	"did not find expected '-' indicator", "did not find expected key",
	"did not find expected ',' or ']'", "did not find expected ',' or '}'",
}

// Errorf returns an error at a node.
func (f File) Errorf(n *yaml.Node, format string, args ...any) error {
	return &textfile.Error{File: string(f), Line: n.Line, Err: fmt.Errorf(format, args...)}
}

// A Field reads a key's value.
type Field func(*yaml.Node) error

// Mapping reads a mapping's fields. It rejects unknown and repeated keys.
func (f File) Mapping(n *yaml.Node, what string, fields map[string]Field) error {
	return f.Entries(n, what, func(key string, k, value *yaml.Node) error {
		read := fields[key]
		if read == nil {
			return f.Errorf(k, "%s: unknown key %s", what, textfile.Quote(key))
		}
		return read(value)
	})
}

// Entries reads a mapping with names as keys.
func (f File) Entries(n *yaml.Node, what string, each func(key string, k, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return f.Errorf(n, "%s: got %s, want a mapping", what, nodeText(n))
	}
	known := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, value := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			return f.Errorf(k, "%s: got %s, want a key", what, nodeText(k))
		}
		if known[k.Value] {
			return f.Errorf(k, "%s: repeated key %s", what, textfile.Quote(k.Value))
		}
		known[k.Value] = true
		if err := each(k.Value, k, value); err != nil {
			return err
		}
	}
	return nil
}

// List reads a sequence's elements.
func (f File) List(n *yaml.Node, what string, each Field) error {
	if n.Kind != yaml.SequenceNode {
		return f.Errorf(n, "%s: got %s, want a list", what, nodeText(n))
	}
	for _, e := range n.Content {
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// Text reads a scalar.
func (f File) Text(n *yaml.Node, what string, to *string) error {
	if n.Kind != yaml.ScalarNode || IsNull(n) {
		return f.Errorf(n, "%s: got %s, want a text", what, nodeText(n))
	}
	*to = n.Value
	return nil
}

// Parsed returns a field with text that a function parses.
func Parsed[T any](f File, what string, to *T, parse func(string) (T, error)) Field {
	return func(n *yaml.Node) error {
		var text string
		if err := f.Text(n, what, &text); err != nil {
			return err
		}
		v, err := parse(text)
		if err != nil {
			return f.Errorf(n, "%s: got %s, %w", what, textfile.Quote(text), err)
		}
		*to = v
		return nil
	}
}

// ParseBool parses a truth value.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("want true or false")
}

// ParseCount parses a number from 0.
func ParseCount(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, errors.New("want a number from 0")
	}
	return n, nil
}

// ParsePositive parses a number above 0 with a fraction.
func ParsePositive(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0 && v <= 1e300) {
		return 0, errors.New("want a number above 0")
	}
	return v, nil
}

// ParseTime parses a duration that is at least 0.
func ParseTime(s string) (time.Duration, error) {
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return 0, errors.New("want a time such as 6h or 500ms")
	}
	return v, nil
}

// Schema returns the field "schema", which must have a value.
func (f File) Schema(want string) Field {
	return func(n *yaml.Node) error {
		if n.Value != want {
			return f.Errorf(n, "schema: got %s, want %s", textfile.Quote(n.Value), want)
		}
		return nil
	}
}

// IsNull reports whether a value is empty, as after a key without a value.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

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
