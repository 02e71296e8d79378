package rdmacm

import (
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs"
)

// EventType is an Event's kind (the kernel's enum rdma_cm_event_type).
type EventType uint32

// The event kinds.
const (
	EventAddrResolved    EventType = 0
	EventAddrError       EventType = 1
	EventRouteResolved   EventType = 2
	EventRouteError      EventType = 3
	EventConnectRequest  EventType = 4
	EventConnectResponse EventType = 5 // the peer has accepted; see [ID.Establish]
	EventConnectError    EventType = 6
	EventUnreachable     EventType = 7
	EventRejected        EventType = 8
	EventEstablished     EventType = 9
	EventDisconnected    EventType = 10
	EventDeviceRemoval   EventType = 11
	EventMulticastJoin   EventType = 12
	EventMulticastError  EventType = 13
	EventAddrChange      EventType = 14 // the network device moved to another RDMA device
	EventTimewaitExit    EventType = 15 // the queue pair number may be used again
)

// eventNames are the names that librdmacm prints (rdma_event_str).
var eventNames = [...]string{
	"RDMA_CM_EVENT_ADDR_RESOLVED", "RDMA_CM_EVENT_ADDR_ERROR", "RDMA_CM_EVENT_ROUTE_RESOLVED",
	"RDMA_CM_EVENT_ROUTE_ERROR", "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
	"RDMA_CM_EVENT_CONNECT_ERROR", "RDMA_CM_EVENT_UNREACHABLE", "RDMA_CM_EVENT_REJECTED",
	"RDMA_CM_EVENT_ESTABLISHED", "RDMA_CM_EVENT_DISCONNECTED", "RDMA_CM_EVENT_DEVICE_REMOVAL",
	"RDMA_CM_EVENT_MULTICAST_JOIN", "RDMA_CM_EVENT_MULTICAST_ERROR", "RDMA_CM_EVENT_ADDR_CHANGE",
	"RDMA_CM_EVENT_TIMEWAIT_EXIT",
}

// String returns librdmacm's name, for example RDMA_CM_EVENT_REJECTED.
func (t EventType) String() string {
	if int(t) < len(eventNames) {
		return eventNames[t]
	}
	return "event " + strconv.FormatUint(uint64(t), 10)
}

// An Event is an ID change.
type Event struct {
	Type     EventType
	ID       *ID // for a connection request the new ID
	Listener *ID // a connection request's
	Group    *Group
	Status   int32 // 0, a negative errno, or a rejection's reason

	// Param are the peer's parameters, from its point of view reversed: its
	// ResponderResources are the local InitiatorDepth. A request's private data
	// or a reply has its message's full length, filled up with zeros.
	Param ConnParam

	// Datagram is a datagram service's peer, or the group. It is nil for
	// connections and for events without a peer.
	Datagram *Datagram
}

// A Datagram is the datagram destination.
type Datagram struct {
	QPN  uint32
	QKey uint32
	Path verbs.Path
}

// ECE are the options for enhanced connection establishment, which are defined by
// the adapter vendor (struct rdma_ucm_ece).
type ECE struct {
	VendorID uint32
	Options  uint32
}

// decodeEvent decodes an event without its ID. datagrams: the ID is for datagrams.
func decodeEvent(r *uapi.CMEventResp, datagrams bool) (Event, error) {
	e := Event{Type: EventType(r.Event), Status: int32(r.Status)}
	if datagrams {
		p := uapi.Decode[uapi.CMUDParam](r.Param[:])
		path, err := verbs.DecodePath(uapi.Bytes(&p.AH))
		if err != nil {
			return Event{}, err
		}
		e.Param = ConnParam{PrivateData: slices.Clone(p.PrivateData[:p.PrivateDataLen]), QPN: p.QPNum, QKey: p.QKey}
		if p.QPNum != 0 {
			e.Datagram = &Datagram{QPN: p.QPNum, QKey: p.QKey, Path: path}
		}
		return e, nil
	}
	e.Param = decodeParam(uapi.Decode[uapi.CMConnParam](r.Param[:]), r.ECE)
	return e, nil
}

