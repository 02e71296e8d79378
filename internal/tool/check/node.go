package check

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/tool/doctor"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// NodeOptions are the options for [Node].
type NodeOptions struct {
	Root string // root directory for the host's files; default "/"

	Expect *Manifest // nil: only what is wrong on any node
	State  *State    // of the last check, which is updated; may be nil
	Ignore []string  // name patterns for devices that are not checked

	Limits Limits
	Only   []string // stage names to run; nil: all
	Skip   []string // stage names to leave out

	// Window is the time between two readings of RoCE counters; 0: they are not judged.
	Window time.Duration

	// RoCE has the queries of network devices. Root sets its Sysfs.
	RoCE roce.Host

	// Now returns the time; nil: [time.Now].
	Now func() time.Time
}

// A NodeStage is a stage in [Node].
type NodeStage struct {
	Name  string
	About string // the stage's subject, as a noun phrase
	Kinds []report.Kind

	run func(*nodeRun) error
}

// NodeStages returns the stages in [Node] in their order.
func NodeStages() []NodeStage { return slices.Clone(nodeStages) }

var nodeStages = []NodeStage{
	{"devices", "RDMA devices, their types and boards", []report.Kind{report.MissingDevice, report.UnexpectedDevice, report.DeviceDiffers, report.UnreadableDevice, report.ZeroGUID}, checkDevices},
	{"ports", "ports and their states", []report.Kind{report.MissingPort, report.PortState}, checkPorts},
	{"rates", "rate, width and speed of ports against the manifest", []report.Kind{report.RateBelow, report.WidthBelow, report.SpeedBelow}, checkRates},
	{"pcie", "width and speed of PCI Express links", []report.Kind{report.PCIeBelow, report.PCIeSlow}, checkPCIe},
	{"firmware", "firmware against the manifest, or between equal boards", []report.Kind{report.FirmwareDiffers}, checkNodeFirmware},
	{"gids", "GIDs of RoCE ports, and of the manifest", []report.Kind{report.NoIPv4GID, report.MissingGID}, checkNodeGIDs},
	{"roce", "priorities, flow control and congestion marking of RoCE ports", roceKinds, checkRoCE},
	{"traffic", "losses, congestion and errors of RoCE and EFA within a window", trafficKinds, checkTraffic},
	{"counters", "error counters of ports, since the last check with a state", []report.Kind{report.Exceeded, report.Increased}, checkNodeCounters},
	{"flaps", "links that went down between checks", []report.Kind{report.Flapping}, checkFlaps},
}

// nodeRun is a single run through the stages.
type nodeRun struct {
	*runner
	ctx     context.Context
	opts    NodeOptions
	now     time.Time
	devices []*devinfo.Device
	host    *doctor.Result

	updates map[string]portUpdate // by subject
}

// A portUpdate is a port's comparison with the state.
type portUpdate struct {
	increases map[string]uint64 // nil: the port was not known
	downs     uint64
}

// doctorChecks are the package doctor checks that stages contain.
var doctorChecks = []string{"devices", "ports", "gids", "pcie", "lossless", "traffic"}

