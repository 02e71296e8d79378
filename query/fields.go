package query

import (
	"bytes"
	"strings"

	"github.com/ibkit/ibkit/mad"
)

// A Field is a field of an attribute with the text of its value. Rows of tables have no
// name.
type Field struct{ Name, Text string }

// Fields returns the fields of an attribute in the order of the classic dump. The names
// of capabilities are joined to one text.
func Fields(a mad.Attribute) []Field {
	if desc, ok := a.(*mad.NodeDescription); ok {
		return []Field{{"NodeDesc", desc.Clean()}}
	}
	var b bytes.Buffer
	if err := mad.Dump(&b, a); err != nil {
		return nil // the buffer accepts all writes
	}
	var fields []Field
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, "\n")
		name, value, found := strings.Cut(line, ":")
		switch text := strings.TrimLeft(value, "."); {
		case strings.HasPrefix(line, "\t") && len(fields) > 0:
			last := &fields[len(fields)-1]
			last.Text += " " + strings.TrimSpace(line)
		case found && len(text) < len(value) && !strings.ContainsAny(name, " |"):
			fields = append(fields, Field{name, text})
		case strings.TrimSpace(line) != "":
			fields = append(fields, Field{"", line})
		}
	}
	return fields
}