// Err returns the error that an event reports: nil, a [RejectError] or an
// [EventError].
func (e Event) Err() error {
	switch e.Type {
	case EventRejected:
		if e.Status >= 0 {
			return &RejectError{Reason: RejectReason(e.Status), PrivateData: e.Param.PrivateData}
		}
	case EventUnreachable:
		if e.Status > 0 {
			return &ServiceError{Status: ServiceStatus(e.Status)}
		}
	case EventAddrError, EventRouteError, EventConnectError, EventMulticastError, EventDeviceRemoval,
		EventDisconnected, EventAddrChange:
	default:
		if e.Status == 0 {
			return nil
		}
	}
	return &EventError{Type: e.Type, Status: e.Status}
}

// An EventError is an event that ends a step.
type EventError struct {
	Type   EventType
	Status int32 // 0 or a negative errno
}

var eventErrors = map[EventType]string{
	EventAddrError: "address not resolved", EventRouteError: "route not resolved", EventConnectError: "connection failed",
	EventUnreachable: "peer unreachable", EventRejected: "connection refused", EventDisconnected: "disconnected by the peer",
	EventDeviceRemoval: "device removed", EventMulticastError: "multicast group lost", EventAddrChange: "address moved to another device",
}

func (e *EventError) Error() string {
	text, ok := eventErrors[e.Type]
	if !ok {
		text = e.Type.String()
	}
	switch {
	case e.Status < 0:
		return text + ": " + unix.Errno(-e.Status).Error()
	case e.Status > 0:
		return fmt.Sprintf("%s: status %d", text, e.Status)
	}
	return text
}

// Unwrap returns the status's errno, or nil.
func (e *EventError) Unwrap() error {
	if e.Status < 0 {
		return unix.Errno(-e.Status)
	}
	return nil
}

// Is reports verbs.ErrDeviceRemoved for the device's removal.
func (e *EventError) Is(target error) bool {
	return target == verbs.ErrDeviceRemoved && e.Type == EventDeviceRemoval
}

// A RejectError is a connection request's rejection.
type RejectError struct {
	Reason      RejectReason
	PrivateData []byte // the peer's, filled up with zeros
}

func (e *RejectError) Error() string { return "rejected by the peer: " + e.Reason.String() }

// RejectReason is a REJ message's reason code (InfiniBand Architecture, volume
// 1, 12.6.7.2; enum ib_cm_rej_reason in the kernel's include/rdma/ib_cm.h).
type RejectReason uint16

// Some reasons.
const (
	RejectNoQP             RejectReason = 1
	RejectNoResources      RejectReason = 3
	RejectInvalidServiceID RejectReason = 8
	RejectStale            RejectReason = 10
	RejectInvalidGID       RejectReason = 12
	RejectConsumer         RejectReason = 28
)

var rejectNames = [...]string{
	1: "no queue pair", 2: "no EE context", 3: "no resources", 4: "timeout", 5: "unsupported request",
	6: "invalid communication ID", 7: "invalid communication instance", 8: "invalid service ID",
	9: "invalid transport type", 10: "stale connection", 11: "no RD domain", 12: "invalid GID", 13: "invalid LID",
	14: "invalid SL", 15: "invalid traffic class", 16: "invalid hop limit", 17: "invalid packet rate",
	18: "invalid alternate GID", 19: "invalid alternate LID", 20: "invalid alternate SL",
	21: "invalid alternate traffic class", 22: "invalid alternate hop limit", 23: "invalid alternate packet rate",
	24: "port and CM redirected", 25: "port redirected", 26: "invalid MTU", 27: "insufficient responder resources",
	28: "consumer defined", 29: "invalid RNR retry count", 30: "duplicate local communication ID",
	31: "invalid class version", 32: "invalid flow label", 33: "invalid alternate flow label",
	35: "vendor option not supported",
}

// String returns the reason as text.
func (r RejectReason) String() string {
	if int(r) < len(rejectNames) && rejectNames[r] != "" {
		return rejectNames[r]
	}
	return "reason " + strconv.Itoa(int(r))
}

// A ServiceError is a datagram service's negative reply.
type ServiceError struct{ Status ServiceStatus }

func (e *ServiceError) Error() string { return "refused by the peer: " + e.Status.String() }

// ServiceStatus is a SIDR_REP message's status (enum ib_cm_sidr_status in the
// kernel's include/rdma/ib_cm.h).
type ServiceStatus uint8

var serviceNames = [...]string{
	"success", "service ID not supported", "rejected", "no queue pair", "redirected", "version not supported",
}

// String returns the status as text.
func (s ServiceStatus) String() string {
	if int(s) < len(serviceNames) {
		return serviceNames[s]
	}
	return "status " + strconv.Itoa(int(s))
}
