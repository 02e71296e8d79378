package verbs

import (
	"strconv"

	"github.com/ibkit/ibkit/internal/uapi"
)

// An Event is an asynchronous device, port or object event.
type Event struct {
	Type    EventType
	Element uint64 // port number, or a CQ's ID, QP or SRQ; 0 for the device
}

// EventType is an event type (the kernel's enum ib_event_type, libibverbs' enum
// ibv_event_type).
type EventType uint32

// The event types.
const (
	EventCQErr            EventType = 0
	EventQPFatal          EventType = 1
	EventQPReqErr         EventType = 2
	EventQPAccessErr      EventType = 3
	EventCommEst          EventType = 4
	EventSQDrained        EventType = 5
	EventPathMig          EventType = 6
	EventPathMigErr       EventType = 7
	EventDeviceFatal      EventType = 8
	EventPortActive       EventType = 9
	EventPortErr          EventType = 10
	EventLIDChange        EventType = 11
	EventPKeyChange       EventType = 12
	EventSMChange         EventType = 13
	EventSRQErr           EventType = 14
	EventSRQLimitReached  EventType = 15
	EventQPLastWQEReached EventType = 16
	EventClientReregister EventType = 17
	EventGIDChange        EventType = 18
	EventWQFatal          EventType = 19

	// EventDeviceSpeedChange means that the speed of one or more ports has changed.
	EventDeviceSpeedChange EventType = 20
)

var eventNames = [...]string{
	"CQ_ERR", "QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "COMM_EST", "SQ_DRAINED", "PATH_MIG", "PATH_MIG_ERR",
	"DEVICE_FATAL", "PORT_ACTIVE", "PORT_ERR", "LID_CHANGE", "PKEY_CHANGE", "SM_CHANGE", "SRQ_ERR",
	"SRQ_LIMIT_REACHED", "QP_LAST_WQE_REACHED", "CLIENT_REREGISTER", "GID_CHANGE", "WQ_FATAL",
	"DEVICE_SPEED_CHANGE",
}

// String returns the name that libibverbs uses, without IBV_EVENT_.
func (t EventType) String() string {
	if int(t) < len(eventNames) {
		return eventNames[t]
	}
	return "EVENT_" + strconv.FormatUint(uint64(t), 10)
}

// An Element is the kind of thing that an event concerns.
type Element uint8

// The kinds of things that events concern.
const (
	ElementDevice Element = iota
	ElementPort
	ElementCQ
	ElementQP
	ElementSRQ
	ElementWQ
)

var elementNames = [...]string{"device", "port", "CQ", "QP", "SRQ", "WQ"}

// String returns the kind name.
func (e Element) String() string {
	if int(e) < len(elementNames) {
		return elementNames[e]
	}
	return "element"
}

// Element returns the Event.Element meaning for events of this type. Events of
// unknown types concern the device.
func (t EventType) Element() Element {
	switch t {
	case EventPortActive, EventPortErr, EventLIDChange, EventPKeyChange, EventSMChange, EventClientReregister,
		EventGIDChange:
		return ElementPort
	case EventCQErr:
		return ElementCQ
	case EventQPFatal, EventQPReqErr, EventQPAccessErr, EventCommEst, EventSQDrained, EventPathMig,
		EventPathMigErr, EventQPLastWQEReached:
		return ElementQP
	case EventSRQErr, EventSRQLimitReached:
		return ElementSRQ
	case EventWQFatal:
		return ElementWQ
	}
	return ElementDevice
}

// String returns the type and the element: "PORT_ACTIVE, port 1".
func (e Event) String() string {
	kind := e.Type.Element()
	if kind == ElementDevice {
		return e.Type.String()
	}
	return e.Type.String() + ", " + kind.String() + " " + strconv.FormatUint(e.Element, 10)
}

func decodeEvent(b []byte) Event {
	e := uapi.Decode[uapi.AsyncEvent](b)
	return Event{EventType(e.Type), e.Element}
}
