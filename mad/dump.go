package mad

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// nameColumn is the column, from 0, at which the dots after a name end in the
// classic dump, without the colon.
const nameColumn = 32

// A dumper shows an attribute that the classic tools do not print as named fields.
type dumper interface{ dump(c *Codec) }

// Dump writes a in the form of infiniband-diags' smpquery, without the comment line
// at the top: a field per line, with dots between name and value. Tables have
// smpquery's rows, numbered from 0 in each block. Keys are shown as 0, unless a
// comes from [WithKeys].
func Dump(w io.Writer, a Attribute) error {
	c, a := start(dumping, a)
	c.dump(a)
	_, err := w.Write(c.text)
	c.release()
	if err != nil {
		return fmt.Errorf("dump %s: %w", AttributeName(a), err)
	}
	return nil
}

// Fields calls f for each field in a, in [Dump] order, with its name and its value's
// text there. Table rows have no name. The names in a capability mask's text are
// separated by newlines and tabs. The text is valid until f returns. If only is not
// nil, f is called for the fields with these names.
func Fields(a Attribute, only []string, f func(name string, text []byte)) {
	c, a := start(listing, a)
	c.list, c.only = f, only
	c.dump(a)
	c.release()
}

// dump shows an attribute.
func (c *Codec) dump(a Attribute) {
	if d, ok := a.(dumper); ok {
		d.dump(c)
		return
	}
	a.Layout(c)
}

// show writes a field in the text modes.
func (c *Codec) show(name string, v uint64, width int, s *Style) {
	if s.secret && !c.reveal {
		v = 0
	}
	if c.mode == marshal {
		c.key(name)
		c.text = appendValue(c.text, v, s.json)
		return
	}
	if c.begin(name) {
		c.text = s.dump(c.text, v, width)
		c.end(name)
	}
}

// begin starts a field. Its text is then appended to c.text. It returns false for a
// field that is not wanted.
func (c *Codec) begin(name string) bool {
	if c.mode == listing {
		c.text = c.text[:0]
		return c.only == nil || slices.Contains(c.only, name)
	}
	c.text = append(append(c.text, name...), ':')
	c.dots(nameColumn - len(name))
	return true
}

func (c *Codec) dots(n int) {
	for range n {
		c.text = append(c.text, '.')
	}
}

// end ends a field.
func (c *Codec) end(name string) {
	if c.mode == listing {
		c.list(name, c.text)
		return
	}
	c.text = append(c.text, '\n')
}

// rows shows complete lines without names.
func (c *Codec) rows(lines []byte) {
	if c.mode == dumping {
		c.text = append(c.text, lines...)
		return
	}
	for line := range bytes.Lines(lines) {
		if line = bytes.TrimSuffix(line, []byte{'\n'}); len(line) > 0 && c.begin("") {
			c.list("", line)
		}
	}
}

// blank ends a dump paragraph.
func (c *Codec) blank() {
	if c.mode == dumping {
		c.text = append(c.text, '\n')
	}
}
