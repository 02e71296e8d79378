package fabricfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
)

// document reads the document. Lines before and after it are failures.
func (r *linksReader) document() {
	start := jsonStart(r.data)
	r.foreign(0, start)
	d := json.NewDecoder(bytes.NewReader(r.data[start:]))
	err := r.members(d, start)
	end := start + int(d.InputOffset())
	if err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			end = max(r.offset, min(start+int(syntax.Offset), len(r.data)))
		} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			end, err = len(bytes.TrimRight(r.data, "\n")), io.ErrUnexpectedEOF
		}
		r.fail(r.lineAt(max(r.offset, end)), 0, 0, fmt.Errorf("invalid JSON: %w", err))
		return
	}
	r.foreign(end, len(r.data))
}

// lineAt returns an offset's line number. Offsets must not descend.
func (r *linksReader) lineAt(offset int) int {
	r.line += bytes.Count(r.data[r.offset:offset], []byte("\n"))
	r.offset = offset
	return r.line
}

// foreign rejects the lines between two offsets.
func (r *linksReader) foreign(from, to int) {
	for line := range bytes.Lines(r.data[from:to]) {
		if text := bytes.TrimSpace(line); len(text) > 0 {
			r.fail(r.lineAt(from), 0, 0, fmt.Errorf("got %s, want only a JSON document", textfile.Quote(text)))
		}
		from += len(line)
	}
}

// members reads the document's members. After an error, which is a syntax error, the rest
// cannot be read.
func (r *linksReader) members(d *json.Decoder, start int) error {
	if token, err := d.Token(); token != json.Delim('{') {
		return cmp.Or(err, errors.New("want an object"))
	}
	known := map[string]any{
		"schema": &r.report.Schema, "partial": &r.report.Partial, "aborted": &r.report.Aborted,
		"start": &r.report.Start, "failures": &r.report.Failures,
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if name == "nodes" {
			err = r.readNodes(d, start)
		} else {
			var raw json.RawMessage
			if err = d.Decode(&raw); err == nil && known[name] != nil && json.Unmarshal(raw, known[name]) != nil {
				r.fail(r.lineAt(start+int(d.InputOffset())), 0, 0, fmt.Errorf("%s: got %s", name, textfile.Quote([]byte(raw))))
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// readNodes reads the array with the nodes.
func (r *linksReader) readNodes(d *json.Decoder, start int) error {
	if token, err := d.Token(); token != json.Delim('[') {
		return cmp.Or(err, errors.New("nodes: want an array"))
	}
	for i := 0; d.More(); i++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		line := r.lineAt(start + int(d.InputOffset()) - len(raw))
		n, err := r.readNode(raw, line)
		if err == nil {
			if err = r.addNode(n, line); err != nil {
				err = fmt.Errorf("node %d %w", i, err)
			}
		}
		if err != nil {
			r.fail(line, 0, 0, err)
		}
	}
	_, err := d.Token()
	return err
}

// readNode decodes a node. Ports that cannot be decoded are failures.
func (r *linksReader) readNode(raw []byte, line int) (*linksNode[linksPort], error) {
	n := &linksNode[linksPort]{}
	if textfile.DecodeJSON(raw, r.name, n) == nil {
		return n, nil
	}
	var parts linksNode[json.RawMessage]
	if err := textfile.DecodeJSON(raw, r.name, &parts); err != nil {
		return nil, err
	}
	n = &linksNode[linksPort]{parts.Description, parts.DescriptionHex, parts.Info, parts.SwitchInfo, parts.Port0, nil}
	guid := ib.GUID(0)
	if n.Info != nil {
		guid = n.Info.NodeGUID
	}
	for i, raw := range parts.Ports {
		var p linksPort
		if err := textfile.DecodeJSON(raw, r.name, &p); err != nil {
			if at, ok := errors.AsType[*textfile.Error](err); ok {
				err = at.Err
			}
			r.fail(line, guid, 0, fmt.Errorf("port %d in the list of node %v: %w", i, guid, err))
			continue
		}
		n.Ports = append(n.Ports, p)
	}
	return n, nil
}
