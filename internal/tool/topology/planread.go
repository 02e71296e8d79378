package topology

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/textfile"
)

// lineErrorf returns an error about a line in a file; [atFile] adds the file name.
func lineErrorf(line int, format string, args ...any) error {
	return &textfile.Error{Line: line, Err: fmt.Errorf(format, args...)}
}

// atFile returns an error about a file, or about a line in it.
func atFile(name string, err error) error {
	if at, ok := errors.AsType[*textfile.Error](err); ok {
		return &textfile.Error{File: name, Line: at.Line, Err: at.Err}
	}
	return &textfile.Error{File: name, Err: err}
}

// maxPlan is a plan's maximum size. A plan with 48,000 cables has 10 MB.
const maxPlan = 1 << 28

// ReadPlan reads a plan in any of these formats, which it recognizes by the content:
// CSV with a cable in each line, ibnetdiscover output, a libibnetdisc cache, a
// subnet.lst from opensm and ibdiagnet, an ibdiagnet .topo file, and ibkit topology and
// linkinfo JSON.
func ReadPlan(path string) (*Plan, error) {
	data, err := interrupt.ReadFile(path, maxPlan)
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return ParsePlan(data, path)
}

// ParsePlan is [ReadPlan] for a file's content. Its errors are a [*textfile.Error] with
// name.
func ParsePlan(data []byte, name string) (*Plan, error) {
	p, err := parsePlan(data, name)
	if err == nil && len(p.Cables) == 0 {
		err = errors.New("got no cables")
	}
	if err != nil {
		return nil, fmt.Errorf("read plan %w", atFile(name, err))
	}
	p.File = name
	return p, nil
}

var topoArrow = lazyregexp.New(`(?m)^[ \t]+\S+[ \t]+(?:-\S*)?->[ \t]`)

func parsePlan(data []byte, name string) (*Plan, error) {
	text := textfile.TrimMark(data)
	switch fabricfile.KindOf(text) {
	case fabricfile.Cache:
		return planOfFabric(fabric.ParseCache(text))
	case fabricfile.JSON:
		return parseJSONPlan(text)
	case fabricfile.List:
		return parseList(string(text))
	case fabricfile.Netdiscover, fabricfile.PortList:
		return planOfFile(fabricfile.Parse(text, name))
	case fabricfile.Database:
		return parseDatabase(string(text))
	}
	switch {
	case bytes.IndexByte(text, 0) >= 0:
		return nil, errors.New("not a plan: the file is binary")
	case bytes.Contains(text, []byte("->")) && topoArrow.Match(text):
		return parseTopo(string(text))
	}
	return parseCSVPlan(string(text))
}

func planOfFabric(f *fabric.Fabric, err error) (*Plan, error) {
	if err != nil {
		return nil, err
	}
	return PlanOf(f, nil), nil
}

// planOfFile returns the plan in a stored fabric. A damaged file is not a plan: cables would
// be missing.
func planOfFile(d *ibdiagnet.Database, err error) (*Plan, error) {
	if err == nil && d.Fabric.Damaged() {
		err = d.Fabric.Failures[0].Err
	}
	if err != nil {
		return nil, err
	}
	return PlanOf(d.Fabric, nil), nil
}

// parseJSONPlan reads topology or linkinfo JSON.
func parseJSONPlan(data []byte) (*Plan, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := decodeJSON(data, &head); err != nil {
		return nil, err
	}
	switch {
	case strings.HasPrefix(head.Schema, "ibkit/topology/"):
		var r Report
		if err := decodeJSON(data, &r); err != nil {
			return nil, err
		}
		return planOfReport(&r)
	case strings.HasPrefix(head.Schema, fabricfile.LinksSchema):
		return planOfLinks(data)
	}
	return nil, fmt.Errorf("got schema %q, want ibkit/topology/2 or ibkit/linkinfo/3", head.Schema)
}

// decodeJSON decodes a document; errors contain the line. [atFile] adds the name.
func decodeJSON(data []byte, v any) error { return textfile.DecodeJSON(data, "", v) }

func planOfReport(r *Report) (*Plan, error) {
	p := &Plan{}
	for _, c := range r.Cables {
		cable := PlanCable{A: planEndOf(c.A.Name, c.A.GUID, c.A.Port), B: planEndOf(c.B.Name, c.B.GUID, c.B.Port)}
		if err := cable.setRate(c.Width, c.Speed); err != nil {
			return nil, err
		}
		p.Cables = append(p.Cables, cable)
	}
	return p, nil
}

func planEndOf(name string, guid ib.GUID, port uint8) PlanEnd {
	return PlanEnd{Name: name, GUID: guid, Port: strconv.Itoa(int(port))}
}

// setRate parses width and speed, nil for unknown values.
func (c *PlanCable) setRate(width, speed *string) error {
	if width != nil {
		if err := c.Width.UnmarshalText([]byte(*width)); err != nil {
			return err
		}
	}
	if speed != nil {
		return c.Speed.UnmarshalText([]byte(*speed))
	}
	return nil
}

// planOfLinks reads the linkinfo JSON members that a plan needs.
func planOfLinks(data []byte) (*Plan, error) {
	var r struct {
		Nodes []struct {
			GUID  ib.GUID `json:"guid"`
			Name  string  `json:"name"`
			Ports []struct {
				Number uint8   `json:"number"`
				Width  *string `json:"width"`
				Speed  *string `json:"speed"`
				Peer   *struct {
					GUID ib.GUID `json:"node_guid"`
					Port uint8   `json:"port"`
					Name string  `json:"name"`
				} `json:"peer"`
			} `json:"ports"`
		} `json:"nodes"`
	}
	if err := decodeJSON(data, &r); err != nil {
		return nil, err
	}
	p := &Plan{}
	for _, n := range r.Nodes {
		for _, port := range n.Ports {
			if port.Peer == nil {
				continue
			}
			cable := PlanCable{A: planEndOf(n.Name, n.GUID, port.Number), B: planEndOf(port.Peer.Name, port.Peer.GUID, port.Peer.Port)}
			if err := cable.setRate(port.Width, port.Speed); err != nil {
				return nil, err
			}
			p.Cables = append(p.Cables, cable)
		}
	}
	return p, p.joinEnds()
}

// joinEnds removes the second entry for cables that a file lists at both ends. It
// returns an error if a port has two cables.
func (p *Plan) joinEnds() error {
	type key struct {
		name, port string
		guid       ib.GUID
	}
	keyOf := func(e PlanEnd) key {
		k := key{fold(e.Name), fold(e.Port), e.GUID}
		if e.GUID != 0 {
			k.name = ""
		}
		return k
	}
	type use struct {
		peer key
		line int
	}
	used := make(map[key]use, 2*len(p.Cables))
	kept := p.Cables[:0]
	for _, c := range p.Cables {
		a, b := keyOf(c.A), keyOf(c.B)
		again := false
		for _, end := range []struct{ here, there key }{{a, b}, {b, a}} {
			old, known := used[end.here]
			switch {
			case end.here.port == "" || !known:
			case old.peer == end.there:
				again = true
			default:
				port := c.A
				if end.here == b {
					port = c.B
				}
				return lineErrorf(c.Line, "%v has two cables, the other is in line %d", port, old.line)
			}
		}
		if !again {
			used[a], used[b] = use{b, c.Line}, use{a, c.Line}
			kept = append(kept, c)
		}
	}
	p.Cables = kept
	return nil
}
