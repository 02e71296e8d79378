package topology

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/sim"
)

// A PlanError is an error in a plan.
type PlanError struct {
	File string
	Line int // 0: unknown
	Err  error
}

// Error returns the error with file and line.
func (e *PlanError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("read plan %s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("read plan %s:%d: %v", e.File, e.Line, e.Err)
}

// Unwrap returns Err.
func (e *PlanError) Unwrap() error { return e.Err }

func lineErrorf(line int, format string, args ...any) error {
	return &PlanError{Line: line, Err: fmt.Errorf(format, args...)}
}

// maxPlan is the maximum size of a plan. A plan of 48,000 cables has 10 MB.
const maxPlan = 1 << 28

// ReadPlan reads a plan of one of these formats, which it recognizes by the content:
// CSV with a cable in each line, the output of ibnetdiscover, a cache of libibnetdisc,
// a subnet.lst of opensm and ibdiagnet, a .topo file of ibdiagnet, and the JSON of
// ibkit topology and linkinfo.
func ReadPlan(path string) (*Plan, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && info.Size() > maxPlan {
		err = fmt.Errorf("%d bytes, the maximum is %d", info.Size(), maxPlan)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	return ParsePlan(data, path)
}

// ParsePlan is [ReadPlan] for the content of a file. Errors contain name.
func ParsePlan(data []byte, name string) (*Plan, error) {
	p, err := parsePlan(data, name)
	var line *PlanError
	switch {
	case errors.As(err, &line):
		line.File = name
		return nil, line
	case err != nil:
		return nil, &PlanError{File: name, Err: err}
	}
	p.File = name
	if len(p.Cables) == 0 {
		return nil, &PlanError{File: name, Err: errors.New("got no cables")}
	}
	return p, nil
}

var (
	netdiscoverLine = regexp.MustCompile(`(?m)^(?:Switch|Ca|Rt)\s+\d+\s+"[SHR]-[0-9a-f]+"`)
	lstStart        = regexp.MustCompile(`(?m)^\{\s+\S+\s+Ports:`)
	dbCSVStart      = regexp.MustCompile(`(?m)^START_(?:NODES|LINKS)\r?$`)
	topoArrow       = regexp.MustCompile(`(?m)^[ \t]+\S+[ \t]+(?:-\S*)?->[ \t]`)
)

func parsePlan(data []byte, name string) (*Plan, error) {
	const magic = 0x8fe7832b // of a cache
	text := bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case len(data) >= 4 && binary.LittleEndian.Uint32(data) == magic:
		f, err := fabric.ParseCache(data)
		if err != nil {
			return nil, err
		}
		return PlanOf(f, nil), nil
	case bytes.IndexByte(data, 0) >= 0:
		return nil, errors.New("not a plan: the file is binary")
	case len(bytes.TrimSpace(text)) > 0 && bytes.TrimSpace(text)[0] == '{' && !lstStart.Match(text):
		return parseJSONPlan(text)
	case lstStart.Match(text):
		return parseLST(string(text))
	case netdiscoverLine.Match(text):
		return parseNetdiscover(text, name)
	case dbCSVStart.Match(text):
		return parseDBCSV(string(text))
	case topoArrow.Match(text):
		return parseTopo(string(text))
	}
	return parseCSVPlan(string(text))
}

// permissiveLID is the LID that some ports without a LID report.
var permissiveLID = []byte("lid 65535 ")

// parseNetdiscover reads the output of ibnetdiscover.
func parseNetdiscover(data []byte, name string) (*Plan, error) {
	data = bytes.ReplaceAll(data, permissiveLID, []byte("lid 0 "))
	f, err := sim.ParseTopology(bytes.NewReader(data), name)
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	end := func(port *sim.Port) PlanEnd {
		return PlanEnd{Name: port.Node.Desc.Clean(), GUID: port.Node.Info.NodeGUID, Port: strconv.Itoa(int(port.Number))}
	}
	seen := map[*sim.Port]bool{}
	for _, n := range f.Nodes {
		for k := range n.Ports {
			port := &n.Ports[k]
			if port.Peer == nil || seen[port] {
				continue
			}
			seen[port.Peer] = true
			caps := &port.Info
			if n.IsSwitch() {
				caps = &n.Ports[0].Info
			}
			p.Cables = append(p.Cables, PlanCable{
				A: end(port), B: end(port.Peer),
				Width: port.Info.LinkWidthActive, Speed: port.Info.ActiveSpeed(caps, port.Ext),
			})
		}
	}
	return p, nil
}

// parseJSONPlan reads the JSON of topology or linkinfo.
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
	case strings.HasPrefix(head.Schema, "ibkit/linkinfo/"):
		return planOfLinks(data)
	}
	return nil, fmt.Errorf("got schema %q, want ibkit/topology/1 or ibkit/linkinfo/2", head.Schema)
}

// decodeJSON decodes a document; errors contain the line.
func decodeJSON(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return lineErrorf(lineAt(data, syntax.Offset), "%w", err)
	case errors.As(err, &kind):
		return lineErrorf(lineAt(data, kind.Offset), "%w", err)
	}
	return err
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int(offset), len(data))], []byte("\n"))
}

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

// setRate parses width and speed, nil for unknown ones.
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

// planOfLinks reads the members of linkinfo's JSON that a plan needs.
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

// joinEnds removes the second entry of cables that a file lists at both ends. It
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
	used := map[key]use{}
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
				return lineErrorf(c.Line, "%v has two cables, the other one is in line %d", port, old.line)
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
