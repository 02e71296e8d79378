package route

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// readRecords requests path records from subnet administration. The error is the reason
// why the records are unknown.
func (s *session) readRecords(ctx context.Context, paths []*Path) error {
	to, err := s.administration()
	if err != nil || len(paths) == 0 {
		return err
	}
	if group := paths[0].Group; group != 0 {
		return s.readGroupRecord(ctx, to, group, paths)
	}
	// If the first request fails, the others are not sent.
	for _, some := range [][]*Path{paths[:1], paths[1:]} {
		failed := s.submitRecords(to, some)
		if err := s.client.Run(ctx); err != nil {
			return err
		}
		if *failed != nil {
			return fmt.Errorf("read path records: %w", *failed)
		}
	}
	return nil
}

// administration returns the subnet administration address.
func (s *session) administration() (umad.Target, error) {
	to := umad.Target{LID: s.opts.SMLID, SL: s.local.SMSL}
	if to.LID == 0 {
		to.LID = s.local.SMLID
	}
	if to.LID == 0 {
		return to, umad.ErrNoSM
	}
	return to, nil
}

// submitRecords submits requests for path records. failed is set to the first error when
// the client has run.
func (s *session) submitRecords(to umad.Target, paths []*Path) (failed *error) {
	failed = new(error)
	for _, p := range paths {
		if len(p.Hops) == 0 && p.Cause == 0 {
			continue // a path within a single port has no record
		}
		s.submitPathRecord(to, p.FromLID, p.LID, func(record *mad.PathRecord, err error) {
			switch {
			case err == nil:
				p.setRecord(&PathRecord{Found: true, SL: record.SL, MTU: record.MTU, Rate: record.Rate})
			case errors.Is(err, mad.ErrNoRecords):
				p.Record = &PathRecord{}
			case *failed == nil:
				*failed = err
			}
		})
	}
	return failed
}

// submitPathRecord submits the request for the path record between two LIDs.
func (s *session) submitPathRecord(to umad.Target, source, destination ib.LID, done func(*mad.PathRecord, error)) {
	r := &mad.PathRecord{SLID: source, DLID: destination, NumbPath: 1}
	s.client.SubmitGet(to, r, func(err error) { done(r, err) }, umad.Match(&r.SLID, &r.DLID, &r.NumbPath))
}

func (p *Path) setRecord(r *PathRecord) { p.Record, p.SL = r, &r.SL }

// readGroupRecord requests a multicast group's record.
func (s *session) readGroupRecord(ctx context.Context, to umad.Target, group ib.LID, paths []*Path) error {
	match := &mad.MCMemberRecord{MLID: group}
	table, err := s.client.GetTable(ctx, &umad.TableRequest{To: to, Match: match, Mask: mad.Components(match, &match.MLID)})
	record := &PathRecord{}
	switch {
	case errors.Is(err, mad.ErrNoRecords):
	case err != nil:
		return fmt.Errorf("read record of group: %w", err)
	case table.Len() > 0:
		var m mad.MCMemberRecord
		if err := table.Record(0, &m); err != nil {
			return fmt.Errorf("read record of group: %w", err)
		}
		*record = PathRecord{Found: true, SL: m.SL, MTU: m.MTU, Rate: m.Rate}
	}
	for _, p := range paths {
		if p.Record = record; record.Found {
			p.SL = &record.SL
		}
	}
	return nil
}
