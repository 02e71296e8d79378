package topology

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/report"
)

// FindingData is the data in findings about nodes and cables.
type FindingData struct {
	Ends []End `json:"ends"`
	Line int   `json:"line,omitempty"` // of the plan

	ports []*fabric.Port
}

// PortsOf returns the ports in a finding from [Check] or [Plan.Compare].
func PortsOf(f report.Finding) []*fabric.Port {
	if d, ok := f.Data.(*FindingData); ok {
		return d.ports
	}
	return nil
}

// A defect is a finding in preparation. Defects from a comparison with a plan have a
// job for the technician at the rack.
type defect struct {
	Kind     report.Kind
	Severity report.Severity // "": that of the kind
	Detail   string
	Ends     []End
	Job      string
	Line     int

	node  *ib.GUID // single node of a finding without ports
	ports []*fabric.Port
}

// findings returns the defects' findings.
func findings(defects []defect) []report.Finding {
	all := make([]report.Finding, 0, len(defects))
	for _, d := range defects {
		var subjects []string
		for _, e := range d.Ends {
			subjects = append(subjects, e.text())
		}
		f := report.New(d.Kind, strings.Join(subjects, ", "), d.Detail)
		if len(d.ports) > 0 {
			f = f.At(d.ports[0].Node.GUID, int(d.ports[0].Number))
		}
		if d.node != nil {
			f = f.At(*d.node, -1)
		}
		if d.Severity != "" {
			f.Severity = d.Severity
		}
		f.Hint, f.Data = d.Job, &FindingData{d.Ends, d.Line, d.ports}
		all = append(all, f)
	}
	return all
}

// An End identifies a node, or a node's port.
type End struct {
	Name string  `json:"name"`
	GUID *string `json:"node_guid"` // node GUID; nil if unknown
	Port *string `json:"port"`      // number or label; nil for the whole node
}

func (e End) text() string {
	if e.Port == nil {
		return e.Name
	}
	return e.Name + "[" + *e.Port + "]"
}

// endOf returns a port's end.
func endOf(p *fabric.Port, names *fabric.NameMap) End {
	return End{Name: names.Name(p.Node), GUID: new(p.Node.GUID.String()), Port: new(fmt.Sprint(p.Number))}
}

func nodeEnd(n *fabric.Node, names *fabric.NameMap) End {
	return End{Name: names.Name(n), GUID: new(n.GUID.String())}
}

// portText returns name and port number.
func portText(p *fabric.Port, names *fabric.NameMap) string {
	text := names.PortName(p)
	if p.Label != "" {
		text += " (" + p.Label + ")"
	}
	return text
}

// An endPort is a port with its own LIDs: a switch's port 0, or a port on another node.
type endPort struct {
	*fabric.Port
	first, last ib.LID
	part        int // of the fabric
}
