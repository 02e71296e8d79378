package mesh

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/textfile"
)

// mebibyteGbps converts mpiGraph's MB/s, which are 2^20 bytes per second, to 10^9 bits.
const mebibyteGbps = 8 * (1 << 20) / 1e9

var (
	// A column head is "HOST:RANK", a row head "HOST:RANK to" or "HOST:RANK from".
	mpiGraphRow  = lazyregexp.New(`^(.*):(\d+) (to|from)$`)
	mpiGraphHead = lazyregexp.New(`^(.*):(\d+)$`)
)

// An mpiGraphReader reads mpiGraph's tables (mpiGraph.c). The sender and the receiver
// measure each flow; its figure is the mean of both.
type mpiGraphReader struct {
	results *Results
	lines   *textfile.Reader
	columns []int32          // endpoints; nil: not in a table
	flow    map[[2]int32]int // index in results
}

// readMPIGraph reads the send and receive tables.
func (r *Results) readMPIGraph(in io.Reader, name string) error {
	m := &mpiGraphReader{results: r, lines: textfile.NewReader(in, name), flow: map[[2]int32]int{}}
	complete := false
	for m.lines.Next() {
		line := m.lines.Bytes()
		fields := bytes.Split(bytes.TrimRight(line, "\t\r "), []byte("\t"))
		head := string(fields[0])
		switch {
		case head == "Send" || head == "Recv":
			m.readColumns(fields[1:])
		case len(bytes.TrimSpace(line)) == 0:
			m.columns = nil
		case head == "END mpiGraph":
			complete = true
		case m.columns != nil:
			if err := m.readRow(fields); err != nil {
				m.lines.Reject(err)
				r.reject(m.lines.At(err))
			}
		}
	}
	if err := m.lines.End(); err != nil {
		r.reject(err)
	} else if !complete {
		r.reject(m.lines.Errorf("the file ends without the line END mpiGraph"))
	}
	return nil
}

// readColumns reads a table's first line.
func (m *mpiGraphReader) readColumns(fields [][]byte) {
	m.columns = []int32{}
	for _, field := range fields {
		name := bytes.TrimSpace(field)
		if match := mpiGraphHead.FindSubmatch(name); match != nil {
			name = match[1]
		}
		m.columns = append(m.columns, m.results.name(name))
	}
}

// readRow reads a row. A figure of 0 was not measured.
func (m *mpiGraphReader) readRow(fields [][]byte) error {
	match := mpiGraphRow.FindSubmatch(bytes.TrimSpace(fields[0]))
	if match == nil {
		return fmt.Errorf("got %s, want HOST:RANK to or HOST:RANK from", textfile.Quote(fields[0]))
	}
	row, receives := m.results.name(match[1]), string(match[3]) == "from"
	if len(fields)-1 > len(m.columns) {
		return fmt.Errorf("got %d figures, want %d", len(fields)-1, len(m.columns))
	}
	var first error
	for i, field := range fields[1:] {
		v, err := strconv.ParseFloat(string(bytes.TrimSpace(field)), 64)
		if err != nil {
			err = fmt.Errorf("got %s, want a number", textfile.Quote(field))
		}
		figure := none
		if err == nil && v != 0 {
			figure, err = checkFigure(v * mebibyteGbps)
		}
		switch {
		case err != nil:
			first = err
		case receives:
			m.add(m.columns[i], row, figure)
		default:
			m.add(row, m.columns[i], figure)
		}
	}
	if first == nil && len(fields)-1 < len(m.columns) {
		first = fmt.Errorf("got %d figures, want %d", len(fields)-1, len(m.columns))
	}
	return first
}

// add adds a figure, or averages it with that from the flow's other end.
func (m *mpiGraphReader) add(from, to int32, gbps float32) {
	if from == to {
		return // no loopback
	}
	key := [2]int32{from, to}
	i, known := m.flow[key]
	if !known {
		m.flow[key] = len(m.results.Flows)
		m.results.add(Flow{from, to, gbps, none})
		return
	}
	f := &m.results.Flows[i]
	switch {
	case isNone(f.Gbps):
		f.Gbps = gbps
	case !isNone(gbps):
		f.Gbps = (f.Gbps + gbps) / 2
	}
}
