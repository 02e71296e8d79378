package check

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/tool/doctor"
)

// NodeOptions are the options of [Node].
type NodeOptions struct {
	Root string // root directory of the host's files; default "/"

	Expect *Manifest // nil: only what is wrong on any node
	State  *State    // of the last check, which is updated; may be nil
	Ignore []string  // patterns of names of devices that are not checked

	Limits Limits
	Only   []string // names of the stages to run; nil: all
	Skip   []string // names of the stages to leave out

	// Now returns the time; nil: [time.Now].
	Now func() time.Time
}

// A NodeStage is a stage of [Node].
type NodeStage struct {
	Name  string
	About string // subject of the stage, as a noun phrase

	run func(*nodeRun) error
}

// NodeStages returns the stages of [Node] in their order.
func NodeStages() []NodeStage { return slices.Clone(nodeStages) }

var nodeStages = []NodeStage{
	{"devices", "RDMA devices, their types and boards", checkDevices},
	{"ports", "ports and their states", checkPorts},
	{"rates", "rate, width and speed of ports against the manifest", checkRates},
	{"pcie", "width and speed of PCI Express links", checkPCIe},
	{"firmware", "firmware against the manifest, or between equal boards", checkNodeFirmware},
	{"gids", "GIDs of RoCE ports, and those of the manifest", checkNodeGIDs},
	{"counters", "error counters of ports, since the last check with a state", checkNodeCounters},
	{"flaps", "links that went down between checks", checkFlaps},
}

// nodeRun is one run of the stages.
type nodeRun struct {
	*runner
	ctx     context.Context
	opts    NodeOptions
	now     time.Time
	devices []*devinfo.Device
	host    *doctor.Result

	updates map[string]portUpdate // by subject
}

// A portUpdate is the comparison of a port with the state.
type portUpdate struct {
	increases map[string]uint64 // nil: the port was not known
	downs     uint64
}

// doctorChecks are the checks of package doctor that stages contain.
var doctorChecks = []string{"devices", "ports", "gids", "pcie"}

// Node checks the devices of this host. It reads sysfs and queries netlink, and requires
// no privileges. It returns an error if ctx ends or the files could not be read.
func Node(ctx context.Context, o NodeOptions) (*Result, error) {
	r := &nodeRun{runner: newRunner("node", nodeKinds, &o.Limits, o.Only, o.Skip), ctx: ctx, opts: o, now: time.Now()}
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
		start := r.begin(s.Name, s.About)
		if err := s.run(r); err != nil {
			return nil, err
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

// Devices returns the devices of a host, as [Node] reads them.
func Devices(ctx context.Context, root string) (*devinfo.Result, error) {
	return devinfo.Run(ctx, devinfo.Options{Sysfs: filepath.Join(root, "sys"), NoOpen: true})
}

// read reads the devices and runs the checks of package doctor.
func (r *nodeRun) read() error {
	all, err := Devices(r.ctx, r.opts.Root)
	if err != nil {
		return err
	}
	isIgnored := func(name string) bool { return ignored(r.opts.Ignore, name) }
	all.Devices = slices.DeleteFunc(all.Devices, func(d *devinfo.Device) bool { return isIgnored(d.Name) })
	all.Findings = slices.DeleteFunc(all.Findings, func(f devinfo.Finding) bool { return isIgnored(f.Device) })
	r.devices = all.Devices
	r.host, err = doctor.Run(r.ctx, doctor.Options{Root: r.opts.Root, Only: doctorChecks, Devices: all})
	return err
}

// ports yields the ports of all devices.
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

// addItems adds the problems that a check of package doctor found as findings of a kind.
// only, if not nil, selects their subjects.
func (r *nodeRun) addItems(check, kind string, only func(subject string) bool) {
	for _, i := range r.host.Items {
		severity, bad := map[doctor.Verdict]Severity{doctor.Error: Error, doctor.Warning: Warning, doctor.Unknown: Unknown}[i.Verdict]
		if i.Check != check || !bad || only != nil && !only(i.Subject) {
			continue
		}
		r.add(kind, Finding{Severity: severity, Subject: i.Subject, Detail: i.Found, Next: strings.Join(append(slices.Clone(i.Fix), nonEmpty(i.Hint)...), "; ")})
	}
}

// nonEmpty returns a list with a text, unless it is "".
func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// expected yields the devices of the manifest that the host has.
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

// expectedPorts yields the ports of the manifest that the host has, with the name of the port.
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
	r.addItems("devices", device, func(string) bool { return m == nil || len(m.Devices) > 0 })
	r.comment("%s", count(len(r.devices), "device"))
	if m == nil {
		return nil
	}
	known := map[string]bool{}
	for _, e := range m.Devices {
		known[e.Name] = true
		d := r.device(e.Name)
		if d == nil {
			r.add(missingDevice, Finding{Subject: e.Name, Detail: "the device is missing"})
			continue
		}
		r.compare(deviceDiffers, e.Name, "type", e.Type, d.HCAType)
		r.compare(deviceDiffers, e.Name, "board", e.Board, d.BoardID)
	}
	for _, d := range r.devices {
		if !known[d.Name] {
			r.add(unexpectedDevice, Finding{Subject: d.Name, Detail: "the device is not in the manifest"})
		}
	}
	return nil
}

// compare compares a text with a pattern of the manifest.
func (r *nodeRun) compare(kind, subject, name, want string, got *string) {
	if want == "" || got != nil && matches(want, *got) {
		return
	}
	found := "no value"
	if got != nil {
		found = *got
	}
	r.add(kind, Finding{Subject: subject, Detail: fmt.Sprintf("%s: got %s, want %s", name, found, want)})
}

// checkPorts compares the states of ports with the manifest. Without an expected state, a
// port that is not active is a finding.
func checkPorts(r *nodeRun) error {
	decided := map[string]bool{}
	for e, d := range r.expected() {
		for i := range e.Ports {
			x := &e.Ports[i]
			subject := portSubject(d.Name, x.Number)
			k := slices.IndexFunc(d.Ports, func(p *devinfo.Port) bool { return p.Number == x.Number })
			if k < 0 {
				r.add(missingPort, Finding{Subject: subject, Detail: "the port is missing"})
				continue
			}
			p := d.Ports[k]
			r.compare(portState, subject, "link layer", x.LinkLayer, p.LinkLayer)
			r.compare(portState, subject, "network device", x.Netdev, p.Netdev)
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
			r.compare(portState, subject, "state", x.State, state)
			if r.stage.Errors+r.stage.Warnings > before {
				r.addCause(subject)
			}
		}
	}
	r.addItems("ports", portState, func(subject string) bool { return !decided[subject] })
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
			f.Next = strings.Join(next, "; ")
		}
	}
}

