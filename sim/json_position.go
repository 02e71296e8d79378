package sim

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
)

// positions converts offsets in a text that is read through it to lines and columns. It
// keeps the text from a mark on.
type positions struct {
	r    io.Reader
	name string

	kept   []byte // text from the mark on
	offset int64  // mark offset
	line   int    // mark line, from 0
	before int64  // offset of the line start
}

func newPositions(r io.Reader, name string) *positions { return &positions{r: r, name: name} }

func (p *positions) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.kept = append(p.kept, b[:n]...)
	return n, err
}

// end returns the offset after the last byte read.
func (p *positions) end() int64 { return p.offset + int64(len(p.kept)) }

// mark moves the mark forward.
func (p *positions) mark(offset int64) {
	p.line, p.before = p.find(offset)
	p.kept = append(p.kept[:0], p.kept[offset-p.offset:]...)
	p.offset = offset
}

// find returns the line for an offset, from 0, and the line's start offset.
func (p *positions) find(offset int64) (line int, start int64) {
	text := p.kept[:max(0, min(offset-p.offset, int64(len(p.kept))))]
	line, start = p.line+bytes.Count(text, []byte("\n")), p.before
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		start = p.offset + int64(i) + 1
	}
	return line, start
}

// of formats an offset as file, line and column.
func (p *positions) of(offset int64) string {
	line, start := p.find(offset)
	return fmt.Sprintf("%s:%d:%d", p.name, line+1, max(offset-start, 0)+1)
}

func (p *positions) errorf(offset int64, format string, args ...any) error {
	return fmt.Errorf("%s: %w", p.of(offset), fmt.Errorf(format, args...))
}

// kindOf returns the JSON type for a Go type.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	case reflect.Uint8, reflect.Uint16:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(1)<<t.Bits()-1)
	}
	return "an object"
}
