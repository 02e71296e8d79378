package umad

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// How a transfer by RMPP goes where the transport leaves it to us (InfiniBand
// Architecture, Volume 1, 13.6.6). The window is that of the kernel's receiver
// (drivers/infiniband/core/mad_rmpp.c).
const (
	// rmppWindow is how many segments may be on their way.
	rmppWindow = 64

	// rmppPatience is how long a receiver waits for the next segment before it
	// says again what it has got, and rmppRepeats how often it does so in
	// vain.
	rmppPatience = 200 * time.Millisecond
	rmppRepeats  = 10

	// rmppPause is how old the last segment must be before the sender takes an
	// acknowledgement that says nothing new for a sign that some got lost, and
	// rmppRetry how long it waits for one at all.
	rmppPause = 100 * time.Millisecond
	rmppRetry = 2 * time.Second
)

// An RMPPError says why a transfer of many segments ended before its end.
type RMPPError struct {
	Type   mad.RMPPType // RMPPStop or RMPPAbort
	Status mad.RMPPStatus
	Remote bool // the other side ended it; false: this one, on account of what the other sent or did not send
}

func (e *RMPPError) Error() string {
	verb := "aborted"
	if e.Type == mad.RMPPStop {
		verb = "stopped"
	}
	by := "it was"
	if e.Remote {
		by = "the other side"
	}
	return fmt.Sprintf("transfer of segments: %s %s: %v", by, verb, e.Status)
}

// classHeader returns how many bytes of each segment's payload are the header
// of the class, and how many its data.
func classHeader(p *mad.Packet) (header, data int) {
	_, data = p.Class().DataRange()
	return mad.RMPPPayloadSize - data, data
}

// control returns the packet by which a receiver of p answers it, or a sender
// the packet that acknowledges it: the same headers with the direction changed.
func control(p *mad.Packet, h mad.RMPP) mad.Packet {
	q := *p
	offset, _ := p.Class().DataRange()
	clear(q[offset:])
	q[offMethod] ^= responseBit
	h.Version, h.Flags, h.RespTime = mad.RMPPVersion, mad.RMPPActive, mad.NoRespTime
	q.SetRMPP(h)
	return q
}

// The method's place in the common header, and its bit that marks a response
// (13.4.5).
const (
	offMethod   = 3
	responseBit = 0x80
)

// check judges what all packets of a transfer have in common. It returns what
// the transfer is to be aborted with, or nil.
func check(h mad.RMPP) *RMPPError {
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
		return &RMPPError{Type: h.Type, Status: h.Status, Remote: true}
	}
	return nil
}

func abort(s mad.RMPPStatus) *RMPPError { return &RMPPError{Type: mad.RMPPAbort, Status: s} }
