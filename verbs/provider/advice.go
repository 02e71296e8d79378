package provider

import "fmt"

// advice is what to look at, by Status. A packet that finds no route is a local QP
// operation error to Soft-RoCE (rxe_req.c).
var advice = [...]string{
	StatusLocalLength: "what arrived is longer than the receive buffer, or a message is longer than the port allows; " +
		"compare message sizes, MTUs, and for datagrams the 40 bytes for the GRH",
	StatusLocalQPOp: "the work request is not one that the queue pair can do; check opcode, the SGEs' LKeys and ranges, " +
		"of a receive, that it is as long as what arrived, and with Soft-RoCE that the link is up and has a route to the other side",
	StatusLocalEECOp: "the work request is not one that the EE context can do",
	StatusLocalProt:  "a SGE is not within a memory region of the queue pair's protection domain; check LKey, address and length",
	StatusFlushed: "the queue pair went to the error state before this was done; the first completion with another status " +
		"says why, or if there is none the kernel's log (dmesg)",
	StatusMWBind: "a memory window could not be bound; check the region's access, its key and the range",
	StatusBadResponse: "the other side answered with something that does not belong to the request; " +
		"check that both sides mean the same queue pair",
	StatusLocalAccess: "a receive buffer may not be written to; register it with the access local write",
	StatusRemoteInvalid: "the other side cannot do the request; check that it is no longer than the receive buffer, " +
		"and that the other queue pair allows reads or atomics at all",
	StatusRemoteAccess: "the other side does not allow it; check RKey, address and length, and the access of its " +
		"memory region and of its queue pair",
	StatusRemoteOp: "the other side failed while it did the request; its own completion says why, such as a receive " +
		"that is too short",
	StatusRetryExceeded: "the other side does not answer; check the path (ping it), that both GIDs are of one type (RoCE v1 " +
		"or v2, IPv4 or IPv6), the MTU, that no firewall drops UDP port 4791, and that the peer is still there",
	StatusRNRExceeded: "the other side has no receive posted; it is too slow, has ended, or posts too few; " +
		"a larger RNR retry count or timer waits longer",
	StatusLocalRDD:       "the datagram domains of queue pair and EE context differ",
	StatusRemoteInvalRDD: "the other side cannot do the datagram request",
	StatusRemoteAborted:  "the other side gave the operation up",
	StatusInvalidEEC:     "there is no such EE context",
	StatusInvalidEECCtx:  "the EE context is not in the right state",
	StatusFatal:          "the device failed; see the kernel's log",
	StatusRespTimeout:    "the other side took too long to answer",
	StatusGeneral:        "the device says no more; see the kernel's log",
}

// Advice returns what to look at when a work request ended so, "" for StatusOK.
func (s Status) Advice() string {
	if int(s) < len(advice) {
		return advice[s]
	}
	return advice[StatusGeneral]
}

// A CompletionError is a work request that ended with an error.
type CompletionError struct{ Completion }

// Error returns the status in words, its number and what to look at.
func (e *CompletionError) Error() string {
	vendor := ""
	if e.VendorErr != 0 {
		vendor = fmt.Sprintf(", vendor error %#x", e.VendorErr)
	}
	return fmt.Sprintf("complete work request on QP %#x: %v (status %d%s): %s", e.QPN, e.Status, e.Status, vendor, e.Status.Advice())
}

// Err returns a CompletionError, or nil of a work request that succeeded.
func (c *Completion) Err() error {
	if c.Status == StatusOK {
		return nil
	}
	return &CompletionError{*c}
}
