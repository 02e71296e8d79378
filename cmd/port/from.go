package port

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/portchange"
	"github.com/ibkit/ibkit/linkinfo"
)

// The sizes of lists of ports, in bytes.
const (
	headSize  = 512     // that shows the format
	maxReport = 1 << 30 // the report on a fabric of 10,000 nodes has 30 MB
)

// readTargets reads a list of ports.
func readTargets(in io.Reader, path string) ([]portchange.Target, error) {
	name := "standard input"
	if path != "-" {
		f, err := interrupt.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read ports: %w", err)
		}
		defer f.Close()
		in, name = f, path
	}
	buffered := bufio.NewReader(in)
	head, err := buffered.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read ports: %w", err)
	}
	var targets []portchange.Target
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		targets, err = parseReport(buffered, name)
	} else {
		targets, err = parseList(buffered, name)
	}
	if err != nil {
		return nil, fmt.Errorf("read ports from %w", err)
	}
	if len(targets) == 0 {
		return nil, fmt.Errorf("read ports from %s: no ports", name)
	}
	return targets, nil
}

// parseReport parses the output of linkinfo --json, in the file with a name.
func parseReport(in io.Reader, name string) (targets []portchange.Target, err error) {
	text, err := io.ReadAll(io.LimitReader(in, maxReport))
	if err != nil {
		return nil, &textfile.Error{File: name, Err: err}
	}
	var r linkinfo.Report
	if err := textfile.DecodeJSON(text, name, &r); err != nil {
		return nil, err
	}
	if r.Schema != linkinfo.ReportSchema {
		return nil, &textfile.Error{File: name, Err: fmt.Errorf("got schema %q, want %q", r.Schema, linkinfo.ReportSchema)}
	}
	for _, n := range r.Nodes {
		for _, p := range n.Ports {
			if p.Number == 0 {
				continue
			}
			target, err := ofNode(n.GUID, p.Number)
			if err != nil {
				return nil, &textfile.Error{File: name, Err: err}
			}
			target.File = name
			targets = append(targets, target)
		}
	}
	return targets, nil
}

func ofNode(guid ib.GUID, number uint8) (portchange.Target, error) {
	a, err := lookup.Parse("guid:" + guid.String())
	return portchange.Target{Address: a, Number: int(number)}, err
}

// parseList parses lines with a port: a target, which may contain blanks, and a number, or
// both in the form leaf1[3]. Empty lines and text after # are ignored.
func parseList(in io.Reader, name string) (targets []portchange.Target, err error) {
	lines := textfile.NewReader(in, name)
	for lines.Next() {
		line := lines.Content()
		if line == "" {
			continue
		}
		t, err := parseLine(line)
		if err != nil {
			return nil, lines.At(err)
		}
		t.File, t.Line = name, lines.Line()
		targets = append(targets, t)
	}
	return targets, lines.Err()
}

func parseLine(line string) (t portchange.Target, err error) {
	i := strings.LastIndexAny(line, " \t")
	if _, _, ok := fabric.CutPort(line); ok {
		t.Number = portchange.AddressedPort
		t.Address, err = lookup.Parse(line)
		return t, err
	}
	if i < 0 {
		return t, errors.New("no port number after the target")
	}
	n, err := strconv.ParseUint(line[i+1:], 10, 31)
	if err != nil {
		return t, fmt.Errorf("%q is not a port number", line[i+1:])
	}
	t.Number = int(n)
	t.Address, err = lookup.Parse(strings.TrimSpace(line[:i]))
	return t, err
}
