package ibdiagnet

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/mad"
)

// absent is the text for values that are unknown.
const absent = "N/A"

// A sectionHandler reads a section's rows.
type sectionHandler func(*row) error

// A sectionReader reads the sections with a handler: a line START_NAME, a header, rows, and
// a line END_NAME. Comments outside sections are passed to comment.
type sectionReader struct {
	lines    *textfile.Reader
	handlers map[string]sectionHandler
	comment  func(string)

	found   map[string]bool // sections
	handler sectionHandler  // current section's; nil: the section is skipped
	end     string          // line that ends the section; "" outside sections
	row     row
	damage  damage
}

// read reads the file. The lines that it could not read are in damage.
func (s *sectionReader) read() {
	s.found = map[string]bool{}
	for s.lines.Next() {
		if err := s.line(strings.TrimRight(s.lines.Text(), "\r ")); err != nil {
			s.lines.Reject(err)
			s.damage.add(s.lines.At(err))
		}
	}
	s.damage.add(s.lines.End())
	if s.end != "" {
		s.damage.add(s.lines.Errorf("got the end of the file, want %s", s.end))
	}
}

func (s *sectionReader) line(line string) (err error) {
	name, starts := strings.CutPrefix(line, "START_")
	switch {
	case starts:
		return s.start(name, line)
	case s.end == "" && line != "" && line[0] != '#':
		return fmt.Errorf("got %s, want a section or a comment", textfile.Quote(line))
	case s.end == "":
		s.comment(line)
		return nil
	case line == s.end:
		s.end = ""
		return nil
	case s.handler == nil || line == "":
		return nil
	}
	if s.row.fields, err = splitLine(line); err != nil {
		return err
	}
	if s.row.columns == nil {
		if s.row.columns, err = columnsOf(s.row.fields); err != nil {
			s.handler = nil
			err = fmt.Errorf("%w: %s skipped", err, strings.TrimPrefix(s.end, "END_"))
		}
		return err
	}
	err = s.handler(&s.row)
	if got, want := len(s.row.fields), len(s.row.columns); err == nil && got < want {
		err = fmt.Errorf("got %d fields, want %d as in the header", got, want)
	}
	return err
}

// start begins a section. A second section with the same name is skipped.
func (s *sectionReader) start(name, line string) (err error) {
	if s.end != "" {
		err = fmt.Errorf("got %s, want %s", textfile.Quote(line), s.end)
	}
	s.handler, s.end, s.row = s.handlers[name], "END_"+name, row{}
	if s.handler != nil && s.found[name] {
		s.handler = nil
		err = fmt.Errorf("the file has a second section %s", textfile.Quote(name))
	}
	s.found[name] = true
	return err
}

// splitLine returns a line's fields.
func splitLine(line string) ([]string, error) {
	if !strings.Contains(line, `"`) {
		return strings.Split(line, ","), nil
	}
	reader := csv.NewReader(strings.NewReader(line))
	reader.LazyQuotes = true // quotation marks in descriptions are not always doubled
	fields, err := reader.Read()
	var parse *csv.ParseError
	if errors.As(err, &parse) {
		err = parse.Err
	}
	return fields, err
}

// columnsOf returns column indices by name in lower case: the sections write NodeGUID
// and NodeGuid.
func columnsOf(names []string) (map[string]int, error) {
	columns := map[string]int{}
	for i, name := range names {
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := columns[name]; twice {
			return nil, fmt.Errorf("the header has column %s twice", textfile.Quote(name))
		}
		columns[name] = i
	}
	return columns, nil
}

// A row is a section row.
type row struct {
	columns map[string]int // by name in lower case
	fields  []string

	placed map[*column]map[string]place // see places
}

// A place is a section column with an attribute's field.
type place struct {
	name  string // of the column
	index int
}

// index returns a column's index by its name, -1 if the column does not exist.
func (r *row) index(name string) int {
	if i, ok := r.columns[strings.ToLower(name)]; ok {
		return i
	}
	return -1
}

// text returns a field by its index; false if the value is unknown.
func (r *row) text(i int) (string, bool) {
	if i < 0 || i >= len(r.fields) {
		return "", false
	}
	text := strings.TrimSpace(r.fields[i])
	return text, text != "" && !strings.EqualFold(text, absent) && !strings.EqualFold(text, "NA")
}

// number returns a field as a number; false if it is unknown.
func (r *row) number(name string, bits int) (uint64, bool, error) {
	return r.numberAt(place{name, r.index(name)}, bits)
}

func (r *row) numberAt(at place, bits int) (uint64, bool, error) {
	text, ok := r.text(at.index)
	if !ok {
		return 0, false, nil
	}
	base := 10
	if digits, hex := strings.CutPrefix(strings.ToLower(text), "0x"); hex {
		text, base = digits, 16
	}
	v, err := strconv.ParseUint(text, base, bits)
	if err != nil {
		return 0, false, fmt.Errorf("%s: got %s, want a number of %d bits", at.name, textfile.Quote(text), bits)
	}
	return v, true, nil
}

// required returns a field that must be there.
func (r *row) required(name string, bits int) (uint64, error) {
	v, ok, err := r.number(name, bits)
	if err == nil && !ok {
		err = fmt.Errorf("got no value of column %s", name)
	}
	return v, err
}

func (r *row) guid(name string) (ib.GUID, error) {
	v, err := r.required(name, 64)
	return ib.GUID(v), err
}

// places returns a section's columns by their field's name. columns must not be empty.
func (r *row) places(columns []column) map[string]place {
	if known := r.placed[&columns[0]]; known != nil {
		return known
	}
	places := map[string]place{}
	for _, c := range columns {
		if i := r.index(c.name); i >= 0 && c.field != "" {
			places[c.field] = place{c.name, i}
		}
	}
	if r.placed == nil {
		r.placed = map[*column]map[string]place{}
	}
	r.placed[&columns[0]] = places
	return places
}

// store sets an attribute's fields to a row's values. Fields without a value remain.
// any reports whether there was a value.
func (r *row) store(a mad.Attribute, columns []column) (any bool, err error) {
	places := r.places(columns)
	mad.Visit(a, func(name string, width int, v uint64) uint64 {
		at, ok := places[name]
		if !ok || err != nil {
			return v
		}
		var n uint64
		if n, ok, err = r.numberAt(at, width); !ok || err != nil {
			return v
		}
		any = true
		return n
	})
	return any, err
}
