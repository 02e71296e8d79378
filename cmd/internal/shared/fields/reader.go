package fields

import (
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/mad"
)

// A Reader reads the texts of selected fields of many attributes, without an allocation
// for each.
type Reader struct {
	names []string
	cells []cell // by name
	text  []byte // of all cells
	take  func(name string, text []byte)
}

// A cell is the place of a text in that of all cells.
type cell struct{ start, end int }

// NewReader returns a reader of the fields with some names.
func NewReader(names []string) *Reader {
	r := &Reader{names: names, cells: make([]cell, len(names))}
	r.take = func(name string, text []byte) {
		for i, selected := range r.names {
			if name == selected {
				start := len(r.text)
				r.text = appendLine(r.text, text)
				r.cells[i] = cell{start, len(r.text)}
			}
		}
	}
	return r
}

// Read reads the fields of an attribute; nil has no fields.
func (r *Reader) Read(a mad.Attribute) {
	clear(r.cells)
	r.text = r.text[:0]
	if a != nil {
		mad.Fields(a, r.names, r.take)
	}
}

// Text returns the text of the field with the name i, which is empty if the attribute lacks
// it. It is valid until the next Read.
func (r *Reader) Text(i int) []byte { return r.text[r.cells[i].start:r.cells[i].end] }

// AppendTexts appends the texts of all fields, which share one allocation.
func (r *Reader) AppendTexts(cells []string) []string {
	text := string(r.text)
	for _, c := range r.cells {
		cells = append(cells, text[c.start:c.end])
	}
	return cells
}

// Columns returns the columns of a table with selected fields of attributes. attribute
// returns the attribute of a row, or nil; it is called once for each row and
// pass over the table.
func Columns[Row comparable](names []string, attribute func(Row) mad.Attribute) []render.Column[Row] {
	reader := NewReader(names)
	var current Row
	begun := false
	columns := make([]render.Column[Row], len(names))
	for i, name := range names {
		columns[i] = render.Column[Row]{Header: strings.ToUpper(name), Append: func(b []byte, row Row) []byte {
			if !begun || row != current {
				reader.Read(attribute(row))
				current, begun = row, true
			}
			if text := reader.Text(i); len(text) > 0 {
				return append(b, text...)
			}
			return append(b, render.Absent...)
		}}
	}
	return columns
}
