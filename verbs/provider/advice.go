package provider

import "fmt"

// advice are the likely causes and the things to check, by Status. Soft-RoCE reports
// a packet without a route as a local QP operation error (rxe_req.c).
var advice = [...]string{
	StatusLocalLength: "the received data exceeds the receive buffer, or a message exceeds the limit of the port; " +
		"compare message sizes and MTUs; datagrams need 40 more bytes for the GRH",
	StatusLocalQPOp: "the queue pair cannot execute the work request; check the opcode, the LKeys and ranges of the SGEs, " +
		"the length of the receive buffer, and with Soft-RoCE that the link is up and has a route to the peer",
	StatusLocalEECOp: "the EE context cannot execute the work request",
	StatusLocalProt:  "an SGE is not within a memory region of the queue pair's protection domain; check LKey, address and length",
	StatusFlushed: "the queue pair changed to the error state before the work request was complete; the first completion " +
		"with another status has the cause; without one, check the kernel's log (dmesg)",
	StatusMWBind:      "a memory window could not be bound; check the access of the region, its key and the range",
	StatusBadResponse: "the peer's response does not match the request; check that the two queue pairs are connected to each other",
	StatusLocalAccess: "a receive buffer is not writable for the device; register it with local write access",
	StatusRemoteInvalid: "the peer cannot execute the request; check that its length does not exceed the receive buffer, " +
		"and that the peer's queue pair allows reads or atomics",
	StatusRemoteAccess: "the peer denies access; check RKey, address and length, and the access of the peer's memory region " +
		"and queue pair",
	StatusRemoteOp: "the peer failed to execute the request; its own completion has the cause, for example a receive buffer " +
		"that is too short",
	StatusRetryExceeded: "the peer does not respond; check the path (ping), that both GIDs have the same type (RoCE v1 or v2, " +
		"IPv4 or IPv6), the MTU, that no firewall drops UDP port 4791, and that the peer is still running",
	StatusRNRExceeded: "the peer has no receive posted; it is too slow, has ended, or posts too few; " +
		"a larger RNR retry count or timer waits longer",
	StatusLocalRDD:       "the datagram domains of the queue pair and the EE context differ",
	StatusRemoteInvalRDD: "the peer cannot execute the datagram request",
	StatusRemoteAborted:  "the peer aborted the operation",
	StatusInvalidEEC:     "the EE context does not exist",
	StatusInvalidEECCtx:  "the EE context is not in the right state",
	StatusFatal:          "the device failed; check the kernel's log",
	StatusRespTimeout:    "the peer did not respond in time",
	StatusGeneral:        "the device reports no details; check the kernel's log",
}

// Advice returns the likely cause of the status and the things to check, or "" for
// StatusOK.
func (s Status) Advice() string {
	if int(s) < len(advice) {
		return advice[s]
	}
	return advice[StatusGeneral]
}

// A CompletionError is the error of a failed work request.
type CompletionError struct{ Completion }

// Error returns the status as text and number, followed by its Advice.
func (e *CompletionError) Error() string {
	vendor := ""
	if e.VendorErr != 0 {
		vendor = fmt.Sprintf(", vendor error %#x", e.VendorErr)
	}
	return fmt.Sprintf("complete work request on QP %#x: %v (status %d%s): %s", e.QPN, e.Status, e.Status, vendor, e.Status.Advice())
}

// Err returns a CompletionError, or nil for StatusOK.
func (c *Completion) Err() error {
	if c.Status == StatusOK {
		return nil
	}
	return &CompletionError{*c}
}
