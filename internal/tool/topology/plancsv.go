package topology

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
)

// A field is a plan column with a meaning.
type field uint8

const (
	fieldDevice field = iota + 1
	fieldPort
	fieldGUID
	fieldRack
	fieldUnit
	fieldRate
	fieldWidth
	fieldLinkType // a rate if it has a rate's form
)

// sides are the words with which column names for either end begin or end.
var sides = [2][]string{
	{"start", "a", "source", "src", "from", "local", "left", "near", "1"},
	{"end", "z", "b", "destination", "dest", "dst", "to", "remote", "right", "far", "peer", "target", "2"},
}

// fields are column names, in words without the side.
var fields = map[string]field{
	"device": fieldDevice, "device name": fieldDevice, "node": fieldDevice, "node name": fieldDevice, "name": fieldDevice,
	"host": fieldDevice, "hostname": fieldDevice, "host name": fieldDevice, "switch": fieldDevice, "switch name": fieldDevice,
	"system": fieldDevice, "system name": fieldDevice, "": fieldDevice,
	"port": fieldPort, "port name": fieldPort, "port number": fieldPort, "hca port": fieldPort, "interface": fieldPort,
	"guid": fieldGUID, "node guid": fieldGUID, "port guid": fieldGUID,
	"rack": fieldRack, "device rack": fieldRack, "rack name": fieldRack,
	"u": fieldUnit, "ru": fieldUnit, "unit": fieldUnit, "u height": fieldUnit, "rack u": fieldUnit,
}

// cableFields are the names for columns about the whole cable.
var cableFields = map[string]field{
	"speed": fieldRate, "link speed": fieldRate, "rate": fieldRate, "gbps": 0, "width": fieldWidth, "link width": fieldWidth, "link type": fieldLinkType,
}

// A column is a column's meaning in a CSV plan; side is -1 for the whole cable.
type column struct {
	field field
	side  int
}

// parseCSVPlan reads a table with a cable in each row. The columns are recognized by
// their names: the names in UFM's NDT files, in point-to-point sheets, and from
// [WriteCSV].
func parseCSVPlan(text string) (*Plan, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	r.Comma = delimiter(text)
	p := &Plan{}
	var columns []column
	for {
		record, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			if columns == nil {
				return nil, errors.New("not a plan: got no header with two devices, such as StartDevice,StartPort,EndDevice,EndPort")
			}
			return p, p.joinEnds()
		case err != nil:
			return nil, csvError(err)
		}
		line, _ := r.FieldPos(0)
		switch {
		case columns == nil:
			columns = header(record)
		case strings.HasPrefix(record[0], "#") || strings.Join(record, "") == "":
		default:
			c, err := row(columns, record)
			if err != nil {
				return nil, lineErrorf(line, "%w", err)
			}
			if c != nil {
				c.Line = line
				p.Cables = append(p.Cables, *c)
			}
		}
	}
}

// csvError returns an error with the line of a mistake in quotation marks. A field that does
// not end extends to the file's end: the line is then the line in which its row begins.
func csvError(err error) error {
	var parse *csv.ParseError
	switch {
	case !errors.As(err, &parse):
		return err
	case errors.Is(err, csv.ErrBareQuote):
		return lineErrorf(parse.Line, "a quotation mark in a field that does not begin with one")
	case errors.Is(err, csv.ErrQuote):
		return lineErrorf(parse.StartLine, "a field in quotation marks does not end with one")
	}
	return lineErrorf(parse.Line, "%w", parse.Err)
}

// delimiter returns the most frequent delimiter in the first line that has a delimiter.
func delimiter(text string) rune {
	for line := range strings.Lines(text) {
		best, most := ',', 0
		for _, d := range ",;\t" {
			if n := strings.Count(line, string(d)); n > most {
				best, most = d, n
			}
		}
		if most > 1 {
			return best
		}
	}
	return ','
}

// header returns a header's columns, nil if the record is not a header.
func header(record []string) []column {
	columns := make([]column, len(record))
	var seen [2][fieldLinkType + 1]bool
	for i, name := range record {
		w := columnWords(name)
		if f, ok := cableFields[strings.Join(w, " ")]; ok {
			columns[i] = column{f, -1}
			continue
		}
		side, rest := sideOf(w)
		f, ok := fields[strings.Join(rest, " ")]
		switch {
		case !ok || len(rest) == 0 && (side < 0 || len(w[0]) == 1):
			continue
		case side < 0 && !seen[0][f]:
			side = 0
		case side < 0:
			side = 1
		}
		if !seen[side][f] {
			seen[side][f] = true
			columns[i] = column{f, side}
		}
	}
	if (seen[0][fieldDevice] || seen[0][fieldGUID]) && (seen[1][fieldDevice] || seen[1][fieldGUID]) {
		return columns
	}
	return nil
}

// columnWords splits a column name: "#Fields:StartDevice" is start, device.
func columnWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case unicode.IsUpper(r) && lower:
			b.WriteByte(' ')
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	w := strings.Fields(b.String())
	if len(w) > 1 && w[0] == "fields" {
		w = w[1:]
	}
	return w
}

// sideOf removes the side from a name's words; the side is -1 if the name has no side.
func sideOf(w []string) (side int, rest []string) {
	for side, names := range sides {
		for _, name := range names {
			switch {
			case len(w) > 0 && w[0] == name:
				return side, w[1:]
			case len(w) > 1 && w[len(w)-1] == name:
				return side, w[:len(w)-1]
			}
		}
	}
	return -1, w
}

// row returns a row's cable, nil if the row has no devices.
func row(columns []column, record []string) (*PlanCable, error) {
	var c PlanCable
	ends := [2]*PlanEnd{&c.A, &c.B}
	for i, text := range record {
		if i >= len(columns) || columns[i].field == 0 {
			continue
		}
		text = strings.TrimSpace(textfile.ParseCSVText(text))
		if text == "" {
			continue
		}
		col := columns[i]
		var end *PlanEnd
		if col.side >= 0 {
			end = ends[col.side]
		}
		switch col.field {
		case fieldDevice:
			end.Name = text
		case fieldPort:
			end.Port = text
		case fieldGUID:
			guid, err := ib.ParseGUID(text)
			if err != nil {
				return nil, err
			}
			end.GUID = guid
		case fieldRack:
			if !strings.HasPrefix(strings.ToLower(text), "rack") {
				text = "rack " + text
			}
			end.Place = strings.TrimSpace(text + " " + end.Place)
		case fieldUnit:
			end.Place = strings.TrimSpace(end.Place + " U" + strings.TrimLeft(text, "uU"))
		case fieldRate:
			if err := c.setRateText(text); err != nil {
				return nil, errors.New("parse speed " + quote(text) + ": " + err.Error())
			}
		case fieldWidth:
			if err := c.Width.UnmarshalText([]byte(strings.ToUpper(text))); err != nil {
				return nil, err
			}
		case fieldLinkType:
			_ = c.setRateText(text) // other link types are valid
		}
	}
	switch {
	case c.A.isZero() && c.B.isZero():
		return nil, nil
	case c.A.isZero() || c.B.isZero():
		return nil, errors.New("the cable has a single end")
	}
	return &c, nil
}

// isZero reports whether the end does not identify a node.
func (e PlanEnd) isZero() bool { return e.Name == "" && e.GUID == 0 }

func quote(s string) string { return `"` + printable(s) + `"` }
