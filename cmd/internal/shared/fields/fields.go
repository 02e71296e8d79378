// Package fields splits attributes and packets into fields with names and texts.
package fields

import (
	"bytes"
	"fmt"
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
	var fields []Field
	mad.Fields(a, nil, func(name string, text []byte) {
		fields = append(fields, Field{name, string(appendLine(nil, text))})
	})
	return fields
}

// appendLine appends a text, with a blank in place of each line break.
func appendLine(b, text []byte) []byte {
	if bytes.IndexByte(text, '\n') < 0 {
		return append(b, text...)
	}
	return append(b, bytes.Join(bytes.Fields(text), []byte{' '})...)
}

// Renumber adds a number to the number at the beginning of each row of a table: the dump
// numbers the rows from 0 in each block.
func Renumber(parts []Field, first int) {
	for i := range parts {
		label, rest, found := strings.Cut(parts[i].Text, ":")
		number, err := strconv.Atoi(strings.TrimSpace(label))
		if parts[i].Name == "" && found && err == nil {
			parts[i].Text = fmt.Sprintf("%*d:%s", len(label), first+number, rest)
		}
	}
}
