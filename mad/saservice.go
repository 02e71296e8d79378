package mad

import (
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// A ServiceRecord advertises a service at a port (InfiniBand Architecture,
// Volume 1, 15.2.5.14).
type ServiceRecord struct {
	ServiceID uint64
	GID       ib.GID
	PKey      PKey
	Lease     uint32 // lifetime of the record in seconds; 0xffffffff: no limit
	Key       [16]uint8
	Name      ServiceName
	Data8     [16]uint8
	Data16    [8]uint16
	Data32    [4]uint32
	Data64    [2]uint64
}

// A ServiceName is the name of a service in UTF-8, padded with NUL.
type ServiceName [64]uint8

// Clean returns the bytes up to the first NUL with a blank in place of each byte
// that is not printable ASCII, like [NodeDescription.Clean].
func (n ServiceName) Clean() string { return NodeDescription(n).Clean() }

// ID returns AttrServiceRecord.
func (*ServiceRecord) ID() AttrID { return AttrServiceRecord }

func (*ServiceRecord) format() format { return format{ClassSA, 176} }

// MarshalJSON writes the fields as an object; see the package comment.
func (a ServiceRecord) MarshalJSON() ([]byte, error) { return marshalJSON(&a) }

func (a *ServiceRecord) fields(c *codec) {
	bits(c, &a.ServiceID, 0, 64, "ServiceID", key)
	array(c, a.GID[:], 64, 8, "ServiceGID", asGID)
	bits(c, &a.PKey, 192, 16, "ServicePkey", hexa)
	bits(c, &a.Lease, 224, 32, "ServiceLease", decimal)
	array(c, a.Key[:], 256, 8, "ServiceKey", asServiceKey)
	array(c, a.Name[:], 384, 8, "ServiceName", asServiceName)
	array(c, a.Data8[:], 896, 8, "ServiceData8", asServiceData)
	array(c, a.Data16[:], 1024, 16, "ServiceData16", asServiceData)
	array(c, a.Data32[:], 1152, 32, "ServiceData32", asServiceData)
	array(c, a.Data64[:], 1280, 64, "ServiceData64", asServiceData64)
}

var (
	asServiceKey = &arrayStyle{value: hexString.value, json: func(b []byte, v []uint64) []byte {
		return append(hexString.value(append(b, `"0x`...), v, 8), '"')
	}}

	asServiceName = &arrayStyle{
		value: func(b []byte, v []uint64, _ int) []byte { return append(b, serviceName(v).Clean()...) },
		json:  func(b []byte, v []uint64) []byte { return strconv.AppendQuote(b, serviceName(v).Clean()) },
	}

	asServiceData   = &arrayStyle{element: hexa, components: true}
	asServiceData64 = &arrayStyle{element: hexa, components: true, hex: true}
)

func serviceName(v []uint64) (n ServiceName) {
	for i := range n {
		n[i] = uint8(v[i])
	}
	return n
}
