package mesh

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/textfile"
)

// The columns of results in CSV. Others are ignored.
const (
	columnSource = iota
	columnDestination
	columnBandwidth
	columnLatency
	columnCongested // optional
	columns
)

var columnNames = [columns]string{"src", "dst", "bandwidth_gbps", "latency_us", "congested"}

// Columns returns the header of the results in CSV: with a column for victims of congestors
// if there are any.
func (r *Results) Columns() []string {
	if len(r.Loaded) > 0 {
		return columnNames[:]
	}
	return columnNames[:columnCongested]
}

// A csvReader reads results in CSV.
type csvReader struct {
	results *Results
	lines   *textfile.Reader
	at      [columns]int // field by column; -1: absent
	fields  [][]byte
}

// readCSV reads results with a header line.
func (r *Results) readCSV(in io.Reader, name string) error {
	c := &csvReader{results: r, lines: textfile.NewReader(in, name)}
	if err := c.readHeader(); err != nil {
		return err
	}
	for c.lines.Next() {
		if err := c.readLine(); err != nil {
			c.lines.Reject(err)
			r.reject(c.lines.At(err))
		}
	}
	if err := c.lines.End(); err != nil {
		r.reject(err)
	}
	return nil
}

// readHeader finds the columns.
func (c *csvReader) readHeader() error {
	if !c.lines.Next() {
		if err := c.lines.End(); err != nil {
			return err
		}
		return c.lines.Errorf("got an empty file, want the header %s", header())
	}
	c.split(c.lines.Bytes())
	for column, name := range columnNames {
		c.at[column] = -1
		for i, field := range c.fields {
			if string(bytes.ToLower(bytes.TrimSpace(field))) == name {
				c.at[column] = i
			}
		}
	}
	switch {
	case c.at[columnSource] < 0 || c.at[columnDestination] < 0:
		return c.lines.Errorf("got %s, want the header %s, or a file of ClusterKit, mpiGraph or SuperBench", textfile.Quote(c.lines.Bytes()), header())
	case c.at[columnBandwidth] < 0 && c.at[columnLatency] < 0:
		return c.lines.Errorf("got a header without %s and %s, want either", columnNames[columnBandwidth], columnNames[columnLatency])
	}
	return nil
}

// header returns the usual header.
func header() string { return strings.Join(columnNames[:columnCongested], ",") }

// split splits a line into fields.
func (c *csvReader) split(line []byte) bool {
	c.fields = c.fields[:0]
	if bytes.IndexByte(line, '"') >= 0 {
		record, err := csv.NewReader(bytes.NewReader(line)).Read()
		for _, field := range record {
			c.fields = append(c.fields, []byte(field))
		}
		return err == nil
	}
	for {
		i := bytes.IndexByte(line, ',')
		if i < 0 {
			c.fields = append(c.fields, line)
			return true
		}
		c.fields = append(c.fields, line[:i])
		line = line[i+1:]
	}
}

// field returns a column's field, false if the line is too short.
func (c *csvReader) field(column int) ([]byte, bool) {
	i := c.at[column]
	switch {
	case i < 0:
		return nil, true
	case i >= len(c.fields):
		return nil, false
	}
	return bytes.TrimSpace(c.fields[i]), true
}

// readLine adds a line's flow. Empty lines are ignored.
func (c *csvReader) readLine() error {
	line := c.lines.Bytes()
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	if !c.split(line) {
		return errors.New("invalid quotation marks")
	}
	var f [columns][]byte
	for column := range f {
		var ok bool
		if f[column], ok = c.field(column); !ok {
			return fmt.Errorf("got %d fields, want the field %s", len(c.fields), columnNames[column])
		}
	}
	if len(f[columnSource]) == 0 || len(f[columnDestination]) == 0 {
		return fmt.Errorf("got an empty name, want %s and %s", columnNames[0], columnNames[1])
	}
	gbps, err := parseFigure(f[columnBandwidth])
	if err != nil {
		return fmt.Errorf("%s: %w", columnNames[columnBandwidth], err)
	}
	micros, err := parseFigure(f[columnLatency])
	if err != nil {
		return fmt.Errorf("%s: %w", columnNames[columnLatency], err)
	}
	part := Plain
	switch text := string(f[columnCongested]); text {
	case "1":
		part = Loaded
	case "", "0":
	default:
		return fmt.Errorf("%s: got %s, want 0 or 1", columnNames[columnCongested], textfile.Quote(f[columnCongested]))
	}
	c.results.addPart(part, Flow{c.endpoint(f[columnSource]), c.endpoint(f[columnDestination]), gbps, micros})
	return nil
}

// endpoint returns the number of an endpoint in a field.
func (c *csvReader) endpoint(field []byte) int32 {
	if field[0] == '\'' {
		field = []byte(textfile.ParseCSVText(string(field)))
	}
	return c.results.name(field)
}

// parseFigure parses a figure, not a number for an empty text.
func parseFigure(text []byte) (float32, error) {
	if len(text) == 0 {
		return none, nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return none, fmt.Errorf("got %s, want a number", textfile.Quote(text))
	}
	return checkFigure(v)
}

// checkFigure rejects figures that no measurement can have.
func checkFigure(v float64) (float32, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 || v > math.MaxFloat32 {
		return none, fmt.Errorf("got %v, want a number above 0", v)
	}
	return float32(v), nil
}
