// Package report declares the vocabulary of all results: findings with their kinds and
// severities, failed requests, the head of each JSON document, and the verdict from which
// the exit code follows.
//
// Tools fill in these types, views of commands print them, and scripts read them with one
// expression for all commands:
//
//	jq '.findings[] | select(.severity=="error") | [.kind,.subject,.detail]'
package report

import (
	"time"

	"github.com/ibkit/ibkit/ib"
)

// A Severity rates a finding.
type Severity string

// The severities, the worst first.
const (
	Error   Severity = "error"   // fails or is slow
	Warning Severity = "warning" // may fail, or is not as intended
	Unknown Severity = "unknown" // could not be checked: the result is partial
	Info    Severity = "info"    // by configuration, or without effect
)

// Severities lists the severities, the worst first.
func Severities() []Severity { return []Severity{Error, Warning, Unknown, Info} }

// IsProblem reports whether a finding with this severity changes the exit code to 3.
func (s Severity) IsProblem() bool { return s == Error || s == Warning }

// A Finding is a result that a user should know: a defect, an inconsistency, or a part that
// could not be checked.
type Finding struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`

	// Subject is a node "leaf1", a port "leaf1[3]", a device "mlx5_0", a device port
	// "mlx5_0/1", or "" for the fabric or host as a whole.
	Subject string `json:"subject"`

	NodeGUID *ib.GUID `json:"node_guid"` // nil: no single node
	Port     *int     `json:"port"`      // nil: no single port

	Detail string `json:"detail"`         // observed values, without the kind
	Hint   string `json:"hint,omitempty"` // next step: a command, or advice

	// Data has the values of kinds that scripts evaluate further, as a type of the tool;
	// its schema describes it. nil: none.
	Data any `json:"data,omitempty"`
}

// New returns a finding with the severity of its kind.
func New(kind Kind, subject, detail string) Finding {
	return Finding{Kind: kind, Severity: kind.Info().Severity, Subject: subject, Detail: detail}
}

// At returns the finding with its place: a node, and a port or -1 for the whole node.
func (f Finding) At(node ib.GUID, port int) Finding {
	f.NodeGUID = &node
	if port >= 0 {
		f.Port = &port
	}
	return f
}

// String returns the severity, kind, subject and detail in one line.
func (f Finding) String() string {
	text := string(f.Severity) + ": " + string(f.Kind)
	if f.Subject != "" {
		text += " " + f.Subject
	}
	if f.Detail != "" {
		text += ": " + f.Detail
	}
	return text
}

// Text returns the subject and the detail.
func (f Finding) Text() string {
	if f.Subject == "" {
		return f.Detail
	}
	return f.Subject + ": " + f.Detail
}

// Brief returns the kind and the detail.
func (f Finding) Brief() string { return string(f.Kind) + ": " + f.Detail }

// A Failure is a request without a valid reply, or a part of a file that could not be read:
// then Attribute is "", and Error has the file and the line. Failures make a result partial.
type Failure struct {
	Subject  string   `json:"subject"`   // as in [Finding]
	NodeGUID *ib.GUID `json:"node_guid"` // nil: unknown
	Port     *int     `json:"port"`      // nil: the whole node
	LID      *ib.LID  `json:"lid"`       // nil: by directed route
	Route    *string  `json:"route"`     // directed route, for example "0,1,3"; nil: by LID

	Attribute string `json:"attribute"` // name, for example "PortInfo"
	Modifier  uint32 `json:"modifier"`
	Error     string `json:"error"`
}

// A System is the chassis that contains a node.
type System struct {
	Number int     `json:"number"`
	GUID   ib.GUID `json:"system_guid"`
	Slot   string  `json:"slot"`
}

// A Node names a node where its other attributes do not matter.
type Node struct {
	NodeGUID ib.GUID `json:"node_guid"`
	Name     string  `json:"name"`
}

// A NodePort names a port where its other attributes do not matter.
type NodePort struct {
	Name     string  `json:"name"`
	NodeGUID ib.GUID `json:"node_guid"`
	Port     uint8   `json:"port"`
}

// A Peer is the port at the other end of a link, with what a scan knows about it.
type Peer struct {
	Name     *string `json:"name"` // nil: unknown
	Type     string  `json:"type"` // node type
	NodeGUID ib.GUID `json:"node_guid"`
	PortGUID ib.GUID `json:"port_guid"`
	Port     uint8   `json:"port"`
	LID      *ib.LID `json:"lid"` // 0: not assigned; nil: unknown
}

// A Head has the members with which each JSON document begins. Documents embed it.
type Head struct {
	Schema   string    `json:"schema"` // "ibkit/NAME/VERSION"
	Began    time.Time `json:"began"`
	Partial  bool      `json:"partial"` // part of the result is missing: see Failures
	Findings []Finding `json:"findings"`
	Failures []Failure `json:"failures"`
}

// NewHead returns the head of a document without findings and failures.
func NewHead(schema string, began time.Time) Head {
	return Head{Schema: schema, Began: began.UTC().Truncate(time.Millisecond), Findings: []Finding{}, Failures: []Failure{}}
}

// Add appends findings.
func (h *Head) Add(findings ...Finding) { h.Findings = append(h.Findings, findings...) }

// Fail appends failures, and marks the result as partial.
func (h *Head) Fail(failures ...Failure) {
	h.Failures = append(h.Failures, failures...)
	h.Partial = h.Partial || len(failures) > 0
}

// Count returns the number of findings with a severity.
func (h *Head) Count(s Severity) int {
	n := 0
	for _, f := range h.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// HasProblem reports whether any finding is an error or a warning.
func (h *Head) HasProblem() bool { return h.Count(Error)+h.Count(Warning) > 0 }

// KindsOf returns the kinds of findings in their order, as the parts of a document list them.
func KindsOf(findings []Finding) []Kind {
	kinds := make([]Kind, len(findings))
	for i, f := range findings {
		kinds[i] = f.Kind
	}
	return kinds
}
