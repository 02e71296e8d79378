package umad

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/mad"
)

// A TableRequest requests all records of a kind from subnet administration, or the
// records that match.
type TableRequest struct {
	// To is where the administration is (default: at the local port's subnet manager).
	To Target

	Match    mad.Attribute     // a record of this kind, with the values to be matched
	Mask     mad.ComponentMask // fields in Match to be matched
	Modifier uint32            // for port records [mad.MatchCapMask], else 0
	SMKey    mad.Key           // 0: as an untrusted client

	// Timeout is the time limit for the whole table (default 30 s).
	Timeout time.Duration

	// Limit is the maximum table size in bytes (default 256 MiB). A larger
	// table is an error.
	Limit int
}

// ErrNoSM is returned by requests to subnet administration if the local port has no
// subnet manager.
var ErrNoSM = errors.New("the local port knows of no subnet manager")

// administrator returns where subnet administration is, unless to specifies it.
func (c *Client) administrator(to Target) (Target, error) {
	if to.LID == 0 {
		to = Target{LID: c.attr.SMLID, SL: c.attr.SMSL}
	}
	if to.LID == 0 {
		return Target{}, ErrNoSM
	}
	return to, nil
}

// GetTable requests records from subnet administration and returns them all. It first
// runs the requests that were submitted before. A table without records is not an error.
//
// A failed request's error is an [*Error]. Its text has the reason if the reply's
// transfer was not completed.
func (c *Client) GetTable(ctx context.Context, q *TableRequest) (*Table, error) {
	if q.Match == nil {
		return nil, errors.New("get table: the request has no Match, a record of the kind wanted")
	}
	to, err := c.administrator(q.To)
	if err != nil {
		return nil, err
	}
	r := &Request{To: to, Method: mad.MethodGetTable, Value: q.Match, Mask: q.Mask, Key: q.SMKey, Modifier: q.Modifier}
	reply, err := c.CallLong(ctx, r, LongOptions{Timeout: q.Timeout, Limit: q.Limit})
	if err != nil {
		return nil, err
	}
	t, err := tableOf(q.Match, reply)
	if err != nil {
		return nil, r.fail(err)
	}
	return t, nil
}

// A Table holds the records that subnet administration returned.
type Table struct {
	// Clipped reports that the reply is a single packet, because the transport or
	// the administration has no RMPP. There may be further records.
	Clipped bool

	kind   mad.Attribute // of the records; nil: there are none
	data   []byte
	stride int // from each record to the next
	size   int // record size without the padding after it
}

// tableOf returns the table in a reply. The last record may lack its padding.
func tableOf(kind mad.Attribute, reply *LongReply) (*Table, error) {
	t := &Table{kind: kind, data: reply.Data, stride: 8 * int(reply.Head.SA().AttributeOffset), size: kind.Spec().Size}
	t.Clipped = reply.Clipped && t.stride > 0
	rest := 0
	if t.stride > 0 {
		rest = len(t.data) % t.stride
	}
	switch {
	case t.stride == 0 && len(t.data) > 0 && !reply.Clipped:
		return nil, fmt.Errorf("decode table: AttributeOffset is 0 in a reply with %d bytes of records", len(t.data))
	case t.stride > 0 && t.stride < t.size:
		return nil, fmt.Errorf("decode table: AttributeOffset is %d bytes, %s has %d", t.stride, mad.AttributeName(kind), t.size)
	case rest > 0 && rest < t.size && !reply.Clipped:
		return nil, fmt.Errorf("decode table: the reply ends after %d of %d bytes of record %d", rest, t.size, len(t.data)/t.stride)
	}
	return t, nil
}

// Len returns the record count.
func (t *Table) Len() int {
	if t.stride == 0 {
		return 0
	}
	return (len(t.data) + t.stride - t.size) / t.stride
}

// Raw returns record i's bytes, from 0 to Len-1, with reserved fields.
func (t *Table) Raw(i int) []byte { return t.data[i*t.stride : min((i+1)*t.stride, len(t.data))] }

// Record decodes record i, from 0 to Len-1. It returns an error if the table has records of
// another kind.
func (t *Table) Record(i int, record mad.Attribute) error {
	if err := t.check(record); err != nil {
		return err
	}
	return mad.Decode(record, t.Raw(i))
}

// check returns an error if the table has records of another kind than record.
func (t *Table) check(record mad.Attribute) error {
	if t.kind == nil {
		return nil // a table without records
	}
	if got, want := t.kind.Spec(), record.Spec(); got.Class != want.Class || got.ID != want.ID {
		return fmt.Errorf("decode table: got %s, want %s", mad.AttributeName(t.kind), mad.AttributeName(record))
	}
	return nil
}

// Records decodes all records of a table. It returns an error if the table has records of
// another kind.
func Records[T any, R interface {
	*T
	mad.Attribute
}](t *Table) ([]T, error) {
	if err := t.check(R(new(T))); err != nil {
		return nil, err
	}
	all := make([]T, t.Len())
	for i := range all {
		if err := t.Record(i, R(&all[i])); err != nil {
			return nil, err
		}
	}
	return all, nil
}
