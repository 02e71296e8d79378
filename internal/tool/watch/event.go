package watch

import (
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/trap"
	"github.com/ibkit/ibkit/report"
)

// Schema identifies the JSON form of an [Event]; schema/watch.json describes it.
const Schema = "ibkit/watch/3"

// A Source is an event source.
type Source string

// The sources. Each has the event kinds for which it reports changes.
const (
	Links    Source = "links"    // differences between fabric sweeps
	Traps    Source = "traps"    // notices that subnet administration forwards
	Counters Source = "counters" // performance counters above their thresholds
	Local    Source = "local"    // devices on this host, their network devices and RoCE traffic
	Self     Source = "watch"    // the stream itself
)

// Sources are the sources that options select.
var Sources = []Source{Links, Traps, Counters, Local}

// An Event is a stream event, and the document that "ibkit watch --json" prints for it.
type Event struct {
	report.Event[Data]

	node, peer *fabric.Node // nodes at the subject and at the link's other end, for filters; nil: without a node
}

// Data has the values of an [Event]. Pointers are nil if a member does not apply or a value
// is unknown.
type Data struct {
	Source Source        `json:"source"`
	Place  *report.Place `json:"place"`
	Peer   *report.Place `json:"peer"` // the link's other end

	Link    *LinkChange      `json:"link,omitempty"`
	Counter *CounterChange   `json:"counter,omitempty"`
	Notice  *trap.NoticeData `json:"notice,omitempty"`
	Device  *DeviceData      `json:"device,omitempty"`
	Count   *int             `json:"count,omitempty"` // of report.Dropped
}

// newEvent returns an event from a source.
func newEvent(source Source, kind report.EventKind, severity report.Severity, detail string) *Event {
	e := &Event{}
	e.Kind, e.Severity, e.Detail, e.Data.Source = kind, severity, detail, source
	if kind.IsState() {
		e.Subject = string(source)
	}
	return e
}

// about sets the place that the event is about, with its node.
func (e *Event) about(p *report.Place, n *fabric.Node) *Event {
	e.Data.Place, e.node = p, n
	e.At(p)
	return e
}

// Match reports whether a function accepts the node that the event is about, or the node at
// the link's other end. Events without a node match.
func (e *Event) Match(accept func(*fabric.Node) bool) bool {
	return e.node == nil || accept(e.node) || e.peer != nil && accept(e.peer)
}

// A LinkChange is a link before and after a change. A state is nil if the port was not
// known.
type LinkChange struct {
	Old *LinkState `json:"old"`
	New *LinkState `json:"new"`
}

// A LinkState is a port's state.
type LinkState struct {
	State    string        `json:"state"`
	Width    *string       `json:"width"` // nil: the link is down
	Speed    *string       `json:"speed"`
	Peer     *report.Place `json:"peer"`
	Findings []string      `json:"findings"` // as ibkit linkinfo reports them
}

// A CounterChange is a finding about a counter.
type CounterChange struct {
	Kind     report.Kind `json:"kind"` // of the finding, as ibkit counters reports it
	Name     *string     `json:"name"` // nil: all counters on the port
	Class    *string     `json:"class"`
	Value    *uint64     `json:"value"`          // at the window's end
	Increase *uint64     `json:"increase"`       // in the window
	Rate     *float64    `json:"per_second"`     // per second
	Window   *float64    `json:"window_seconds"` // seconds
}

// DeviceData is a device on this host.
type DeviceData struct {
	Name   *string `json:"name"` // of the RDMA device; nil: unknown
	Port   *uint32 `json:"port"`
	Netdev *string `json:"netdev"`
	Type   *string `json:"type"` // of an asynchronous event, as in libibverbs without IBV_EVENT_
}
