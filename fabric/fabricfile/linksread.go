package fabricfile

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
)

// document reads the document. Damage is a failure.
func (r *linksReader) document() {
	known := map[string]any{
		"schema": &r.report.Schema, "partial": &r.report.Partial, "aborted": &r.report.Aborted,
		"start": &r.report.Start, "failures": &r.report.Failures,
	}
	d := textfile.Document{
		Arrays: map[string]func(int, []byte, int){"nodes": r.element},
		Member: func(name string, value []byte) error {
			if known[name] == nil {
				return nil
			}
			return json.Unmarshal(value, known[name])
		},
		Fail: func(line int, err error) { r.fail(line, 0, 0, err) },
	}
	d.Read(r.data)
}

// element reads a node and adds it.
func (r *linksReader) element(i int, raw []byte, line int) {
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
