package cc

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form for a [Report]; schema/cc.json describes it.
const ReportSchema = "ibkit/cc/3"

// A Report is the document that "ibkit cc --json" prints.
type Report struct {
	report.Head
	Agents []ReportAgent `json:"agents"`
	Change *ReportChange `json:"change"` // nil: the settings are only shown
}

// A ReportAgent is an agent: on a switch, or on another node's port.
type ReportAgent struct {
	NodeGUID ib.GUID `json:"node_guid"`
	PortGUID ib.GUID `json:"port_guid"`
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Port     uint8   `json:"port"`
	LID      *ib.LID `json:"lid"`

	Supported        *bool        `json:"supported"` // nil: unknown
	On               *bool        `json:"on"`        // nil: unknown
	CreditStarvation *bool        `json:"credit_starvation"`
	TableCapacity    *int         `json:"table_capacity"` // entries
	Key              *ReportKey   `json:"key"`
	Switch           *ReportMark  `json:"switch"`
	Ports            []ReportPort `json:"ports"` // with their own settings
	Adapter          *ReportSlow  `json:"adapter"`

	Findings []report.Kind `json:"findings"`
	Errors   []string      `json:"errors"`
}

// A ReportKey is an agent's protection. The CC_Key itself is not shown.
type ReportKey struct {
	Protected    bool   `json:"protected"`
	LeaseSeconds uint16 `json:"lease_seconds"`
	Violations   uint16 `json:"violations"`
}

// A ReportMark is a switch's settings.
type ReportMark struct {
	Threshold     uint8         `json:"threshold"`
	PacketSize    uint8         `json:"packet_size"`
	MarkingRate   uint16        `json:"marking_rate"`
	VictimMask    []uint16      `json:"victim_mask"`
	CreditMask    []uint16      `json:"credit_mask"`
	CSThreshold   uint8         `json:"cs_threshold"`
	CSReturnDelay ReportShifted `json:"cs_return_delay"`
}

// A ReportPort is a switch port's settings.
type ReportPort struct {
	Port        uint8          `json:"port"`
	Control     string         `json:"control"`
	Threshold   uint8          `json:"threshold"`
	PacketSize  *uint8         `json:"packet_size"`
	MarkingRate *uint16        `json:"marking_rate"`
	ReturnDelay *ReportShifted `json:"cs_return_delay"`
}

// A ReportSlow is an adapter port's settings.
type ReportSlow struct {
	Control string          `json:"control"`
	SLs     []ReportSL      `json:"sls"`
	Table   []ReportShifted `json:"cct"`
}

// A ReportSL is a service level's settings.
type ReportSL struct {
	SL               int    `json:"sl"`
	Timer            uint16 `json:"ccti_timer"`
	Increase         uint8  `json:"ccti_increase"`
	TriggerThreshold uint8  `json:"trigger_threshold"`
	Min              uint8  `json:"ccti_min"`
}

// A ReportShifted is the number multiplier << shift.
type ReportShifted struct {
	Shift      uint8  `json:"shift"`
	Multiplier uint16 `json:"multiplier"`
}

// A ReportChange is the changes that settings require.
type ReportChange struct {
	DryRun  bool         `json:"dry_run"`
	Same    int          `json:"same"` // agents that had the settings before
	Steps   []ReportStep `json:"steps"`
	Without []string     `json:"without"` // names of selected nodes with unknown settings
}

// A ReportStep is an agent's change.
type ReportStep struct {
	NodeGUID ib.GUID          `json:"node_guid"`
	Name     string           `json:"name"`
	Port     uint8            `json:"port"`
	Settings []Edit           `json:"settings"`
	Error    *string          `json:"error"` // the reason why the change is not possible
	Outcome  *outcome.Outcome `json:"outcome"`
	Failure  *string          `json:"failure"`
}

