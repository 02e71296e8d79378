package gpu

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/internal/pcie"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/report"
)

// samples is the count of readings within a window.
const samples = 10

// Sample reads links and error totals of all functions repeatedly within a window: a GPU
// raises the speed of its link while it works. Links have the highest speed of all readings.
// Errors that increase are findings. It returns an error if ctx ends.
func (t *Topology) Sample(ctx context.Context, dir string, window time.Duration) error {
	var problems []error
	bus := sysfs.FS(cmp.Or(dir, string(sysfs.Default))).Dir(&problems, "bus/pci/devices")
	links, before := map[string]*pcie.Link{}, map[string]pcie.AER{}
	t.each(func(address, _ string, l *pcie.Link, e *Errors) {
		links[address] = l
		if e.AER != nil {
			before[address] = *e.AER
		}
	})
	for range samples {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(window / samples):
		}
		for address, l := range links {
			l.Raise(pcie.ReadLink(bus.Sub(address)))
		}
	}
	t.each(func(address, name string, _ *pcie.Link, e *Errors) {
		now := pcie.ReadAER(bus.Sub(address))
		was, known := before[address]
		if now == nil || !known {
			return
		}
		e.AER, e.Increase = now, new(now.Since(was))
		if *e.Increase != (pcie.AER{}) {
			f := report.New(report.PCIeErrors, name, fmt.Sprintf("PCIe errors of %s within %v: %v", address, window, e.Increase))
			if e.Increase.NonFatal+e.Increase.Fatal > 0 {
				f.Severity = report.Error
			}
			t.Add(f.WithHint(report.PCIeErrors.Info().Hint))
		}
	})
	t.addProblems(problems)
	t.Window = new(window.Seconds())
	return nil
}

// each calls a function for each GPU, adapter and bridge. name is that of the GPU or adapter, or
// of all below a bridge.
func (t *Topology) each(do func(address, name string, l *pcie.Link, e *Errors)) {
	for _, g := range t.GPUs {
		do(g.Address, g.Name, &g.Link, &g.Errors)
	}
	for _, a := range t.Adapters {
		do(a.Address, a.Name, &a.Link, &a.Errors)
	}
	for _, b := range t.Bridges {
		do(b.Address, b.name(), &b.Link, &b.Errors)
	}
}