// checkRates compares the rates of active ports with the manifest.
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
			r.add(rateBelow, Finding{Subject: subject, Detail: fmt.Sprintf("rate: got %s, want at least %g Gb/sec", *p.Rate, x.Rate)})
		}
		if width.Lanes() < x.Width.Lanes() {
			r.add(widthBelow, Finding{Subject: subject, Detail: fmt.Sprintf("width: got %s, want at least %v", *p.Rate, x.Width)})
		}
		if speed < x.Speed {
			r.add(speedBelow, Finding{Subject: subject, Detail: fmt.Sprintf("speed: got %s, want at least %v", *p.Rate, x.Speed)})
		}
	})
	r.comment("%s compared", count(compared, "port"))
	return nil
}

// checkPCIe compares the PCI Express links with the manifest, those of other devices with
// the capability of the slot.
func checkPCIe(r *nodeRun) error {
	decided := map[string]bool{}
	for e, d := range r.expected() {
		if e.PCIeWidth == 0 && e.PCIeSpeed == 0 {
			continue
		}
		decided[d.Name] = true
		if d.PCI == nil || d.PCI.Width == nil {
			r.add(pcieBelow, Finding{Subject: d.Name, Detail: "the kernel does not report a PCIe link"})
			continue
		}
		if speed := pcieSpeed(d.PCI.Speed); uint64(max(*d.PCI.Width, 0)) < e.PCIeWidth || speed < e.PCIeSpeed {
			r.add(pcieBelow, Finding{Subject: d.Name, Detail: fmt.Sprintf("got x%d at %g GT/s, want at least x%d at %g GT/s (%s)",
				*d.PCI.Width, speed, e.PCIeWidth, e.PCIeSpeed, d.PCI.Address)})
		}
	}
	r.addItems("pcie", pcieSlow, func(subject string) bool {
		d := r.device(subject)
		reported := d != nil && d.PCI != nil && d.PCI.Width != nil && d.PCI.Speed != nil // not in most virtual machines
		return !decided[subject] && reported
	})
	return nil
}

// checkNodeFirmware compares the firmware with the manifest, that of other devices with
// equal boards.
func checkNodeFirmware(r *nodeRun) error {
	decided := map[string]bool{}
	for e, d := range r.expected() {
		if e.Firmware != "" {
			decided[d.Name] = true
			r.compare(firmwareDiffers, d.Name, "firmware", e.Firmware, d.Firmware)
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
			r.add(firmwareDiffers, Finding{Detail: fmt.Sprintf("devices of board %s have firmware %s", board, strings.Join(slices.Sorted(maps.Keys(v)), " and "))})
		}
	}
	return nil
}

// checkNodeGIDs checks the GIDs of RoCE ports, and compares kinds of GIDs with the manifest.
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
				r.add(missingGID, Finding{Subject: subject, Detail: fmt.Sprintf("no GID %s; got %s", kind, textOr(strings.Join(got, ", "), "no GID"))})
			}
		}
	})
	r.addItems("gids", missingGID, func(subject string) bool { return !decided[subject] })
	return nil
}
