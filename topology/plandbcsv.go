package topology

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// A section is a table of an ibdiagnet2.db_csv file, between the lines START_NAME and
// END_NAME: a header and rows.
type section struct {
	columns map[string]int // by name in lower case
	rows    []sectionRow
}

type sectionRow struct {
	line   int
	fields []string
}

// parseDBCSV reads the sections NODES and LINKS of an ibdiagnet2.db_csv file.
func parseDBCSV(text string) (*Plan, error) {
	sections, err := readSections(text, "NODES", "LINKS")
	if err != nil {
		return nil, err
	}
	nodes, links := sections["NODES"], sections["LINKS"]
	if links == nil {
		return nil, errors.New("got no section LINKS")
	}
	names := map[ib.GUID]string{}
	if nodes != nil {
		for _, r := range nodes.rows {
			guid, err := nodes.guid(r, "nodeguid")
			if err != nil {
				return nil, err
			}
			name, err := nodes.field(r, "nodedesc")
			if err != nil {
				return nil, err
			}
			names[guid] = name
		}
	}
	p := &Plan{}
	for _, r := range links.rows {
		c := PlanCable{Line: r.line}
		for i, end := range []*PlanEnd{&c.A, &c.B} {
			number := strconv.Itoa(i + 1)
			if end.GUID, err = links.guid(r, "nodeguid"+number); err != nil {
				return nil, err
			}
			if end.Port, err = links.field(r, "portnum"+number); err != nil {
				return nil, err
			}
			if _, err := strconv.ParseUint(end.Port, 0, 8); err != nil {
				return nil, lineErrorf(r.line, "parse port number %s: not a number of 8 bits", quote(end.Port))
			}
			end.Name = names[end.GUID]
		}
		p.Cables = append(p.Cables, c)
	}
	return p, p.joinEnds()
}

// readSections reads the named sections.
func readSections(text string, names ...string) (map[string]*section, error) {
	sections := map[string]*section{}
	var open *section
	var end string
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		name, isStart := strings.CutPrefix(line, "START_")
		switch {
		case isStart && end != "":
			return nil, lineErrorf(number, "got %s, want %s", quote(line), end)
		case isStart:
			end, open = "END_"+name, nil
			for _, wanted := range names {
				if name == wanted {
					open = &section{}
					sections[name] = open
				}
			}
		case end != "" && line == end:
			end, open = "", nil
		case open == nil || line == "":
		default:
			if err := open.add(line, number); err != nil {
				return nil, err
			}
		}
	}
	if end != "" {
		return nil, lineErrorf(number, "got the end of the file, want %s", end)
	}
	return sections, nil
}

// add adds a line to the section: the header, then rows.
func (s *section) add(line string, number int) error {
	fields, err := csv.NewReader(strings.NewReader(line)).Read()
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		return lineErrorf(number, "%w", parse.Err)
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return lineErrorf(number, "%w", err)
	}
	if s.columns == nil {
		s.columns = map[string]int{}
		for i, name := range fields {
			s.columns[strings.ToLower(strings.TrimSpace(name))] = i
		}
		return nil
	}
	s.rows = append(s.rows, sectionRow{number, fields})
	return nil
}

// field returns a field of a row by the name of its column in lower case.
func (s *section) field(r sectionRow, name string) (string, error) {
	i, ok := s.columns[name]
	if !ok {
		return "", lineErrorf(r.line, "got no column %s", name)
	}
	if i >= len(r.fields) {
		return "", lineErrorf(r.line, "got %d fields, want column %s", len(r.fields), name)
	}
	return strings.TrimSpace(r.fields[i]), nil
}

func (s *section) guid(r sectionRow, name string) (ib.GUID, error) {
	text, err := s.field(r, name)
	if err != nil {
		return 0, err
	}
	guid, err := ib.ParseGUID(text)
	if err != nil {
		return 0, lineErrorf(r.line, "%w", err)
	}
	return guid, nil
}
