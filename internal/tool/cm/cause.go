package cm

import (
	"cmp"
	"context"
	"errors"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// A Cause is the likely reason for a connection failure.
type Cause string

// The causes.
const (
	CauseNoRoute        Cause = "no route"              // to the IP address
	CauseNoDevice       Cause = "no RDMA device"        // below the interface that the route selects
	CauseNoNeighbour    Cause = "no neighbour"          // the host does not answer ARP or neighbour solicitations
	CauseLocalAddress   Cause = "no such local address" // to connect from
	CauseNoPath         Cause = "no path"               // through the fabric
	CauseNoProvider     Cause = "no driver"             // in package verbs, for queue pairs
	CauseSetup          Cause = "no queue pair"
	CauseNoListener     Cause = "no listener"      // on the port
	CauseRefused        Cause = "refused"          // by the program that listens
	CauseStale          Cause = "stale connection" // the peer has an older connection with the queue pair
	CauseWrongGID       Cause = "wrong GID"
	CauseNoResources    Cause = "no resources" // on the peer
	CauseRejected       Cause = "rejected"     // for another reason
	CauseNoReply        Cause = "no reply"
	CauseNotEstablished Cause = "not established" // the reply came, the connection did not
	CauseNoDisconnect   Cause = "no disconnect"   // the peer did not confirm the end
	CauseDeviceRemoved  Cause = "device removed"
	CauseOther          Cause = "other"
)

// causes are the causes by step, if the error does not name another cause.
var causes = map[rdmacm.Step]Cause{
	rdmacm.StepAddress: CauseOther, rdmacm.StepRoute: CauseNoPath, rdmacm.StepSetup: CauseSetup,
	rdmacm.StepConnect: CauseNoReply, rdmacm.StepEstablish: CauseNotEstablished, rdmacm.StepDisconnect: CauseNoDisconnect,
}

// addressCauses are the causes of first-step errors. The kernel resolves the neighbour
// too (drivers/infiniband/core/addr.c).
var addressCauses = map[unix.Errno]Cause{
	unix.ENETUNREACH: CauseNoRoute, unix.EHOSTUNREACH: CauseNoNeighbour, unix.ETIMEDOUT: CauseNoNeighbour,
	unix.ENODEV: CauseNoDevice, unix.EADDRNOTAVAIL: CauseLocalAddress,
}

// rejections are the rejection causes by reason.
var rejections = map[rdmacm.RejectReason]Cause{
	rdmacm.RejectInvalidServiceID: CauseNoListener, rdmacm.RejectConsumer: CauseRefused, rdmacm.RejectStale: CauseStale,
	rdmacm.RejectInvalidGID: CauseWrongGID, rdmacm.RejectNoResources: CauseNoResources, rdmacm.RejectNoQP: CauseNoResources,
}

// causeOf returns the likely cause of a step error.
func causeOf(e *rdmacm.StepError) Cause {
	switch {
	case errors.Is(e, verbs.ErrDeviceRemoved):
		return CauseDeviceRemoved
	case errors.Is(e, verbs.ErrNoProvider):
		return CauseNoProvider
	case e.Step == rdmacm.StepAddress && errors.Is(e, context.DeadlineExceeded):
		return CauseNoNeighbour
	case e.Step == rdmacm.StepAddress:
		errno, _ := errors.AsType[unix.Errno](e)
		return cmp.Or(addressCauses[errno], causes[e.Step])
	}
	if r, ok := errors.AsType[*rdmacm.RejectError](e); ok {
		return cmp.Or(rejections[r.Reason], CauseRejected)
	}
	// On iWARP, the peer's host refuses or resets the TCP connection.
	if e.Step == rdmacm.StepConnect && (errors.Is(e, unix.ECONNREFUSED) || errors.Is(e, unix.ECONNRESET)) {
		return CauseNoListener
	}
	return causes[e.Step]
}
