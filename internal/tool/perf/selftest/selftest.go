package selftest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/internal/port"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/verbs"
	"github.com/ibkit/ibkit/verbs/provider"
)

// Options select the port. The zero value of Device and Port selects the first active
// port of the first device.
type Options struct {
	Program  string // name and version of the caller
	Device   string
	Port     uint8
	GIDIndex int                     // of a RoCE port; negative: the best GID
	Begin    func(n, of int, c Case) // called before each case, may be nil
	Done     func(Case)              // called after each case, may be nil
}

// errUnsupported is the error of a case that the device cannot run.
var errUnsupported = errors.New("unsupported")

// unsupported returns the reason why a case cannot run.
func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errUnsupported, fmt.Errorf(format, args...))
}

// Run runs all cases. It returns an error and no report if there is no port to test, and
// both if ctx ends or the device cannot be closed.
func Run(ctx context.Context, o Options) (r *Report, err error) {
	ports, err := port.Open(o.Device, o.Port)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, port.CloseAll(ports)) }()
	t := newTester(ctx, ports[0])
	if err := t.choose(o.GIDIndex); err != nil {
		return nil, err
	}
	return t.report(o)
}

// A tester runs cases on a port.
type tester struct {
	ctx     context.Context
	port    *port.Port
	gid     netip.Addr // of the port; invalid: InfiniBand by LID
	gidType string
	index   uint8

	// timeout is the maximum time that a case waits for a completion or event, quiet the
	// time in which an event that must not occur would occur.
	timeout, quiet time.Duration

	deviation string // last status in the current case that deviates from the specification
}

// newTester returns a tester without a GID.
func newTester(ctx context.Context, p *port.Port) *tester {
	return &tester{ctx: ctx, port: p, timeout: caseTimeout, quiet: quiet}
}

// report runs all cases. If ctx ends, it returns its cause and the cases so far.
func (t *tester) report(o Options) (*Report, error) {
	began := time.Now()
	r := t.describe(o.Program)
	cases := t.all()
	for i, c := range cases {
		one := Case{Transport: c.group, Name: c.name, Sizes: append([]int{}, c.sizes...)}
		if o.Begin != nil {
			o.Begin(i+1, len(cases), one)
		}
		t.run(c, &one)
		if t.ctx.Err() != nil {
			r.Partial = true
			break
		}
		r.Cases = append(r.Cases, one)
		if one.Outcome == Fail {
			r.Add(report.New(report.FailedTest, r.Device.Name, one.Transport+" "+one.Name+": "+*one.Reason))
		}
		if o.Done != nil {
			o.Done(one)
		}
	}
	r.Seconds = time.Since(began).Seconds()
	return r, context.Cause(t.ctx)
}

// A testCase is a case to run.
type testCase struct {
	group, name string
	sizes       []int
	run         func() error
}

// run runs a case.
func (t *tester) run(c testCase, result *Case) {
	began := time.Now()
	t.deviation = ""
	err := c.run()
	result.Seconds = time.Since(began).Seconds()
	result.Outcome = Pass
	if err == nil {
		if t.deviation != "" {
			result.Reason = new(t.deviation)
		}
		return
	}
	reason := err.Error()
	result.Outcome, result.Reason = Fail, &reason
	for _, kind := range []error{errUnsupported, errors.ErrUnsupported, verbs.ErrUnsupported, verbs.ErrUnknownMethod, provider.ErrOpcode} {
		if errors.Is(err, kind) {
			result.Outcome = Unsupported
		}
	}
}

// choose selects the GID for loopback.
func (t *tester) choose(index int) error {
	if !t.port.Ethernet() && !t.port.NeedsGID(index) {
		return nil
	}
	best := -1
	for i, g := range t.port.GIDs {
		if g.Index > 255 || index >= 0 && int(g.Index) != index {
			continue
		}
		if best < 0 || score(g) > score(t.port.GIDs[best]) {
			best = i
		}
	}
	if best < 0 && index >= 0 {
		return fmt.Errorf("use GID %d of %s port %d: there is no such GID", index, t.port.Device, t.port.Number)
	}
	if best < 0 {
		return fmt.Errorf("use %s port %d: %w", t.port.Device, t.port.Number, port.ErrNoGID)
	}
	g := t.port.GIDs[best]
	t.gid, t.index, t.gidType = g.GID, uint8(g.Index), g.Type.String()
	return nil
}

// score orders GIDs: RoCE v2 before v1, then IPv4 before global and link-local IPv6.
func score(g verbs.GIDEntry) (n int) {
	if g.Type == verbs.GIDTypeRoCEv2 {
		n += 4
	}
	switch {
	case g.GID.Is4In6():
		n += 2
	case !g.GID.IsLinkLocalUnicast():
		n++
	}
	return n
}

// describe returns a report without cases.
func (t *tester) describe(program string) *Report {
	p := t.port
	id := host.NewIdentity(program)
	r := &Report{
		Head: report.NewHead(Schema, time.Now()), Program: program, Cases: []Case{},
		System: System{Kernel: id.Kernel, Architecture: runtime.GOARCH, CPUs: id.CPUs, PageSize: unix.Getpagesize()},
		Device: Device{
			Name: p.Device, Driver: p.Context.Driver().String(), Firmware: p.Limits.FW.String(),
			VendorID: p.Limits.VendorID, VendorPartID: p.Limits.VendorPartID, HWVersion: p.Limits.HWVersion,
			Port: p.Number, Ports: p.Limits.PhysPortCount, Link: p.Attr.LinkLayer.String(), MTU: p.Attr.ActiveMTU.Bytes(),
		},
	}
	if rate := p.Attr.Rate(); rate != "" {
		r.Device.Rate = &rate
	}
	board, _ := os.ReadFile(filepath.Join(string(sysfs.Default), "class/infiniband", p.Device, "board_id")) // "" if unknown
	if text := strings.TrimSpace(string(board)); text != "" {
		r.Device.Board = &text
	}
	if t.gid.IsValid() {
		index := int(t.index)
		r.Device.GIDIndex, r.Device.GIDType = &index, &t.gidType
	}
	return r
}
