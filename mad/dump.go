package mad

import (
	"fmt"
	"io"
)

// nameColumn is the column, from 0, at which the dots after a name end in the
// classic dump, without the colon.
const nameColumn = 32

// A dumper writes an attribute that the classic tools do not print as named
// fields.
type dumper interface{ dump(b []byte) []byte }

// Dump writes a in the form of smpquery of infiniband-diags, without the comment
// line at the top: one field per line, with dots between name and value. Tables
// have smpquery's rows, numbered from 0 in each block. Management keys are not
// hidden.
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

// show writes a field in the text modes.
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
