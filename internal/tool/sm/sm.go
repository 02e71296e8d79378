// Package sm finds a fabric's subnet managers, compares their states and priorities, and
// checks that they are active. A [Session] changes a manager's state: [Session.Plan]
// determines the risks, [Session.Apply] sends the operation and verifies its effect.
package sm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [Run] and [NewSession].
type Options struct {
	Source fabric.Source

	// Targets are the managers to query; nil: all that can be found.
	Targets []lookup.Address

	// Mode selects the sources: a scan finds the ports with the capability IsSM, subnet
	// administration has records for managers and for such ports.
	Mode lookup.Mode

	// Wait is the time between the two activity count readings; 0: a single reading.
	Wait time.Duration

	// Meanwhile, if not nil, is called between the two readings. Its error ends the run.
	Meanwhile func(context.Context) error

	// Limit is the time limit for a manager to change its state after an operation.
	Limit time.Duration

	// Log, if not nil, is called before and after an operation, which is not sent if the
	// call before it fails.
	Log func(Entry) error

	Resolve lookup.Options
}

// A Manager is a subnet manager, or a port that claims to have a manager.
type Manager struct {
	Target      lookup.Address // that led to it; the zero value: it was found
	To          umad.Target
	Node        *mad.NodeInfo // nil: unknown
	Description *mad.NodeDescription

	IsSM    *bool       // port capability; nil: unknown
	Record  *mad.SMInfo // of subnet administration; nil: none
	Info    *mad.SMInfo // from the manager itself; nil: no reply
	Later   *mad.SMInfo // the second reading
	Elapsed time.Duration
	Err     error // from the manager query

	unnamed error // from a request for the name

	Findings []report.Finding
}

// Advanced reports whether the activity count advanced between the readings; nil: it is
// not known.
func (m *Manager) Advanced() *bool {
	if m.Info == nil || m.Later == nil {
		return nil
	}
	advanced := m.Later.ActCount != m.Info.ActCount
	return &advanced
}

// A Result is the result from [Run].
type Result struct {
	Began    time.Time
	Local    umad.PortAttr
	Managers []*Manager
	Without  []*Manager       // ports at the targets that have no subnet manager
	Findings []report.Finding // from the fabric; a manager's findings are in the manager
	Warnings []error          // sources that could not be read, in part or at all
	Blind    error            // from the scan: see [fabric.Fabric.Blind]
	Records  bool             // subnet administration's records were read
	Stats    umad.Stats
}

// Partial reports whether a source could not be read, in part or at all, or a manager's
// state is unknown.
func (r *Result) Partial() bool {
	return len(r.Warnings) > 0 || slices.ContainsFunc(r.Managers, (*Manager).unknown)
}

// errNoSource is the error for a run in which no source could be read.
var errNoSource = errors.New("find subnet managers: no source could be read")

// Run finds the subnet managers and queries all managers.
func Run(ctx context.Context, o Options) (result *Result, err error) {
	began := time.Now()
	s, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	r := newRun(ctx, o, s)
	r.result.Began = began
	if err := r.find(); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	r.result.Stats = r.client.Stats()
	r.separate()
	r.warnUnnamed()
	r.check()
	return r.result, nil
}

// run is a Run's state.
type run struct {
	Options
	ctx    context.Context
	source *fabric.Session
	client *umad.Client
	result *Result

	partial bool // the scan may have missed managers
}

func newRun(ctx context.Context, o Options, s *fabric.Session) *run {
	return &run{Options: o, ctx: ctx, source: s, client: s.Client, result: &Result{Local: s.Local()}}
}

// find finds the managers to query.
func (r *run) find() error {
	if len(r.Targets) > 0 {
		return r.findTargets()
	}
	sources := 0
	for _, source := range []struct {
		used bool
		find func() error
	}{
		{r.Mode != lookup.ModeSA, r.scan},
		{r.Mode != lookup.ModeNodes, r.askSA},
	} {
		if !source.used {
			continue
		}
		err := source.find()
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case err != nil:
			r.result.Warnings = append(r.result.Warnings, err)
		default:
			sources++
		}
	}
	if sources == 0 {
		return errors.Join(append([]error{errNoSource}, r.result.Warnings...)...)
	}
	return nil
}

