package rdmacm

import (
	"fmt"
	"slices"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs"
)

// ConnParam are connection request or reply parameters.
type ConnParam struct {
	// PrivateData is passed to the peer: at most 56 bytes with a request and 196
	// with a reply; for datagrams 180 and 136. A request to an IBAddr has 36 bytes
	// more, but the kernel overwrites the first byte with 0, and drops requests for
	// datagrams if their second byte has 4 or 6 in its high digit, as IP versions do
	// (cma.c, cma_format_hdr, cma_get_ip_ver).
	PrivateData []byte

	ResponderResources uint8 // peer reads and atomics that the local queue pair serves at a time
	InitiatorDepth     uint8 // local queue pair reads and atomics outstanding at a time
	FlowControl        bool
	RetryCount         uint8 // requester retries after a timeout, 3 bits
	RNRRetryCount      uint8 // retries if the responder has no receive posted, 3 bits; 7: forever
	SRQ                bool
	QPN                uint32 // set by Dial and Accept
	QKey               uint32 // for datagrams between native InfiniBand addresses
	ECE                ECE
}

// DefaultParam are the Dial and Accept parameters unless given: a single read at a
// time in each direction, six retries. Soft-RoCE retries forever if RetryCount is 7.
var DefaultParam = ConnParam{ResponderResources: 1, InitiatorDepth: 1, FlowControl: true, RetryCount: 6, RNRRetryCount: 7}

// encode returns the kernel's structure. limit is the most private data.
func (p ConnParam) encode(limit int) (uapi.CMConnParam, uapi.CMECE, error) {
	c := uapi.CMConnParam{
		QPNum: p.QPN, QKey: p.QKey, SRQ: flag(p.SRQ), FlowControl: flag(p.FlowControl),
		ResponderResources: p.ResponderResources, InitiatorDepth: p.InitiatorDepth,
		RetryCount: p.RetryCount, RNRRetryCount: p.RNRRetryCount, Valid: 1,
	}
	n, err := setPrivateData(&c.PrivateData, p.PrivateData, limit)
	c.PrivateDataLen = n
	return c, uapi.CMECE{VendorID: p.ECE.VendorID, AttrMod: p.ECE.Options}, err
}

// setPrivateData copies private data and returns its length.
func setPrivateData(to *[uapi.CMPrivateDataSize]byte, data []byte, limit int) (uint8, error) {
	if len(data) > limit {
		return 0, fmt.Errorf("private data: got %d bytes, want at most %d", len(data), limit)
	}
	return uint8(copy(to[:], data)), nil
}

// decodeParam decodes an event's parameters.
func decodeParam(p uapi.CMConnParam, e uapi.CMECE) ConnParam {
	return ConnParam{
		PrivateData:        slices.Clone(p.PrivateData[:p.PrivateDataLen]),
		ResponderResources: p.ResponderResources, InitiatorDepth: p.InitiatorDepth, FlowControl: p.FlowControl != 0,
		RetryCount: p.RetryCount, RNRRetryCount: p.RNRRetryCount, SRQ: p.SRQ != 0, QPN: p.QPNum, QKey: p.QKey,
		ECE: ECE{VendorID: e.VendorID, Options: e.AttrMod},
	}
}

func flag(v bool) uint8 {
	if v {
		return 1
	}
	return 0
}

// The most private data in messages (InfiniBand Architecture, volume 1, 12.6 and
// 12.11). The connection manager uses 36 bytes in a request to an IP address.
const (
	maxRequestData     = 92
	maxReplyData       = 196
	maxRejectData      = 148
	maxSIDRRequestData = 216
	maxSIDRReplyData   = 136

	ipHeaderSize = 36
)

// requestLimit returns a request's private data limit.
func requestLimit(t verbs.QPType, to Addr) int {
	limit := maxRequestData
	if t == verbs.QPTypeUD {
		limit = maxSIDRRequestData
	}
	if _, native := to.(IBAddr); !native {
		limit -= ipHeaderSize
	}
	return limit
}

// replyLimit returns a reply's private data limit.
func replyLimit(t verbs.QPType) int {
	if t == verbs.QPTypeUD {
		return maxSIDRReplyData
	}
	return maxReplyData
}
