// Package fields splits attributes and packets into fields with names and texts.
package fields

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/mad"
)

// A Field is a field of an attribute with the text of its value. Rows of tables have no
// name.
type Field struct{ Name, Text string }

// Of returns the fields of an attribute in the order of the classic dump. The names
// of capabilities are joined to one text.
func Of(a mad.Attribute) []Field {
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
		case found && name == "Node Description":
			fields = append(fields, Field{descriptionName, description(a)})
		case found && len(text) < len(value) && !strings.ContainsAny(name, " |"):
			fields = append(fields, Field{name, text})
		case strings.TrimSpace(line) != "":
			fields = append(fields, Field{"", line})
		}
	}
	return fields
}

const descriptionName = "NodeDesc"

// description returns the node description in an attribute. The dots in front of it in the
// dump look like dots that belong to it.
func description(a mad.Attribute) string {
	var d mad.NodeDescription
	mad.Visit(a, func(name string, _ int, v uint64) uint64 {
		if index, ok := strings.CutPrefix(name, descriptionName); ok {
			if i, err := strconv.Atoi(index); err == nil && i < len(d) {
				d[i] = byte(v)
			}
		}
		return v
	})
	return d.Clean()
}
