package sa

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [Run].
type Options struct {
	Source  fabric.Source
	Filter  *Filter
	SMKey   mad.Key       // 0: as an untrusted client
	Timeout time.Duration // for the whole table; 0: 30 s
	Resolve lookup.Options
}

// A Result has the records that subnet administration returned.
type Result struct {
	Began   time.Time
	Kind    Kind
	To      umad.Target // subnet administration
	Elapsed time.Duration
	Stats   umad.Stats

	table *umad.Table
	info  []byte // of ClassPortInfo
}

// Run requests the records that pass a filter.
func Run(ctx context.Context, o Options) (result *Result, err error) {
	began := time.Now()
	s, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	attr, c := s.Local(), s.Client
	result = &Result{Began: began, Kind: o.Filter.Kind, To: umad.Target{LID: cmp.Or(o.Resolve.SMLID, attr.SMLID), SL: attr.SMSL}}
	if result.To.LID == 0 {
		return nil, fmt.Errorf("query subnet administration: %w", umad.ErrNoSM)
	}
	if err := o.Filter.resolve(ctx, lookup.New(c, attr, o.Resolve)); err != nil {
		return nil, err
	}
	start := time.Now()
	if o.Filter.Kind.ID == mad.AttrClassPortInfo {
		err = result.classPortInfo(ctx, c, o.SMKey)
	} else {
		result.table, err = c.GetTable(ctx, &umad.TableRequest{
			To: result.To, Match: o.Filter.Match, Mask: o.Filter.Mask, Modifier: o.Filter.Modifier(), SMKey: o.SMKey, Timeout: o.Timeout,
		})
		if errors.Is(err, mad.ErrNoRecords) {
			result.table, err = &umad.Table{}, nil
		}
	}
	result.Elapsed, result.Stats = time.Since(start), c.Stats()
	if err != nil {
		return nil, fmt.Errorf("query subnet administration: %w", err)
	}
	return result, nil
}

// resolve looks up the LIDs for the nodes in a filter.
func (f *Filter) resolve(ctx context.Context, r *lookup.Resolver) error {
	for _, n := range f.Nodes {
		ports, err := r.Find(ctx, n.Node)
		if err != nil {
			return err
		}
		if len(ports) != 1 || ports[0].To.LID == 0 || ports[0].To.IsDirected() {
			return fmt.Errorf("find the LID of %s: got %d ports, want 1 with a LID", n.Node.Text, len(ports))
		}
		f.StoreLID(n, ports[0].To.LID)
	}
	return nil
}

// classPortInfo requests subnet administration's capabilities, which is not a table.
func (r *Result) classPortInfo(ctx context.Context, c *umad.Client, key mad.Key) error {
	reply, err := c.Call(ctx, &umad.Request{To: r.To, Class: mad.ClassSA, Value: &mad.ClassPortInfo{}, Key: key})
	if err == nil {
		r.info = reply.Data()
	}
	return err
}

// Len returns the record count.
func (r *Result) Len() int {
	if r.info != nil {
		return 1
	}
	return r.table.Len()
}

// Record decodes record i, from 0 to Len-1, into a record of the kind.
func (r *Result) Record(i int, record mad.Attribute) error {
	if r.info != nil {
		return mad.Decode(record, r.info)
	}
	return r.table.Record(i, record)
}

// Raw returns record i's bytes, or nil for ClassPortInfo.
func (r *Result) Raw(i int) []byte {
	if r.info != nil {
		return nil
	}
	return r.table.Raw(i)
}

// Clipped reports that there may be more records, because the transport or the
// administration does not transfer segments.
func (r *Result) Clipped() bool { return r.table != nil && r.table.Clipped }
