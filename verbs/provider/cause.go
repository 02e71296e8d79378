package provider

import "fmt"

// causes are the likely causes by Status. Soft-RoCE reports a packet without a route as
// a local QP operation error (rxe_req.c).
var causes = [...]string{
	StatusLocalLength: "the received data exceeds the receive buffer (with 40 more bytes for the GRH of a datagram), " +
		"or the message exceeds the limit of the port",
	StatusLocalQPOp: "the queue pair cannot execute the work request: its opcode, an SGE or the receive buffer is invalid, " +
		"or Soft-RoCE has no route to the peer",
	StatusLocalEECOp: "the EE context cannot execute the work request",
	StatusLocalProt:  "an SGE is not within a memory region of the queue pair's protection domain: LKey, address or length",
	StatusFlushed: "the queue pair changed to the error state before the work request was complete; the first completion " +
		"with another status has the cause",
	StatusMWBind:      "a memory window could not be bound: access of the region, its key or the range",
	StatusBadResponse: "the peer's response does not match the request: the two queue pairs are not connected to each other",
	StatusLocalAccess: "a receive buffer is not writable for the device: its region lacks local write access",
	StatusRemoteInvalid: "the peer cannot execute the request: its receive buffer is too short, or its queue pair does not " +
		"allow reads or atomics",
	StatusRemoteAccess: "the peer denies access: RKey, address or length, or the access of its memory region or queue pair",
	StatusRemoteOp: "the peer failed to execute the request; its own completion has the cause, for example a receive buffer " +
		"that is too short",
	StatusRetryExceeded: "the peer does not respond: it has ended or the path is interrupted, the GIDs have different types, " +
		"or the MTU is too large for the path",
	StatusRNRExceeded:    "the peer has no receive posted: it is too slow, has ended, or posts too few",
	StatusLocalRDD:       "the datagram domains of the queue pair and the EE context differ",
	StatusRemoteInvalRDD: "the peer cannot execute the datagram request",
	StatusRemoteAborted:  "the peer aborted the operation",
	StatusInvalidEEC:     "the EE context does not exist",
	StatusInvalidEECCtx:  "the EE context is not in the right state",
	StatusFatal:          "the device failed",
	StatusRespTimeout:    "the peer did not respond in time",
	StatusGeneral:        "the device reports no details",
}

// Cause returns the status's likely cause, or "" for StatusOK.
func (s Status) Cause() string {
	if int(s) < len(causes) {
		return causes[s]
	}
	return causes[StatusGeneral]
}

// A CompletionError is a failed work request's error.
type CompletionError struct{ Completion }

// Error returns the status as text and number, followed by its Cause.
func (e *CompletionError) Error() string {
	vendor := ""
	if e.VendorErr != 0 {
		vendor = fmt.Sprintf(", vendor error %#x", e.VendorErr)
	}
	return fmt.Sprintf("complete work request on QP %#x: %v (status %d%s): %s", e.QPN, e.Status, e.Status, vendor, e.Status.Cause())
}

// Err returns a CompletionError, or nil for StatusOK.
func (c *Completion) Err() error {
	if c.Status == StatusOK {
		return nil
	}
	return &CompletionError{*c}
}
