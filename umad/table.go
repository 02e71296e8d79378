package umad

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// A TableRequest requests all records of a kind from subnet administration, or those
// that match.
type TableRequest struct {
	// To is the place of the administration (default: that of the local port's
	// subnet manager).
	To Target

	Match    mad.Attribute     // a record of the kind, with the values to be matched
	Mask     mad.ComponentMask // fields of Match to be matched
	Modifier uint32            // for port records [mad.MatchCapMask], else 0
	SMKey    uint64            // 0: as an untrusted client

	// Timeout is the time limit for the whole table (default 30 s).
	Timeout time.Duration

	// Limit is the maximum size of the table in bytes (default 256 MiB). A larger
	// table is an error.
	Limit int
}

const (
	defaultTableTimeout = 30 * time.Second
	defaultTableLimit   = 256 << 20
)

// A Table holds the records that subnet administration returned.
type Table struct {
	// Clipped reports that the reply is a single packet, because the transport or
	// the administration has no RMPP. There may be further records.
	Clipped bool

	data   []byte
	stride int // from one record to the next
}

// tableOf returns the table with the data of a reply.
func tableOf(kind mad.Attribute, h mad.SAHeader, data []byte) (*Table, error) {
	t := &Table{data: data, stride: 8 * int(h.AttributeOffset)}
	if size := mad.AttributeSize(kind); t.stride > 0 && t.stride < size {
		return nil, fmt.Errorf("records are %d bytes apart, and %s has %d", t.stride, mad.AttributeName(kind), size)
	}
	return t, nil
}

// Len returns the number of records.
func (t *Table) Len() int {
	if t.stride == 0 {
		return 0
	}
	return len(t.data) / t.stride
}

// Raw returns the bytes of record i, from 0 to Len-1, with reserved fields.
func (t *Table) Raw(i int) []byte { return t.data[i*t.stride : (i+1)*t.stride] }

// Record decodes record i, from 0 to Len-1.
func (t *Table) Record(i int, record mad.Attribute) error {
	return mad.Decode(record, t.Raw(i))
}

// Records decodes all records of a table.
func Records[T any, R interface {
	*T
	mad.Attribute
}](t *Table) ([]T, error) {
	all := make([]T, t.Len())
	for i := range all {
		if err := t.Record(i, R(&all[i])); err != nil {
			return nil, err
		}
	}
	return all, nil
}
