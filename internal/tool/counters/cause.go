package counters

import "fmt"

// A Class is an error cause kind.
type Class uint8

// The classes.
const (
	Cable         Class = iota + 1 // bit errors, links that fail
	Congestion                     // more traffic than the path carries
	Configuration                  // partitions, routes, MTUs, buffers
)

var classNames = [...]string{Cable: "cable", Congestion: "congestion", Configuration: "configuration"}

// Classes are all classes.
var Classes = []Class{Cable, Congestion, Configuration}

// String returns the class name.
func (c Class) String() string {
	if c == 0 || int(c) >= len(classNames) {
		return fmt.Sprintf("Class(%d)", uint8(c))
	}
	return classNames[c]
}

// MarshalText returns the class name. The error is always nil.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// A cause is an error counter's usual meaning.
type cause struct {
	class   Class
	meaning string
}

var causes = [firstTraffic]cause{
	SymbolErrors:           {Cable, "bit errors on the link"},
	LinkErrorRecovery:      {Cable, "the link retrained after errors"},
	LinkDowned:             {Cable, "the link went down"},
	RcvErrors:              {Cable, "damaged packets arrived"},
	RcvRemotePhysErrors:    {Cable, "packets were damaged on an earlier link"},
	RcvSwitchRelayErrors:   {Configuration, "packets had no valid output port"},
	XmitDiscards:           {Congestion, "packets were dropped at the output"},
	XmitConstraintErrors:   {Configuration, "outgoing packets violated a partition"},
	RcvConstraintErrors:    {Configuration, "incoming packets violated a partition"},
	LocalLinkIntegrity:     {Cable, "bursts of bit errors"},
	ExcessiveBufferOverrun: {Cable, "lost flow control: the buffer overflowed"},
	VL15Dropped:            {Configuration, "management packets were dropped"},
	XmitWait:               {Congestion, "packets waited for the peer"},
	QP1Dropped:             {Configuration, "management packets were dropped at QP1"},
}

// bySeverity has the error counters, the worst first.
var bySeverity = [...]Counter{
	LinkDowned, LinkErrorRecovery, LocalLinkIntegrity, ExcessiveBufferOverrun, SymbolErrors, RcvErrors,
	XmitDiscards, XmitWait, RcvRemotePhysErrors, RcvConstraintErrors, XmitConstraintErrors,
	RcvSwitchRelayErrors, VL15Dropped, QP1Dropped,
}

// causeOf returns a counter's cause. If a port's details have been read, the largest part
// of the errors decides.
func causeOf(c Counter, s *Sample) cause {
	type part struct {
		counter Counter
		cause   cause
	}
	var parts []part
	switch c {
	case XmitDiscards:
		parts = []part{
			{SwHOQLifetimeLimitDiscards, cause{Congestion, "packets waited too long at the head of a queue"}},
			{SwLifetimeLimitDiscards, cause{Congestion, "packets were too long in the switch"}},
			{NeighborMTUDiscards, cause{Configuration, "packets were longer than the peer's MTU"}},
			{InactiveDiscards, cause{Cable, "packets were sent to a link that was down"}},
		}
	case RcvErrors:
		parts = []part{
			{LocalPhysicalErrors, cause{Cable, "packets with bit errors arrived"}},
			{MalformedPktErrors, cause{Cable, "malformed packets arrived"}},
			{BufferOverrunErrors, cause{Cable, "lost flow control: the buffer overflowed"}},
			{DLIDMappingErrors, cause{Configuration, "packets had no route"}},
			{VLMappingErrors, cause{Configuration, "packets had no virtual lane"}},
			{LoopingErrors, cause{Configuration, "packets were routed back to their input port"}},
		}
	}
	best, most := causes[c], uint64(0)
	for _, p := range parts {
		if v, ok := s.Value(p.counter); ok && v.N > most {
			best, most = p.cause, v.N
		}
	}
	return best
}
