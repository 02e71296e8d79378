package ping

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/report"
)

// An expectation is an address of --expect: at least one of its ports has to reply.
type expectation struct {
	address lookup.Address
	targets []*ping.Target
	err     error // no target was found
}

// missing reports whether no port replied.
func (e *expectation) missing() bool {
	for _, t := range e.targets {
		if t.Stats.Received > 0 {
			return false
		}
	}
	return true
}

// reason returns why the address is missing.
func (e *expectation) reason() string {
	if e.err != nil {
		return e.err.Error()
	}
	return "no reply"
}

// readExpected reads the file of --expect. check returns the reason why an address
// cannot be a target.
func readExpected(in io.Reader, path string, check func(*lookup.Address) error) ([]*expectation, error) {
	name := path
	if path == "-" {
		in, name = interrupt.Reader(in), "standard input"
	} else {
		file, err := interrupt.Open(path)
		if err != nil {
			return nil, cmdutil.WithFileHint(cmdutil.UsageErrorf("read hosts: %w", err), cmdutil.TargetsHint)
		}
		defer file.Close()
		in = file
	}
	var all []*expectation
	err := lookup.ReadLines(in, name, func(a lookup.Address) error {
		if a.Kind == lookup.Name && strings.ContainsAny(a.Name, "*?[") {
			return fmt.Errorf("invalid address %q: a pattern does not name a single host", a.Text)
		}
		if err := check(&a); err != nil {
			return err
		}
		if a.Kind != lookup.LID || a.First == a.Last {
			all = append(all, &expectation{address: a})
			return nil
		}
		for lid := uint32(a.First); lid <= uint32(a.Last); lid++ {
			one := a
			one.First, one.Last, one.Text = ib.LID(lid), ib.LID(lid), fmt.Sprint(lid)
			all = append(all, &expectation{address: one})
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("read %s: the list is empty", name)
	}
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	return all, nil
}

// A targetIndex finds the target of a port.
type targetIndex struct {
	byGUID map[ib.GUID]*ping.Target
	byLID  map[ib.LID]*ping.Target
	byGID  map[ib.GID]*ping.Target
}

func newTargetIndex(targets []*ping.Target) *targetIndex {
	x := &targetIndex{map[ib.GUID]*ping.Target{}, map[ib.LID]*ping.Target{}, map[ib.GID]*ping.Target{}}
	for _, t := range targets {
		x.add(t)
	}
	return x
}

func (x *targetIndex) add(t *ping.Target) {
	switch {
	case t.GRH != nil:
		x.byGID[t.GRH.DGID] = t
	case t.To.LID != 0 && !t.To.IsDirected():
		x.byLID[t.To.LID] = t
	}
	if t.PortGUID != 0 {
		x.byGUID[t.PortGUID] = t
	}
}

// find returns the target of the same port, or nil.
func (x *targetIndex) find(t *ping.Target) *ping.Target {
	if t.GRH != nil {
		return x.byGID[t.GRH.DGID]
	}
	if same := x.byGUID[t.PortGUID]; same != nil {
		return same
	}
	if !t.To.IsDirected() {
		return x.byLID[t.To.LID]
	}
	return nil
}

// addExpected adds the targets of an expectation that are not targets already.
func (f *finder) addExpected(x *targetIndex, e *expectation, g *group, targets []*ping.Target, err error) {
	e.err = err
	for _, t := range targets {
		if same := x.find(t); same != nil {
			e.targets = append(e.targets, same)
			continue
		}
		if !f.isReachable(t) {
			e.err = errors.Join(e.err, f.errNoLID(t))
			continue
		}
		x.add(t)
		f.addTo(g, t)
		e.targets = append(e.targets, t)
	}
}

// missing returns the expectations without a reply.
func (f *finder) missing() []*expectation {
	var all []*expectation
	for _, e := range f.expected {
		if e.missing() {
			all = append(all, e)
		}
	}
	return all
}

// expectedText prints the expected hosts without a reply.
func (v *view) expectedText() {
	all, missing := len(v.finder.expected), v.finder.missing()
	if all == 0 {
		return
	}
	fmt.Fprintf(v.out, "%d of %d expected hosts replied\n", all-len(missing), all)
	for _, e := range missing {
		fmt.Fprintf(v.out, "missing: %s: %s\n", e.address.Text, e.reason())
	}
}

// reportExpected adds the expected hosts to a document.
func (f *finder) reportExpected(d *ping.Report) {
	if len(f.expected) == 0 {
		return
	}
	d.Expected = &ping.ReportExpected{Hosts: len(f.expected), Missing: []string{}}
	for _, e := range f.missing() {
		d.Expected.Missing = append(d.Expected.Missing, e.address.Text)
		d.Add(report.New(report.NoReply, e.address.Text, e.reason()))
	}
}