// findTargets finds the targets' ports. A target that is not found is a warning, and an
// error if it is the only target.
func (r *run) findTargets() error {
	resolver := lookup.New(r.client, r.result.Local, r.Resolve)
	var notFound []error
	for _, a := range r.Targets {
		ports, err := resolver.Find(r.ctx, a)
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case err != nil:
			notFound = append(notFound, err)
		}
		for _, p := range ports {
			r.result.Managers = append(r.result.Managers, &Manager{Target: a, To: p.To, Node: p.Node, Description: p.Description})
		}
	}
	if len(r.result.Managers) == 0 {
		return errors.Join(notFound...)
	}
	r.result.Warnings = append(notFound, resolver.Missed()...)
	return nil
}

// scan finds the ports with the capability IsSM.
func (r *run) scan() error {
	f, err := r.source.Fabric(r.ctx, fabric.DiscoverOptions{NoExtendedPortInfo: true, Progress: r.Source.Progress})
	if f == nil {
		return fmt.Errorf("scan the fabric: %w", err)
	}
	for _, n := range f.Nodes {
		for _, p := range n.Ports {
			if p == nil || p.Info == nil || !p.Info.CapMask.Has(mad.CapSM) || n.IsSwitch() && p.Number != 0 {
				continue
			}
			node, desc := n.Info, n.Desc
			node.PortGUID, node.LocalPort = p.GUID, p.Number
			isSM := true
			m := &Manager{To: umad.Target{LID: p.LID()}, Node: &node, Description: &desc, IsSM: &isSM}
			if m.To.LID == 0 {
				m.To.Route = n.Route
			}
			r.result.Managers = append(r.result.Managers, m)
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("scan the fabric: %w", err)
	case f.Partial():
		r.partial = true
		r.result.Blind = f.Blind()
		for _, err := range f.FailureErrors(r.Resolve.Names) {
			r.result.Warnings = append(r.result.Warnings, fmt.Errorf("scan the fabric: %w", err))
		}
	}
	return nil
}

// askSA finds the managers and the ports with the capability IsSM that subnet
// administration knows.
func (r *run) askSA() error {
	sa := umad.Target{LID: r.Resolve.SMLID}
	records, err := r.client.GetTable(r.ctx, &umad.TableRequest{To: sa, Match: &mad.SMInfoRecord{}})
	if err = ignoreNone(err); err != nil {
		return fmt.Errorf("query subnet administration: %w", err)
	}
	if records != nil {
		r.warnClipped(records, "SMInfoRecord")
		for i := range records.Len() {
			var record mad.SMInfoRecord
			if err := records.Record(i, &record); err != nil {
				return fmt.Errorf("query subnet administration: %w", err)
			}
			r.at(record.LID).Record = &record.SMInfo
		}
	}
	q := mad.PortInfoRecord{PortInfo: mad.PortInfo{CapMask: mad.CapSM}}
	ports, err := r.client.GetTable(r.ctx, &umad.TableRequest{
		To: sa, Match: &q, Mask: mad.Components(&q, &q.PortInfo.CapMask), Modifier: mad.MatchCapMask,
	})
	if err = ignoreNone(err); err != nil {
		return fmt.Errorf("query subnet administration: %w", err)
	}
	if ports == nil {
		r.result.Records = true
		return nil
	}
	r.warnClipped(ports, "PortInfoRecord")
	for i := range ports.Len() {
		var record mad.PortInfoRecord
		if err := ports.Record(i, &record); err != nil {
			return fmt.Errorf("query subnet administration: %w", err)
		}
		isSM := true
		r.at(record.LID).IsSM = &isSM
	}
	r.result.Records = true
	return nil
}

// warnClipped adds a warning about a table with a missing part.
func (r *run) warnClipped(table *umad.Table, records string) {
	if table.Clipped {
		r.result.Warnings = append(r.result.Warnings, fmt.Errorf("query subnet administration: the reply with %ss is a single packet: some may be missing", records))
	}
}

// ignoreNone returns nil for a reply without records.
func ignoreNone(err error) error {
	if errors.Is(err, mad.ErrNoRecords) {
		return nil
	}
	return err
}

// at returns the manager with a LID. It adds a missing manager.
func (r *run) at(lid ib.LID) *Manager {
	i := slices.IndexFunc(r.result.Managers, func(m *Manager) bool { return !m.To.IsDirected() && m.To.LID == lid })
	if i < 0 {
		r.result.Managers = append(r.result.Managers, &Manager{To: umad.Target{LID: lid}})
		i = len(r.result.Managers) - 1
	}
	return r.result.Managers[i]
}
