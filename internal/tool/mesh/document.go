package mesh

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/ibkit/ibkit/internal/textfile"
)

// A document reads results in JSON. It keeps the part before damage.
type document struct {
	text    []byte
	name    string
	results *Results
	lines   []int // offsets at which lines begin
}

// A value is a JSON value with its place.
type value struct {
	offset  int64
	scalar  any // string, float64, bool, nil; delim for objects and arrays
	items   []value
	keys    []string // of an object's items; nil for an array
	isList  bool
	isTable bool // an object
}

// maxDepth limits nesting.
const maxDepth = 32

// parse returns the values: a document per line, or a document with any lines. The part
// before damage in a document is kept.
func (d *document) parse() []value {
	first, _, _ := bytes.Cut(d.text, []byte("\n"))
	if !json.Valid(first) {
		return d.parseText(nil, d.text, 0)
	}
	var values []value
	offset := int64(0)
	for line := range bytes.Lines(d.text) {
		values = d.parseText(values, line, offset)
		offset += int64(len(line))
	}
	return values
}

// parseText appends the value in a text at an offset.
func (d *document) parseText(values []value, text []byte, offset int64) []value {
	decoder := json.NewDecoder(bytes.NewReader(text))
	v, err := parseValue(decoder, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		d.reject(offset+decoder.InputOffset(), fmt.Errorf("invalid JSON: %w", err))
	}
	if !v.isList && !v.isTable {
		return values
	}
	v.move(offset)
	return append(values, v)
}

// move adds to the offsets of a value and its items.
func (v *value) move(by int64) {
	if by == 0 {
		return
	}
	v.offset += by
	for i := range v.items {
		v.items[i].move(by)
	}
}

// parseValue parses a value. With an error it returns the part before it.
func parseValue(d *json.Decoder, depth int) (v value, err error) {
	token, err := d.Token()
	v.offset = d.InputOffset()
	if err != nil {
		return v, err
	}
	delim, isDelim := token.(json.Delim)
	if !isDelim {
		v.scalar = token
		return v, nil
	}
	v.isTable, v.isList = delim == '{', delim == '['
	if depth == maxDepth {
		return v, fmt.Errorf("more than %d levels", maxDepth)
	}
	for d.More() {
		key := ""
		if v.isTable {
			name, err := d.Token()
			if err != nil {
				return v, unexpected(err)
			}
			key, _ = name.(string)
		}
		item, err := parseValue(d, depth+1)
		if err == nil || item.isList || item.isTable {
			v.items = append(v.items, item)
			if v.isTable {
				v.keys = append(v.keys, key)
			}
		}
		if err != nil {
			return v, unexpected(err)
		}
	}
	_, err = d.Token()
	return v, unexpected(err)
}

// unexpected returns the error for an end within a value.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// member returns an object's item by its key, or nil.
func (v *value) member(key string) *value {
	for i, k := range v.keys {
		if k == key {
			return &v.items[i]
		}
	}
	return nil
}

// number returns a number.
func (v *value) number() (float64, bool) {
	if v == nil {
		return 0, false
	}
	n, ok := v.scalar.(float64)
	return n, ok
}

// str returns a string.
func (v *value) str() (string, bool) {
	if v == nil {
		return "", false
	}
	s, ok := v.scalar.(string)
	return s, ok && s != ""
}

// line returns the line of an offset.
func (d *document) line(offset int64) int {
	if d.lines == nil {
		d.lines = []int{0}
		for i, c := range d.text {
			if c == '\n' {
				d.lines = append(d.lines, i+1)
			}
		}
	}
	return sort.SearchInts(d.lines, int(offset)+1)
}

// reject lists damage at an offset.
func (d *document) reject(offset int64, err error) {
	d.results.reject(&textfile.Error{File: d.name, Line: d.line(max(offset-1, 0)), Err: err})
}
