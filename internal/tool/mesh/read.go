package mesh

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
)

// maxDocument is the maximum size of results other than CSV, which are not read line by
// line.
const maxDocument = 1 << 30

// headSize is the size of the beginning that determines a file's format.
const headSize = 64 << 10

// Read reads results from a file in any [Format]. Damaged parts are left out and listed in
// the results. A file without any flow is an error.
func Read(path string) (*Results, error) {
	file, err := interrupt.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	defer file.Close()
	return Parse(file, path)
}

// Parse is [Read] for a stream. Errors contain name.
func Parse(in io.Reader, name string) (*Results, error) {
	buffer := bufio.NewReaderSize(in, 1<<20)
	head, err := buffer.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read results: %s: %w", name, err)
	}
	r := &Results{Format: formatOf(textfile.TrimMark(head))}
	switch r.Format {
	case CSV:
		err = r.readCSV(buffer, name)
	case MPIGraph:
		err = r.readMPIGraph(buffer, name)
	default:
		err = r.readDocument(buffer, name)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read results: %w", err)
	case len(r.Flows) == 0 && len(r.Damage) > 0:
		return nil, fmt.Errorf("read results: %w", r.Damage[0])
	case len(r.Flows) == 0:
		return nil, fmt.Errorf("read results: %s: no flow between two endpoints", name)
	}
	return r, nil
}

// formatOf returns a file's format by its beginning.
func formatOf(head []byte) Format {
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("[")):
		switch {
		case bytes.Contains(text, []byte(resultsSchemaName)), bytes.Contains(text, []byte(pingSchemaName)), bytes.HasPrefix(text, []byte(`{"src":`)):
			return JSON
		case superBenchKey.Match(text):
			return SuperBench
		}
		return ClusterKit
	case bytes.Contains(text, []byte("START mpiGraph")), bytes.HasPrefix(text, []byte("Send\t")), bytes.HasPrefix(text, []byte("Recv\t")):
		return MPIGraph
	}
	return CSV
}

// readDocument reads a format in JSON.
func (r *Results) readDocument(in io.Reader, name string) error {
	text, err := io.ReadAll(io.LimitReader(in, maxDocument+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > maxDocument {
		return fmt.Errorf("%s: got more than %d bytes", name, maxDocument)
	}
	d := &document{text: textfile.TrimMark(text), name: name, results: r}
	values := d.parse()
	switch r.Format {
	case SuperBench:
		d.superBench(values)
	case JSON:
		d.ownFlows(values)
	default:
		d.clusterKit(values)
	}
	return nil
}