// Node checks this host's devices. It reads sysfs and queries netlink, and requires no
// privileges. It returns an error if ctx ends or the files could not be read.
func Node(ctx context.Context, o NodeOptions) (*Report, error) {
	r := &nodeRun{runner: newRunner("node", &o.Limits, o.Only, o.Skip), ctx: ctx, opts: o, now: time.Now()}
	if o.Now != nil {
		r.now = o.Now()
	}
	if o.Root == "" {
		r.opts.Root = "/"
	}
	if o.Expect != nil {
		r.opts.Ignore = slices.Concat(o.Ignore, o.Expect.Ignore)
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	r.updateState()
	for _, s := range nodeStages {
		if !r.selects(s.Name) {
			continue
		}
		start := r.begin(s.Name, s.About, s.Kinds)
		if err := s.run(r); err != nil {
			return nil, err
		}
		if len(r.devices) == 0 && s.Name != nodeStages[0].Name {
			r.lacks("no RDMA device")
		}
		r.end(start)
	}
	active := 0
	for _, p := range r.ports() {
		if p.Active() {
			active++
		}
	}
	r.value("devices", float64(len(r.devices)), "")
	r.value("active_ports", float64(active), "")
	return r.finish(), nil
}

// Devices returns a host's devices, as [Node] reads them.
func Devices(ctx context.Context, root string) (*devinfo.Result, error) {
	return devinfo.Run(ctx, devinfo.Options{Sysfs: filepath.Join(root, "sys"), NoOpen: true})
}

// read reads the devices and runs package doctor's checks.
func (r *nodeRun) read() error {
	all, err := Devices(r.ctx, r.opts.Root)
	if err != nil {
		return err
	}
	isIgnored := func(name string) bool { return ignored(r.opts.Ignore, name) }
	all.Devices = slices.DeleteFunc(all.Devices, func(d *devinfo.Device) bool { return isIgnored(d.Name) })
	all.Findings = slices.DeleteFunc(all.Findings, func(f report.Finding) bool {
		name, _, _ := strings.Cut(f.Subject, "/")
		return isIgnored(name)
	})
	r.devices = all.Devices
	r.host, err = doctor.Run(r.ctx, doctor.Options{Root: r.opts.Root, Only: doctorChecks, Devices: all, Window: r.opts.Window, RoCE: r.opts.RoCE})
	return err
}

// ports yields all devices' ports.
func (r *nodeRun) ports() func(func(*devinfo.Device, *devinfo.Port) bool) {
	return func(yield func(*devinfo.Device, *devinfo.Port) bool) {
		for _, d := range r.devices {
			for _, p := range d.Ports {
				if !yield(d, p) {
					return
				}
			}
		}
	}
}

// portSubject returns the name of a port, for example "mlx5_0/1".
func portSubject(device string, port int) string { return fmt.Sprintf("%s/%d", device, port) }

// addItems adds the problems that a package doctor check found as findings with a kind,
// unless an item has its own.
// only, if not nil, selects their subjects.
func (r *nodeRun) addItems(check string, kind report.Kind, only func(subject string) bool) {
	for _, i := range r.host.Items {
		severity, bad := map[doctor.Verdict]report.Severity{doctor.Error: report.Error, doctor.Warning: report.Warning, doctor.Unknown: report.Unknown}[i.Verdict]
		if i.Check != check || !bad || only != nil && !only(i.Subject) {
			continue
		}
		r.add(report.Finding{Kind: cmp.Or(i.Kind, kind), Severity: severity, Subject: i.Subject, Detail: i.Found, Hint: strings.Join(append(slices.Clone(i.Fix), nonEmpty(i.Hint)...), "; ")})
	}
}

// nonEmpty returns a list with a text, unless it is "".
func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// expected yields the devices in the manifest that the host has.
func (r *nodeRun) expected() func(func(*ExpectedDevice, *devinfo.Device) bool) {
	return func(yield func(*ExpectedDevice, *devinfo.Device) bool) {
		if r.opts.Expect == nil {
			return
		}
		for i := range r.opts.Expect.Devices {
			e := &r.opts.Expect.Devices[i]
			if d := r.device(e.Name); d != nil && !yield(e, d) {
				return
			}
		}
	}
}

// expectedPorts yields the ports in the manifest that the host has, with the port's name.
func (r *nodeRun) expectedPorts(yield func(string, *ExpectedPort, *devinfo.Port)) {
	for e, d := range r.expected() {
		for i := range e.Ports {
			x := &e.Ports[i]
			for _, p := range d.Ports {
				if p.Number == x.Number {
					yield(portSubject(d.Name, p.Number), x, p)
				}
			}
		}
	}
}

func (r *nodeRun) device(name string) *devinfo.Device {
	i := slices.IndexFunc(r.devices, func(d *devinfo.Device) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return r.devices[i]
}

// checkDevices compares the devices with the manifest.
func checkDevices(r *nodeRun) error {
	m := r.opts.Expect
	r.addItems("devices", report.UnreadableDevice, func(string) bool { return m == nil || len(m.Devices) > 0 })
	r.comment("%s", count(len(r.devices), "device"))
	if m == nil {
		return nil
	}
	known := map[string]bool{}
	for _, e := range m.Devices {
		known[e.Name] = true
		d := r.device(e.Name)
		if d == nil {
			r.add(finding(report.MissingDevice, e.Name, "the device is missing"))
			continue
		}
		r.compare(report.DeviceDiffers, e.Name, "type", e.Type, d.HCAType)
		r.compare(report.DeviceDiffers, e.Name, "board", e.Board, d.BoardID)
	}
	for _, d := range r.devices {
		if !known[d.Name] {
			r.add(finding(report.UnexpectedDevice, d.Name, "the device is not in the manifest"))
		}
	}
	return nil
}

const hintFirmware = "install the firmware of the manifest, or write the manifest again"

// compare compares a text with a pattern from the manifest.
func (r *nodeRun) compare(kind report.Kind, subject, name, want string, got *string) {
	if want == "" || got != nil && matches(want, *got) {
		return
	}
	found := "no value"
	if got != nil {
		found = *got
	}
	f := finding(kind, subject, "%s: got %s, want %s", name, found, want)
	if kind == report.FirmwareDiffers {
		f.Hint = hintFirmware
	}
	r.add(f)
}

// checkPorts compares port states with the manifest. Without an expected state, a port that
// is not active is a finding.
func checkPorts(r *nodeRun) error {
	decided := map[string]bool{}
	for e, d := range r.expected() {
		for i := range e.Ports {
			x := &e.Ports[i]
			subject := portSubject(d.Name, x.Number)
			k := slices.IndexFunc(d.Ports, func(p *devinfo.Port) bool { return p.Number == x.Number })
			if k < 0 {
				r.add(finding(report.MissingPort, subject, "the port is missing"))
				continue
			}
			p := d.Ports[k]
			r.compare(report.PortState, subject, "link layer", x.LinkLayer, p.LinkLayer)
			r.compare(report.PortState, subject, "network device", x.Netdev, p.Netdev)
			if x.State == "" {
				continue
			}
			decided[subject] = true
			var state *string
			if p.State != nil {
				text := stateName(p)
				state = &text
			}
			before := r.stage.Errors + r.stage.Warnings
			r.compare(report.PortState, subject, "state", x.State, state)
			if r.stage.Errors+r.stage.Warnings > before {
				r.addCause(subject)
			}
		}
	}
	r.addItems("ports", report.PortState, func(subject string) bool { return !decided[subject] })
	ports, active := 0, 0
	for _, p := range r.ports() {
		ports++
		if p.Active() {
			active++
		}
	}
	r.comment("%s, %d active", count(ports, "port"), active)
	return nil
}

// addCause adds the next step that package doctor knows to the last finding.
func (r *nodeRun) addCause(subject string) {
	for _, i := range r.host.Items {
		if i.Check != "ports" || i.Subject != subject || i.Verdict == doctor.OK {
			continue
		}
		f := &r.result.Findings[len(r.result.Findings)-1]
		if next := append(slices.Clone(i.Fix), nonEmpty(i.Hint)...); len(next) > 0 {
			f.Hint = strings.Join(next, "; ")
		}
	}
}

// checkRates compares active ports' rates with the manifest.
func checkRates(r *nodeRun) error {
	if r.opts.Expect == nil {
		r.skipped("requires a manifest")
		return nil
	}
	compared := 0
	r.expectedPorts(func(subject string, x *ExpectedPort, p *devinfo.Port) {
		if !p.Active() || p.Rate == nil {
			return
		}
		compared++
		gbps, width, speed := parseRate(*p.Rate)
		if gbps < x.Rate {
			r.add(finding(report.RateBelow, subject, "rate: got %s, want at least %g Gb/sec", *p.Rate, x.Rate))
		}
		if width.Lanes() < x.Width.Lanes() {
			r.add(finding(report.WidthBelow, subject, "width: got %s, want at least %v", *p.Rate, x.Width))
		}
		if speed < x.Speed {
			r.add(finding(report.SpeedBelow, subject, "speed: got %s, want at least %v", *p.Rate, x.Speed))
		}
	})
	r.comment("%s compared", count(compared, "port"))
	return nil
}

// checkPCIe compares the PCI Express links with the manifest, and other devices' links with
// the slot's capability.
func checkPCIe(r *nodeRun) error {
	decided := map[string]bool{}
	for e, d := range r.expected() {
		if e.PCIeWidth == 0 && e.PCIeSpeed == 0 {
			continue
		}
		decided[d.Name] = true
		if d.PCI == nil || d.PCI.Width == nil {
			r.add(finding(report.PCIeBelow, d.Name, "the kernel does not report a PCIe link"))
			continue
		}
		if speed := pcieSpeed(d.PCI.Speed); uint64(max(*d.PCI.Width, 0)) < e.PCIeWidth || speed < e.PCIeSpeed {
			r.add(finding(report.PCIeBelow, d.Name, "got x%d at %g GT/s, want at least x%d at %g GT/s (%s)",
				*d.PCI.Width, speed, e.PCIeWidth, e.PCIeSpeed, d.PCI.Address))
		}
	}
	r.addItems("pcie", report.PCIeSlow, func(subject string) bool {
		d := r.device(subject)
		reported := d != nil && d.PCI != nil && d.PCI.Width != nil && d.PCI.Speed != nil // not in most virtual machines
		return !decided[subject] && reported
	})
	return nil
}

// checkNodeFirmware compares the firmware with the manifest, and other devices' firmware
// among equal boards.
func checkNodeFirmware(r *nodeRun) error {
	decided := map[string]bool{}
	for e, d := range r.expected() {
		if e.Firmware != "" {
			decided[d.Name] = true
			r.compare(report.FirmwareDiffers, d.Name, "firmware", e.Firmware, d.Firmware)
		}
	}
	versions := map[string]map[string]bool{}
	for _, d := range r.devices {
		if d.BoardID == nil || d.Firmware == nil || *d.Firmware == "" || decided[d.Name] {
			continue
		}
		if versions[*d.BoardID] == nil {
			versions[*d.BoardID] = map[string]bool{}
		}
		versions[*d.BoardID][*d.Firmware] = true
	}
	for _, board := range slices.Sorted(maps.Keys(versions)) {
		if v := versions[board]; len(v) > 1 {
			r.add(finding(report.FirmwareDiffers, "", "devices of board %s have firmware %s", board, strings.Join(slices.Sorted(maps.Keys(v)), " and ")).WithHint(hintFirmware))
		}
	}
	return nil
}

// checkNodeGIDs checks RoCE port GIDs, and compares GID kinds with the manifest.
func checkNodeGIDs(r *nodeRun) error {
	decided := map[string]bool{}
	r.expectedPorts(func(subject string, x *ExpectedPort, p *devinfo.Port) {
		if len(x.GIDs) == 0 {
			return
		}
		decided[subject] = true
		got := gidKinds(p)
		for _, kind := range x.GIDs {
			if !slices.Contains(got, kind) {
				r.add(finding(report.MissingGID, subject, "no GID %s; got %s", kind, cmp.Or(strings.Join(got, ", "), "no GID")))
			}
		}
	})
	r.addItems("gids", report.NoIPv4GID, func(subject string) bool { return !decided[subject] })
	return nil
}
