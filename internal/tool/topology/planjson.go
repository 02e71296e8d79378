package topology

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
)

// An element is an element of an array in a JSON document.
type element struct {
	text []byte
	line int
}

// parseJSONPlan reads topology or linkinfo JSON.
func parseJSONPlan(data []byte) (*Plan, error) {
	var head struct {
		Schema  string
		Partial bool
	}
	p := &Plan{}
	arrays := map[string][]element{}
	collect := func(name string) func(int, []byte, int) {
		return func(_ int, text []byte, line int) { arrays[name] = append(arrays[name], element{text, line}) }
	}
	(&textfile.Document{
		Arrays: map[string]func(int, []byte, int){"nodes": collect("nodes"), "cables": collect("cables")},
		Member: func(name string, value []byte) error {
			switch name {
			case "schema":
				return json.Unmarshal(value, &head.Schema)
			case "partial":
				return json.Unmarshal(value, &head.Partial)
			}
			return nil
		},
		Fail: func(line int, err error) { p.lost(line, err) },
	}).Read(data)
	if head.Partial {
		p.lost(0, errPartialPlan)
	}
	switch {
	case head.Schema == ReportSchema:
		p.addElements(arrays["cables"], p.addCable)
	case head.Schema == fabricfile.LinksSchema:
		p.addElements(arrays["nodes"], p.addNode)
		p.joinEnds()
	case head.Schema == "" && len(p.Damage) > 0:
		return nil, p.Damage[0]
	default:
		return nil, fmt.Errorf("got schema %q, want %s or %s", head.Schema, ReportSchema, fabricfile.LinksSchema)
	}
	return p, nil
}

// addElements adds an array's cables.
func (p *Plan) addElements(elements []element, add func(element) error) {
	for _, e := range elements {
		err := add(e)
		if err == nil {
			continue
		}
		line := e.line
		if at, ok := errors.AsType[*textfile.Error](err); ok { // with a line in the element
			line, err = line+max(at.Line-1, 0), at.Err
		}
		if !p.lost(line, err) {
			break
		}
	}
}

// addCable adds a cable of topology JSON.
func (p *Plan) addCable(e element) error {
	var c ReportCable
	if err := textfile.DecodeJSON(e.text, "", &c); err != nil {
		return err
	}
	cable := PlanCable{A: planEndOf(c.A.Name, c.A.GUID, c.A.Port), B: planEndOf(c.B.Name, c.B.GUID, c.B.Port)}
	p.addRated(cable, e.line, c.Width, c.Speed)
	return nil
}

// addNode adds the cables of a node in linkinfo JSON.
func (p *Plan) addNode(e element) error {
	var n struct {
		GUID  ib.GUID `json:"node_guid"`
		Name  string  `json:"name"`
		Ports []struct {
			Number uint8   `json:"port"`
			Width  *string `json:"width"`
			Speed  *string `json:"speed"`
			Peer   *struct {
				GUID ib.GUID `json:"node_guid"`
				Port uint8   `json:"port"`
				Name string  `json:"name"`
			} `json:"peer"`
		} `json:"ports"`
	}
	if err := textfile.DecodeJSON(e.text, "", &n); err != nil {
		return err
	}
	for _, port := range n.Ports {
		if port.Peer != nil {
			cable := PlanCable{A: planEndOf(n.Name, n.GUID, port.Number), B: planEndOf(port.Peer.Name, port.Peer.GUID, port.Peer.Port)}
			p.addRated(cable, e.line, port.Width, port.Speed)
		}
	}
	return nil
}

func planEndOf(name string, guid ib.GUID, port uint8) PlanEnd {
	return PlanEnd{Name: name, GUID: guid, Port: strconv.Itoa(int(port))}
}

// addRated adds a cable with its width and speed, nil for unknown values. A cable without an
// end's identity is damage.
func (p *Plan) addRated(c PlanCable, line int, width, speed *string) {
	if c.A.isZero() || c.B.isZero() {
		p.lost(line, errSingleEnd)
		return
	}
	if width != nil {
		if err := c.Width.UnmarshalText([]byte(*width)); err != nil {
			p.damaged(line, err)
		}
	}
	if speed != nil {
		if err := c.Speed.UnmarshalText([]byte(*speed)); err != nil {
			p.damaged(line, err)
		}
	}
	p.Cables = append(p.Cables, c)
}
