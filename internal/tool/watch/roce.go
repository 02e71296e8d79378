package watch

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// A roceReading has the counters of this host's RoCE ports, by port name.
type roceReading struct {
	time     time.Time
	ports    []*roce.PortSettings
	counters map[string]map[string]uint64
}

// watchRoCE judges the counters of this host's RoCE ports over windows until ctx ends.
func (r *run) watchRoCE(ctx context.Context) error {
	var before *roceReading
	var lost string
	raised := map[string][]report.Kind{} // by port name
	for {
		now, err := r.readRoCE(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && err.Error() != lost:
			r.losses.Add(1)
			r.lost(Local, err)
		case err == nil && lost != "":
			r.up(Local, "RoCE traffic of this host")
		}
		if lost = ""; err != nil {
			lost = err.Error()
		}
		for _, s := range now.ports {
			if before != nil && before.counters[s.Name()] != nil {
				raised[s.Name()] = r.judge(s, before, now, raised[s.Name()])
			}
		}
		before = now
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(r.Window):
		}
	}
}

// readRoCE reads the ports. It returns the ports that it could read, and an error if it could
// not read all.
func (r *run) readRoCE(ctx context.Context) (*roceReading, error) {
	now := &roceReading{time: time.Now(), counters: map[string]map[string]uint64{}}
	h := r.RoCE
	h.Sysfs = r.Sysfs
	host, err := devinfo.Run(ctx, devinfo.Options{Sysfs: r.Sysfs, NoOpen: true})
	if err != nil {
		return now, err
	}
	var errs []error
	for _, d := range host.Devices {
		for _, p := range d.Ports {
			if !roce.Judged(d, p) {
				continue
			}
			s, _ := h.Port(d, p) // settings are not judged
			counters, problems := h.Counters(s)
			now.ports, now.counters[s.Name()] = append(now.ports, s), counters
			errs = append(errs, problems...)
		}
	}
	return now, errors.Join(errs...)
}

// judge reports the verdicts on a port that are new or have ended, given the kinds before, and
// returns the current kinds.
func (r *run) judge(s *roce.PortSettings, before, now *roceReading, raised []report.Kind) (kinds []report.Kind) {
	window := now.time.Sub(before.time).Seconds()
	add := func(f report.Finding, kind report.EventKind, severity report.Severity) {
		e := newEvent(Local, kind, severity, f.Detail).about(&report.Place{Name: &s.Device, Port: &s.Number}, nil)
		e.Time = now.time
		e.Data.Device = &DeviceData{Name: &s.Device, Port: new(uint32(s.Number)), Netdev: s.Netdev}
		e.Data.Counter = &CounterChange{Kind: f.Kind, Window: &window}
		r.add(e)
	}
	for _, f := range roce.Verdicts(s, roce.Increase(before.counters[s.Name()], now.counters[s.Name()]), window) {
		kinds = append(kinds, f.Kind)
		if !slices.Contains(raised, f.Kind) {
			f.Detail = string(f.Kind) + ": " + f.Detail
			add(f, report.CounterRaised, f.Severity)
		}
	}
	for _, k := range raised {
		if !slices.Contains(kinds, k) {
			add(report.Finding{Kind: k, Detail: string(k) + ": no sign of it in the last window"}, report.CounterSettled, report.Recovery)
		}
	}
	return kinds
}
