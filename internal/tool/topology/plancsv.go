package topology

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
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
	p := &Plan{}
	t := &planTable{Plan: p, comma: delimiter(text)}
	for rest, skipped := text, 0; rest != ""; {
		next := t.rows(rest, skipped)
		if next == 0 {
			break
		}
		// The line's quotation mark has no counterpart: the rows after the line count.
		for ; next > skipped && rest != ""; skipped++ {
			_, rest, _ = strings.Cut(rest, "\n")
		}
	}
	if t.columns == nil {
		return nil, errors.New("not a plan: got no header with two devices, such as StartDevice,StartPort,EndDevice,EndPort")
	}
	p.joinEnds()
	return p, nil
}

// A planTable is a plan with the columns of the file that is being read.
type planTable struct {
	*Plan
	comma   rune
	columns []column // nil before the header
}

// rows reads rows after a number of lines. It returns the number of a line in which
// the rows end because of its quotation marks, 0 at the file's end.
func (t *planTable) rows(text string, skipped int) int {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	r.Comma = t.comma
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return 0
		}
		if err != nil {
			line, err := csvError(err)
			if !t.lost(skipped+line, err) {
				return 0
			}
			return skipped + line
		}
		line, _ := r.FieldPos(0)
		switch {
		case t.columns == nil:
			t.columns = header(record)
		case strings.HasPrefix(record[0], "#") || strings.Join(record, "") == "":
		default:
			if !t.row(record, skipped+line) {
				return 0
			}
		}
	}
}

// csvError returns the line and the cause of a mistake in quotation marks. A field that does
// not end extends to a later line: the line is then the line in which its row begins.
func csvError(err error) (int, error) {
	parse, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return 0, err
	case errors.Is(err, csv.ErrBareQuote):
		return parse.Line, errors.New("a quotation mark in a field that does not begin with one")
	case errors.Is(err, csv.ErrQuote):
		return parse.StartLine, errors.New("a field in quotation marks does not end with one")
	}
	return parse.Line, parse.Err
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
	// The columns of measurements between hosts.
	if slices.Contains(record, "bandwidth_gbps") || slices.Contains(record, "latency_us") {
		return nil
	}
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

// row adds a row's cable, and reports whether to go on. An invalid value is damage; the
// cable is lost if it has a single end then.
func (t *planTable) row(record []string, line int) bool {
	c := PlanCable{Line: line}
	var invalid []string
	for i, text := range record {
		if i >= len(t.columns) || t.columns[i].field == 0 {
			continue
		}
		if text = strings.TrimSpace(textfile.ParseCSVText(text)); text != "" {
			if err := c.set(t.columns[i], text); err != nil {
				invalid = append(invalid, err.Error())
			}
		}
	}
	err := errSingleEnd
	if len(invalid) > 0 {
		err = errors.New(strings.Join(invalid, "; "))
	}
	switch {
	case c.A.isZero() && c.B.isZero() && len(invalid) == 0:
		return true
	case c.A.isZero() || c.B.isZero():
		return t.lost(line, err)
	}
	t.Cables = append(t.Cables, c)
	return len(invalid) == 0 || t.damaged(line, err)
}

var errSingleEnd = errors.New("the cable has a single end")

// set sets the value that a column has.
func (c *PlanCable) set(col column, text string) (err error) {
	end := &c.A
	if col.side == 1 {
		end = &c.B
	}
	switch col.field {
	case fieldDevice:
		end.Name = text
	case fieldPort:
		end.Port = text
	case fieldGUID:
		end.GUID, err = ib.ParseGUID(text)
	case fieldRack:
		if !strings.HasPrefix(strings.ToLower(text), "rack") {
			text = "rack " + text
		}
		end.Place = strings.TrimSpace(text + " " + end.Place)
	case fieldUnit:
		end.Place = strings.TrimSpace(end.Place + " U" + strings.TrimLeft(text, "uU"))
	case fieldRate:
		if err = c.setRateText(text); err != nil {
			err = errors.New("parse speed " + quote(text) + ": " + err.Error())
		}
	case fieldWidth:
		err = c.Width.UnmarshalText([]byte(strings.ToUpper(text)))
	case fieldLinkType:
		_ = c.setRateText(text) // other link types are valid
	}
	return err
}

// isZero reports whether the end does not identify a node.
func (e PlanEnd) isZero() bool { return e.Name == "" && e.GUID == 0 }

func quote(s string) string { return `"` + printable(s) + `"` }
