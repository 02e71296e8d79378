package umad

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// RMPP parameters for transports that do not implement it (InfiniBand Architecture,
// Volume 1, 13.6.6). The window is the same as in the kernel's receiver
// (drivers/infiniband/core/mad_rmpp.c).
const (
	// rmppWindow is the maximum number of segments in flight.
	rmppWindow = 64

	// rmppAckAfter is how long a receiver waits for the next segment before it
	// repeats its acknowledgement, and rmppRepeats the maximum repetition count.
	rmppAckAfter = 200 * time.Millisecond
	rmppRepeats  = 10

	// rmppPause is the last segment's minimum age for a repeated acknowledgement to count
	// as a loss, and rmppRetry how long a sender waits for an acknowledgement.
	rmppPause = 100 * time.Millisecond
	rmppRetry = 2 * time.Second
)

// An rmppError is the reason why a segment transfer was not completed.
type rmppError struct {
	Type   mad.RMPPType // RMPPStop or RMPPAbort
	Status mad.RMPPStatus
	Remote bool // ended by the peer; false: by this side
}

func (e *rmppError) Error() string {
	verb := "aborted"
	if e.Type == mad.RMPPStop {
		verb = "stopped"
	}
	by := ""
	if e.Remote {
		by = " by the peer"
	}
	return fmt.Sprintf("transfer of segments %s%s: %v", verb, by, e.Status)
}

// classHeader returns the sizes in bytes of the class header and the data in
// a segment's payload.
func classHeader(p *mad.Packet) (header, data int) {
	_, data = p.Class().DataRange()
	return mad.RMPPPayloadSize - data, data
}

// control returns a packet from the receiver of p to its sender: it has p's headers with
// the opposite direction.
func control(p *mad.Packet, h mad.RMPP) mad.Packet {
	q := *p
	offset, _ := p.Class().DataRange()
	clear(q[offset:])
	q[offMethod] ^= responseBit
	h.Version, h.Flags, h.RespTime = mad.RMPPVersion, mad.RMPPActive, mad.NoRespTime
	q.SetRMPP(h)
	return q
}

// The method's offset in the common header, and the response bit (13.4.5).
const (
	offMethod   = 3
	responseBit = 0x80
)

// check checks the common part in a transfer's packets. It returns the error that ends
// the transfer, or nil.
func check(h mad.RMPP) *rmppError {
	switch {
	case h.Version != mad.RMPPVersion:
		return abort(mad.RMPPBadVersion)
	case h.Type < mad.RMPPData || h.Type > mad.RMPPAbort:
		return abort(mad.RMPPBadType)
	case h.Type == mad.RMPPStop && h.Status != mad.RMPPNoResources,
		h.Type == mad.RMPPAbort && h.Status < mad.RMPPTimeTooLong,
		h.Type <= mad.RMPPAck && h.Status != mad.RMPPNormal:
		return abort(mad.RMPPBadStatus)
	case h.Type >= mad.RMPPStop:
		return &rmppError{Type: h.Type, Status: h.Status, Remote: true}
	}
	return nil
}

func abort(s mad.RMPPStatus) *rmppError { return &rmppError{Type: mad.RMPPAbort, Status: s} }
