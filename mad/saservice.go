package mad

import (
	"fmt"
	"io"
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// A ServiceRecord advertises a service at a port (InfiniBand Architecture,
// Volume 1, 15.2.5.14).
type ServiceRecord struct {
	ServiceID uint64
	GID       ib.GID
	PKey      PKey
	Lease     uint32 // record lifetime in seconds; 0xffffffff: no limit
	Key       ServiceKey
	Name      ServiceName
	Data8     [16]uint8
	Data16    [8]uint16
	Data32    [4]uint32
	Data64    [2]uint64
}

// A ServiceKey protects a record against changes. Its text is hidden as for a [Key].
type ServiceKey [16]uint8

// String returns "hidden".
func (ServiceKey) String() string { return hidden }

// Format writes "hidden" for each verb.
func (ServiceKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// A ServiceName is a service's name in UTF-8, padded with NUL.
type ServiceName [64]uint8

// Clean returns the bytes up to the first NUL with a blank in place of each byte
// that is not printable ASCII, like [NodeDescription.Clean].
func (n ServiceName) Clean() string { return NodeDescription(n).Clean() }

// Spec returns the AttrServiceRecord spec.
func (*ServiceRecord) Spec() Spec { return saSpec(AttrServiceRecord, 176) }

// MarshalJSON writes the fields as an object; see the package comment.
func (a ServiceRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

// Layout declares the fields.
func (a *ServiceRecord) Layout(c *Codec) {
	Bits(c, &a.ServiceID, 0, 64, "ServiceID", HexString)
	Array(c, a.GID[:], 64, 8, "ServiceGID", asGID)
	Bits(c, &a.PKey, 192, 16, "ServicePkey", Hex)
	Bits(c, &a.Lease, 224, 32, "ServiceLease", Decimal)
	Array(c, a.Key[:], 256, 8, "ServiceKey", asServiceKey)
	Array(c, a.Name[:], 384, 8, "ServiceName", asServiceName)
	Array(c, a.Data8[:], 896, 8, "ServiceData8", asServiceData)
	Array(c, a.Data16[:], 1024, 16, "ServiceData16", asServiceData)
	Array(c, a.Data32[:], 1152, 32, "ServiceData32", asServiceData)
	Array(c, a.Data64[:], 1280, 64, "ServiceData64", asServiceData64)
}

var (
	asServiceKey = &ArrayStyle{secret: true, value: Bytes.value, json: func(b []byte, v []uint64) []byte {
		return append(Bytes.value(append(b, `"0x`...), v, 8), '"')
	}}

	asServiceName = &ArrayStyle{
		value: func(b []byte, v []uint64, _ int) []byte { return append(b, serviceName(v).Clean()...) },
		json:  func(b []byte, v []uint64) []byte { return strconv.AppendQuote(b, serviceName(v).Clean()) },
	}

	asServiceData   = &ArrayStyle{element: Hex, components: true}
	asServiceData64 = &ArrayStyle{element: Hex, components: true, hex: true}
)

func serviceName(v []uint64) (n ServiceName) {
	for i := range n {
		n[i] = uint8(v[i])
	}
	return n
}
