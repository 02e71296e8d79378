package sim

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
)

// places knows the lines of what is read through it, and keeps the text from a
// mark on.
type places struct {
	r    io.Reader
	name string

	kept   []byte // the text from the mark on
	offset int64  // of the mark
	line   int    // of the mark, from 0
	before int64  // where that line begins
}

func newPlaces(r io.Reader, name string) *places { return &places{r: r, name: name} }

func (p *places) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.kept = append(p.kept, b[:n]...)
	return n, err
}

// end returns the offset behind all that was read.
func (p *places) end() int64 { return p.offset + int64(len(p.kept)) }

// mark sets the mark, which is never before the last one.
func (p *places) mark(offset int64) {
	p.line, p.before = p.find(offset)
	p.kept = append(p.kept[:0], p.kept[offset-p.offset:]...)
	p.offset = offset
}

// find returns the line of an offset, from 0, and where that line begins.
func (p *places) find(offset int64) (line int, start int64) {
	text := p.kept[:max(0, min(offset-p.offset, int64(len(p.kept))))]
	line, start = p.line+bytes.Count(text, []byte("\n")), p.before
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		start = p.offset + int64(i) + 1
	}
	return line, start
}

// of returns file, line and column of an offset.
func (p *places) of(offset int64) string {
	line, start := p.find(offset)
	return fmt.Sprintf("%s:%d:%d", p.name, line+1, max(offset-start, 0)+1)
}

func (p *places) errorf(offset int64, format string, args ...any) error {
	return fmt.Errorf("%s: %w", p.of(offset), fmt.Errorf(format, args...))
}

// kindOf says what JSON has for a type.
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
