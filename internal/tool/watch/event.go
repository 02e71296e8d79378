package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
)

// Schema identifies the JSON form of an [Event]; schema/watch.json describes it.
const Schema = "ibkit/watch/1"

// A Source is an event source.
type Source uint8

// The sources. Each has the event kinds for which it reports changes.
const (
	Links    Source = iota + 1 // differences between fabric sweeps
	Traps                      // notices that subnet administration forwards
	Counters                   // performance counters above their thresholds
	Local                      // devices on this host and their network devices
	Self                       // the stream itself
)

var sourceNames = [...]string{Links: "links", Traps: "traps", Counters: "counters", Local: "local", Self: "watch"}

// Sources are the sources that options select.
var Sources = []Source{Links, Traps, Counters, Local}

// String returns the source's name, for example "links".
func (s Source) String() string { return nameOf(sourceNames[:], uint8(s), "Source") }

// MarshalText returns the source's name. The error is always nil.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses a source's name.
func (s *Source) UnmarshalText(text []byte) error {
	return parse(sourceNames[:], "source", string(text), (*uint8)(s))
}

// A Kind is an event kind.
type Kind uint8

// The event kinds.
const (
	LinkDown    Kind = iota + 1 // a link that was up is down, or an end left the fabric
	LinkUp                      // a link is up that was not up before
	LinkChanged                 // the state, width, speed or peer on a link that stays up
	NodeAdded                   // a node responds that was not in the fabric
	NodeRemoved                 // a node left the fabric, and its links are down
	NodeSilent                  // a node does not respond, and no link on it is known to be down
	NodeChanged                 // the name, the LID or the port count

	TrapNotice // a notice that subnet administration forwarded

	CounterRaised   // a counter's increase in a window is above its threshold
	CounterSettled  // a raised counter's window is below the threshold again
	CountersCleared // a port's counters were cleared

	DeviceAdded   // an RDMA device on this host
	DeviceRemoved // an RDMA device on this host
	DeviceEvent   // an asynchronous event on a device or its port
	NetdevUp      // an RDMA port's network device can transmit
	NetdevDown    // an RDMA port's network device cannot transmit

	SourceUp   // a source works, or works again
	SourceLost // a source does not work: events may be missed until SourceUp
	Dropped    // events were not stored because they came faster than they were processed
)

var kindNames = [...]string{
	LinkDown: "link-down", LinkUp: "link-up", LinkChanged: "link-changed",
	NodeAdded: "node-added", NodeRemoved: "node-removed", NodeSilent: "node-silent", NodeChanged: "node-changed",
	TrapNotice:    "notice",
	CounterRaised: "counter-raised", CounterSettled: "counter-settled", CountersCleared: "counters-cleared",
	DeviceAdded: "device-added", DeviceRemoved: "device-removed", DeviceEvent: "device-event",
	NetdevUp: "netdev-up", NetdevDown: "netdev-down",
	SourceUp: "source-up", SourceLost: "source-lost", Dropped: "dropped",
}

// Kinds returns all event kinds.
func Kinds() []Kind {
	var all []Kind
	for k := LinkDown; k <= Dropped; k++ {
		all = append(all, k)
	}
	return all
}

// String returns the kind's name, for example "link-down". Names are stable: scripts match
// them.
func (k Kind) String() string { return nameOf(kindNames[:], uint8(k), "Kind") }

// MarshalText returns the kind's name. The error is always nil.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText parses a kind's name.
func (k *Kind) UnmarshalText(text []byte) error {
	return parse(kindNames[:], "event", string(text), (*uint8)(k))
}

// IsState reports whether the kind is about the stream itself.
func (k Kind) IsState() bool { return k >= SourceUp }

// A Level is an event's importance.
type Level uint8

// The levels.
const (
	Info     Level = iota + 1 // any other change
	Problem                   // something stopped working, or got worse
	Recovery                  // something works again
)

var levelNames = [...]string{Info: "info", Problem: "problem", Recovery: "recovery"}

// String returns the level's name, for example "problem".
func (l Level) String() string { return nameOf(levelNames[:], uint8(l), "Level") }

