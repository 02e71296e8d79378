package check

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/ibkit/ibkit/internal/yamlfile"
)

// A document is a YAML file with this package's values.
type document struct{ yamlfile.File }

// A mapping is a YAML mapping in the order in which keys were added.
type mapping struct{ yaml.Node }

// add adds a key if present is true. The value is a node, or has a basic type.
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
	var text bytes.Buffer // the encoder's write errors are text
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(v), e.Close()); err != nil {
		return err
	}
	_, err := text.WriteTo(w)
	return err
}
