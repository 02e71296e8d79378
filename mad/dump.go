package mad

import (
	"fmt"
	"io"
)

// nameColumn is the column, counted from 0, at which a name's dots end in the
// classic dump. The colon after the name comes on top.
const nameColumn = 32

// A dumper writes an attribute that the classic tools do not print as a list
// of named fields.
type dumper interface{ dump(b []byte) []byte }

// Dump writes a as smpquery of infiniband-diags prints it, without the comment
// line at the top: one field a line, with dots between its name and its value.
// Tables come as smpquery's rows, for one block numbered from 0. A management
// key is written as it is.
func Dump(w io.Writer, a Attribute) error {
	if _, err := w.Write(appendDump(nil, a)); err != nil {
		return fmt.Errorf("dump %s: %w", AttributeName(a), err)
	}
	return nil
}

func appendDump(b []byte, a Attribute) []byte {
	if d, ok := a.(dumper); ok {
		return d.dump(b)
	}
	c := codec{mode: dumping, text: b}
	a.fields(&c)
	return c.text
}

// show writes a field in the modes that make text.
func (c *codec) show(name string, v uint64, width int, s *style) {
	if c.mode == dumping {
		c.text = s.dump(appendDotted(c.text, name), v, width)
		c.text = append(c.text, '\n')
		return
	}
	c.text = appendKey(c.text, name)
	c.text = appendValue(c.text, v, s.json)
}

func appendDotted(b []byte, name string) []byte {
	b = append(append(b, name...), ':')
	for range nameColumn - len(name) {
		b = append(b, '.')
	}
	return b
}
