package portchange

import (
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// ReportSchema identifies the JSON form for a [Report]; schema/port.json describes it.
const ReportSchema = "ibkit/port/3"

// A Report is the document that "ibkit port --json" prints.
type Report struct {
	report.Head              // partial: the scan is incomplete, and cut-off nodes may be missing
	Change      *string      `json:"change"` // nil: the port is only shown
	DryRun      bool         `json:"dry_run"`
	Ports       []ReportPort `json:"ports"`

	// Order has the port names in an order in which no change cuts off a later port; nil:
	// they already have it, or it does not exist.
	Order []string `json:"order"`
}

// A ReportPort is a port with its change.
type ReportPort struct {
	NodeGUID ib.GUID `json:"node_guid"`
	PortGUID ib.GUID `json:"port_guid"`
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Number   uint8   `json:"port"`
	LID      ib.LID  `json:"lid"`

	Peer       *report.Peer  `json:"peer"`
	Status     *ReportStatus `json:"status"` // before the change
	PeerStatus *ReportStatus `json:"peer_status"`

	Settings   []ReportEdit  `json:"settings"`
	CutsOff    []report.Node `json:"cuts_off"`
	Interrupts []report.Node `json:"interrupts"`
	Risks      []Risk        `json:"risks"`
	Error      *string       `json:"error"` // the reason why the change is not possible

	Outcome   *outcome.Outcome `json:"outcome"` // nil: the change was not to be made
	Failure   *string          `json:"failure"`
	After     *ReportStatus    `json:"after"`
	PeerAfter *ReportStatus    `json:"peer_after"`
	Findings  []report.Kind    `json:"findings"` // after the change; for a port that is only shown: now
	Seconds   *float64         `json:"seconds"`
}

// A ReportStatus is a port's state and settings.
type ReportStatus struct {
	State           string   `json:"state"`
	PhysState       string   `json:"phys_state"`
	Width           *string  `json:"width"`
	Speed           *string  `json:"speed"`
	WidthsEnabled   []string `json:"widths_enabled"`
	WidthsSupported []string `json:"widths_supported"`
	SpeedsEnabled   []string `json:"speeds_enabled"`
	SpeedsSupported []string `json:"speeds_supported"`
	MTU             int      `json:"mtu"` // bytes; 0: undefined
	VLs             int      `json:"vls"` // operational data lanes; 0: undefined

	// For ports with LIDs; nil for other switch ports.
	LID         *ib.LID `json:"lid"`
	SMLID       *ib.LID `json:"sm_lid"`
	LMC         *uint8  `json:"lmc"`
	MKeyLease   *uint16 `json:"mkey_lease"`
	MKeyProtect *uint8  `json:"mkey_protect"`
}

// A ReportEdit is a setting's new value. An M_Key is "none" or "set".
type ReportEdit struct {
	Name string `json:"name"`
	From string `json:"old"`
	To   string `json:"new"`
}

// Report returns a plan's document. With dryRun, or before [Session.Apply], the ports have
// no outcome.
func (s *Session) Report(p *Plan, dryRun bool, names *fabric.NameMap) *Report {
	r := &Report{Head: report.NewHead(ReportSchema, s.began), DryRun: dryRun, Ports: []ReportPort{}}
	r.Fail(s.Fabric.ReportFailures(names)...)
	r.Partial = p.Partial
	if !p.Change.IsZero() {
		r.Change = new(p.Change.String())
	}
	for _, st := range p.Order {
		r.Order = append(r.Order, names.PortName(st.Port))
	}
	for _, st := range p.Steps {
		end := linkinfo.End{Port: st.Port, Findings: st.Findings}
		r.Add(end.Located(names)...)
		r.Ports = append(r.Ports, st.report(dryRun, names))
	}
	return r
}

func (st *Step) report(dryRun bool, names *fabric.NameMap) ReportPort {
	port := reportPort(st.Port, st.Findings, names)
	port.Status, port.PeerStatus = reportStatus(st.Before), reportStatus(st.Peer)
	for _, e := range st.Edits {
		port.Settings = append(port.Settings, ReportEdit{e.Setting.Name, e.From, e.To})
	}
	port.CutsOff, port.Interrupts = reportNodes(st.CutsOff, names), reportNodes(st.Interrupts, names)
	port.Risks = append(port.Risks, st.Risks...)
	if st.Err != nil {
		port.Error = new(st.Err.Error())
	}
	if !dryRun {
		port.Outcome = new(st.Outcome)
		port.After, port.PeerAfter = reportStatus(st.After), reportStatus(st.PeerAfter)
		port.Seconds = new(st.Elapsed.Seconds())
	}
	if st.Failure != nil {
		port.Failure = new(st.Failure.Error())
	}
	return port
}

// ReportLinks returns the document for ports that are only shown, with the findings at both
// ends.
func ReportLinks(links []*Link, names *fabric.NameMap) *Report {
	r := &Report{Head: report.NewHead(ReportSchema, time.Now()), Ports: []ReportPort{}}
	for _, l := range links {
		r.Began = l.Session.began
		r.Add(l.End.Located(names)...)
		port := reportPort(l.Port, l.End.Findings, names)
		port.Status = reportStatus(StatusOf(l.Port))
		if l.Peer != nil {
			r.Add(l.Peer.Located(names)...)
			port.PeerStatus = reportStatus(StatusOf(l.Peer.Port))
		}
		r.Ports = append(r.Ports, port)
	}
	return r
}

// StatusOf returns a scanned port's status, nil if it did not respond.
func StatusOf(p *fabric.Port) *Status {
	if p == nil || p.Info == nil {
		return nil
	}
	external := p.Node.IsSwitch() && p.Number != 0
	return &Status{Info: *p.Info, Caps: p.Caps(), Ext: p.Ext, external: external}
}

// IsExternal reports whether the port is a switch port other than port 0.
func (s *Status) IsExternal() bool { return s.external }

func reportPort(p *fabric.Port, findings []report.Finding, names *fabric.NameMap) ReportPort {
	r := ReportPort{
		NodeGUID: p.Node.GUID, PortGUID: p.GUID, Name: names.Name(p.Node), Type: p.Node.Info.NodeType.String(), Number: p.Number, LID: p.LID(),
		Settings: []ReportEdit{}, CutsOff: []report.Node{}, Interrupts: []report.Node{}, Risks: []Risk{}, Findings: report.KindsOf(findings),
	}
	r.Peer = linkinfo.NewReportPeer(p, names)
	return r
}

func reportStatus(s *Status) *ReportStatus {
	if s == nil {
		return nil
	}
	i := &s.Info
	r := &ReportStatus{
		State: i.State.String(), PhysState: i.PhysState.String(),
		WidthsEnabled: list(i.LinkWidthEnabled.Names()), WidthsSupported: list(i.LinkWidthSupported.Names()),
		SpeedsEnabled: list(i.EnabledSpeeds(s.Caps, s.Ext).Names()), SpeedsSupported: list(i.SupportedSpeeds(s.Caps, s.Ext).Names()),
		MTU: i.NeighborMTU.Bytes(), VLs: i.OperVLs.Lanes(),
	}
	if w := s.ActiveWidth(); w != 0 {
		r.Width = new(w.String())
	}
	if v := s.ActiveSpeed(); v != 0 {
		r.Speed = new(v.String())
	}
	if !s.external {
		r.LID, r.SMLID, r.LMC = &i.LID, &i.SMLID, &i.LMC
		r.MKeyLease, r.MKeyProtect = &i.MKeyLeasePeriod, &i.MKeyProtect
	}
	return r
}

// list returns a list that JSON shows as an array even if it is empty.
func list(names []string) []string { return append([]string{}, names...) }

func reportNodes(nodes []*fabric.Node, names *fabric.NameMap) []report.Node {
	reports := make([]report.Node, 0, len(nodes))
	for _, n := range nodes {
		reports = append(reports, report.Node{NodeGUID: n.GUID, Name: names.Name(n)})
	}
	return reports
}
