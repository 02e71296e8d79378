package umad

import (
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// A TableRequest asks subnet administration for all records of a kind, or for
// those that match.
type TableRequest struct {
	// To is where the administration is; the zero value is where the local
	// port's subnet manager is.
	To Target

	Match    mad.Attribute     // an empty record of the kind, or one with what is to match
	Mask     mad.ComponentMask // which of its fields are to match
	Modifier uint32            // for port records [mad.MatchCapMask], else 0
	SMKey    uint64            // 0: as one who is not trusted

	// Timeout is how long it may take in all, however large the table is; 0: 30
	// seconds.
	Timeout time.Duration

	// Limit is how many bytes of records are taken; 0: 256 MiB. What is longer
	// is an error.
	Limit int
}

const (
	defaultTableTimeout = 30 * time.Second
	defaultTableLimit   = 256 << 20
)

// A Table holds the records that subnet administration answered with.
type Table struct {
	// Clipped says that the transport, or the administration, has no RMPP, and
	// the answer is one packet. There may be more records than it holds.
	Clipped bool

	data   []byte
	stride int // from one record to the next
}

// tableOf returns the records in an answer's data.
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

// Record reads the record of a number, counted from 0, which must be below Len.
func (t *Table) Record(i int, record mad.Attribute) error {
	return mad.Decode(record, t.data[i*t.stride:(i+1)*t.stride])
}

// Records reads all records of a table.
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