// MarshalText returns the level's name. The error is always nil.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses a level's name.
func (l *Level) UnmarshalText(text []byte) error {
	return parse(levelNames[:], "level", string(text), (*uint8)(l))
}

func nameOf(names []string, v uint8, kind string) string {
	if v == 0 || int(v) >= len(names) {
		return fmt.Sprintf("%s(%d)", kind, v)
	}
	return names[v]
}

func parse(names []string, kind, text string, v *uint8) error {
	for i, name := range names {
		if i > 0 && strings.EqualFold(name, text) {
			*v = uint8(i)
			return nil
		}
	}
	return fmt.Errorf("unknown %s %q", kind, text)
}

// An Event is a stream event, and the document that "ibkit watch --json" prints for it.
// Pointers are nil if a member does not apply or a value is unknown.
type Event struct {
	Schema   string    `json:"schema"`
	Sequence uint64    `json:"sequence"` // from 1, in stream order
	Time     time.Time `json:"time"`     // arrival time of the packet or message that shows the change
	Source   Source    `json:"source"`
	Event    Kind      `json:"event"`
	Level    Level     `json:"level"`
	Subject  *Place    `json:"subject"`
	Peer     *Place    `json:"peer"` // the link's other end
	Text     string    `json:"text"`

	Link    *LinkChange    `json:"link,omitempty"`
	Counter *CounterChange `json:"counter,omitempty"`
	Notice  *NoticeData    `json:"notice,omitempty"`
	Device  *DeviceData    `json:"device,omitempty"`
	Count   *int           `json:"count,omitempty"` // of Dropped

	node, peer *fabric.Node // nodes at the subject and at the link's other end, for filters; nil: without a node
}

// A Place is a node or a node's port.
type Place struct {
	Name string   `json:"name"` // from the node name map, else the description; "" if unknown
	GUID *ib.GUID `json:"node_guid"`
	Type *string  `json:"type"`
	LID  *ib.LID  `json:"lid"`
	GID  *string  `json:"gid"`  // of a port or multicast group with an unknown node
	Port *uint8   `json:"port"` // nil: the node
}

// String returns, for example, "leaf1[3]".
func (p *Place) String() string {
	switch {
	case p.Name == "" && p.GID != nil:
		return *p.GID
	case p.Name == "" && p.LID != nil:
		return fmt.Sprintf("LID %d", *p.LID)
	case p.Name == "" && p.GUID != nil:
		return p.GUID.String()
	case p.Port != nil:
		return fabric.PortName(p.Name, int(*p.Port))
	}
	return p.Name
}

// A LinkChange is a link before and after a change. A state is nil if the port was not
// known.
type LinkChange struct {
	Old *LinkState `json:"old"`
	New *LinkState `json:"new"`
}

// A LinkState is a port's state.
type LinkState struct {
	State    string   `json:"state"`
	Width    *string  `json:"width"` // nil: the link is down
	Speed    *string  `json:"speed"`
	Peer     *Place   `json:"peer"`
	Findings []string `json:"findings"` // as ibkit linkinfo reports them
}

// A CounterChange is a finding about a counter.
type CounterChange struct {
	Kind     string   `json:"kind"` // of the finding, as ibkit counters reports it
	Name     *string  `json:"name"` // nil: all counters on the port
	Class    *string  `json:"class"`
	Value    *uint64  `json:"value"`    // at the window's end
	Increase *uint64  `json:"increase"` // in the window
	Rate     *float64 `json:"rate"`     // per second
	Window   *float64 `json:"window"`   // seconds
}

// NoticeData is a notice.
type NoticeData struct {
	Trap   *uint16 `json:"trap"` // nil: of a vendor
	Name   *string `json:"name"` // as in ibkit trap; nil: not defined by the specification
	Type   string  `json:"type"`
	Issuer *Place  `json:"issuer"`
}

// DeviceData is a device on this host.
type DeviceData struct {
	Name   *string `json:"name"` // of the RDMA device; nil: unknown
	Port   *uint32 `json:"port"`
	Netdev *string `json:"netdev"`
	Type   *string `json:"type"` // of an asynchronous event, as in libibverbs without IBV_EVENT_
}