// Report returns the document on a session's agents, with their settings before a change.
// plan is nil if there is none; with dryRun, its steps have no outcome.
func (s *Session) Report(plan *Plan, dryRun bool) *Report {
	r := &Report{Head: report.NewHead(ReportSchema, s.Began), Agents: []ReportAgent{}}
	r.Fail(s.Fabric.ReportFailures(s.Names)...)
	for _, a := range s.Agents {
		r.Agents = append(r.Agents, reportAgent(a, s.Names))
		r.Add(a.Findings...)
		for _, err := range a.Failures {
			r.Fail(s.failure(a, err))
		}
		if a.unknown() {
			r.Fail(s.failure(a, a.Missing))
		}
	}
	r.Partial = s.Partial()
	if plan == nil {
		return r
	}
	r.Change = &ReportChange{DryRun: dryRun, Same: plan.Same, Steps: []ReportStep{}, Without: []string{}}
	for _, a := range plan.Without {
		r.Change.Without = append(r.Change.Without, s.Names.Name(a.Port.Node))
	}
	for _, st := range plan.Steps {
		step := ReportStep{NodeGUID: st.Agent.Port.Node.GUID, Name: s.Names.Name(st.Agent.Port.Node), Port: st.Agent.Port.Number, Settings: append([]Edit{}, st.Edits...)}
		step.Error = text(st.Err)
		if !dryRun {
			step.Outcome, step.Failure = new(st.Outcome), text(st.Failure)
		}
		r.Change.Steps = append(r.Change.Steps, step)
	}
	return r
}

// failure returns the failure for a request to an agent.
func (s *Session) failure(a *Agent, err error) report.Failure {
	f := fabric.ReportFailure(s.Label(a), err)
	f.NodeGUID = &a.Port.Node.GUID
	return f
}

func text(err error) *string {
	if err == nil {
		return nil
	}
	return new(err.Error())
}

func reportAgent(a *Agent, names *fabric.NameMap) ReportAgent {
	r := ReportAgent{
		NodeGUID: a.Port.Node.GUID, PortGUID: a.Port.GUID, Name: names.Name(a.Port.Node), Type: a.Port.Node.Info.NodeType.String(), Port: a.Port.Number,
		Ports: []ReportPort{}, Findings: report.KindsOf(a.Findings), Errors: []string{},
	}
	if lid := a.Port.LID(); lid != 0 {
		r.LID = &lid
		if !a.unknown() {
			r.Supported = new(a.Missing == nil)
		}
	}
	for _, err := range a.Failures {
		r.Errors = append(r.Errors, err.Error())
	}
	if a.isComplete() {
		r.On = new(a.IsOn())
	}
	if i := a.Info; i != nil && a.IsSwitch() {
		r.CreditStarvation = new(i.Info&mad.CongestionCreditStarvation != 0)
	} else if i != nil {
		r.TableCapacity = new(a.capacity())
	}
	if k := a.Key; k != nil {
		r.Key = &ReportKey{k.ProtectBit == 1, k.LeasePeriod, k.Violations}
	}
	if m := a.Switch; m != nil {
		r.Switch = &ReportMark{
			m.Threshold, m.PacketSize, m.MarkingRate, m.VictimMask.Ports(), m.CreditMask.Ports(), m.CSThreshold, shiftedOf(m.CSReturnDelay),
		}
	}
	r.addPorts(a)
	r.addAdapter(a)
	return r
}

// addPorts adds the settings on a switch's ports.
func (r *ReportAgent) addPorts(a *Agent) {
	for number, p := range a.Ports {
		if p.Valid == 0 {
			continue
		}
		port := ReportPort{Port: uint8(number), Control: portControl.show(&a.State, number), Threshold: p.Threshold}
		if p.ControlType == 0 {
			port.PacketSize, port.MarkingRate = new(p.PacketSize), new(p.Parameter)
		} else {
			port.ReturnDelay = new(shiftedOf(p.Parameter))
		}
		r.Ports = append(r.Ports, port)
	}
}

// addAdapter adds an adapter's settings with its table.
func (r *ReportAgent) addAdapter(a *Agent) {
	if c := a.Adapter; c != nil && a.Table != nil {
		r.Adapter = &ReportSlow{Control: adapterControl.show(&a.State, 0), SLs: []ReportSL{}, Table: []ReportShifted{}}
		for sl, v := range c.SLs {
			r.Adapter.SLs = append(r.Adapter.SLs, ReportSL{sl, v.Timer, v.Increase, v.TriggerThreshold, v.Min})
		}
		for _, e := range a.Table {
			r.Adapter.Table = append(r.Adapter.Table, ReportShifted(e))
		}
	}
}

func shiftedOf(v uint16) ReportShifted { return ReportShifted{uint8(v >> 14), v & maxMultiplier} }
