package report

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/ib"
)

// Recovery is the severity of an event after which something works again. No finding has it.
const Recovery Severity = "recovery"

// EventSeverities lists the severities of events, the worst first.
func EventSeverities() []Severity { return append(Severities(), Recovery) }

// An EventKind names a type of event. Names are stable: scripts match them.
type EventKind string

// Kinds of events in a fabric and on the local devices.
const (
	LinkDown    EventKind = "link-down"    // a link that was up is down, or an end left the fabric
	LinkUp      EventKind = "link-up"      // a link is up that was not up before
	LinkChanged EventKind = "link-changed" // the state, width, speed or peer on a link that stays up
	NodeAdded   EventKind = "node-added"   // a node responds that was not in the fabric
	NodeRemoved EventKind = "node-removed" // a node left the fabric, and its links are down
	NodeSilent  EventKind = "node-silent"  // a node does not respond, and no link on it is known to be down
	NodeChanged EventKind = "node-changed" // the name, the LID or the port count

	Notice EventKind = "notice" // a notice that subnet administration forwarded

	CounterRaised   EventKind = "counter-raised"   // a counter's increase in a window is above its threshold
	CounterSettled  EventKind = "counter-settled"  // a raised counter's window is below the threshold again
	CountersCleared EventKind = "counters-cleared" // a port's counters were cleared

	DeviceAdded   EventKind = "device-added"   // an RDMA device on this host
	DeviceRemoved EventKind = "device-removed" // an RDMA device on this host
	DeviceEvent   EventKind = "device-event"   // an asynchronous event on a device or its port
	NetdevUp      EventKind = "netdev-up"      // an RDMA port's network device can transmit
	NetdevDown    EventKind = "netdev-down"    // an RDMA port's network device cannot transmit
)

// Kinds of events about the stream itself.
const (
	SourceUp   EventKind = "source-up"   // a source works, or works again
	SourceLost EventKind = "source-lost" // a source does not work: events may be missed until SourceUp
	Dropped    EventKind = "dropped"     // events were not stored because they came faster than they were processed
	Refused    EventKind = "refused"     // subnet administration refused a single subscription among several
	Unnamed    EventKind = "unnamed"     // node names are incomplete
)

// EventKinds returns the kinds of events in a fabric and on the local devices.
func EventKinds() []EventKind {
	return []EventKind{
		LinkDown, LinkUp, LinkChanged, NodeAdded, NodeRemoved, NodeSilent, NodeChanged, Notice,
		CounterRaised, CounterSettled, CountersCleared, DeviceAdded, DeviceRemoved, DeviceEvent, NetdevUp, NetdevDown,
	}
}

// IsState reports whether the kind is about the stream itself.
func (k EventKind) IsState() bool {
	switch k {
	case SourceUp, SourceLost, Dropped, Refused, Unnamed:
		return true
	}
	return false
}

// An Event is a line of a stream: a change that a tool has seen. D has the values that
// scripts evaluate further, as a type of the tool; its schema describes it.
type Event[D any] struct {
	Schema   string    `json:"schema"`   // "ibkit/NAME/VERSION"
	Sequence uint64    `json:"sequence"` // from 1, in stream order
	Time     time.Time `json:"time"`     // arrival time of the packet or message that shows the change
	Kind     EventKind `json:"kind"`
	Severity Severity  `json:"severity"`

	// Subject, NodeGUID and Port are as in a [Finding]. The subject of an event about
	// the stream is a source, for example "links", or "" for all.
	Subject  string   `json:"subject"`
	NodeGUID *ib.GUID `json:"node_guid"`
	Port     *int     `json:"port"`

	Detail string `json:"detail"`
	Data   D      `json:"data"`
}

// At sets the place that the event is about.
func (e *Event[D]) At(p *Place) {
	e.Subject, e.NodeGUID, e.Port = p.String(), p.NodeGUID, p.Port
}

// A Place is a node, a port or a multicast group in the data of an event. nil stands for an
// unknown value.
type Place struct {
	Name     *string  `json:"name"` // from the node name map, else the description; for a device its name
	Type     *string  `json:"type"` // node type
	NodeGUID *ib.GUID `json:"node_guid"`
	Port     *int     `json:"port"` // nil: the node
	LID      *ib.LID  `json:"lid"`
	GID      *string  `json:"gid"` // of a port or multicast group with an unknown node
}

// String returns, for example, "leaf1[3]".
func (p *Place) String() string {
	switch {
	case p.Name != nil && p.Port != nil:
		return fmt.Sprintf("%s[%d]", *p.Name, *p.Port)
	case p.Name != nil:
		return *p.Name
	case p.GID != nil:
		return *p.GID
	case p.LID != nil:
		return fmt.Sprintf("LID %d", *p.LID)
	case p.NodeGUID != nil:
		return p.NodeGUID.String()
	}
	return ""
}
