// Package phy reads the physical layer of a fabric's links from NVIDIA devices: cables and
// modules, optical power, bit error rates, forward error correction and the last cause of
// a link that went down, and of the devices themselves temperatures, fans and power
// supplies.
//
// It reads registers by Gets only ([register.Block]), which change no device state. A
// register that a device rejects is unavailable, not zero.
package phy

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/umad"
)

// Options are the options for [Run].
type Options struct {
	Source fabric.Source
	Key    mad.Key // vendor key for requests
	Names  *fabric.NameMap

	// Selected, if not nil, reports whether to read a node. The other ends of its links
	// are read for comparison, and are not in the result.
	Selected func(*fabric.Node) bool

	// Port, if not nil, reports whether to read a port of a selected node.
	Port func(*fabric.Port) bool

	// Silent, if not nil, reports whether a node is known not to reply. It is not asked.
	Silent func(*fabric.Node) bool

	// AskAll asks each device for registers, also of a type with silent devices only.
	AskAll bool

	Down     bool // read ports without a link, too
	Switches bool // read temperatures, fans and power supplies of switches
	Alarms   bool // read the modules' latched alarms, which firmware may then clear
	FEC      bool // read the histogram of corrected symbols
	Eyes     bool // read the eye of each lane
	Cables   bool // read modules by CableInfo on devices without registers

	// Carrier permits Sets to devices that carry registers in no other way. The zero value
	// is CarrierGet.
	Carrier Carrier

	// Limit, if not 0, ends the requests after that time. The result is then partial.
	Limit time.Duration

	// Raw, if not nil, is called for each register with its bytes, or the reason why it
	// was not read.
	Raw func(RawRegister)
}

// A RawRegister is a register's bytes.
type RawRegister struct {
	Port *fabric.Port // of the device
	Name string
	Data []byte // with the index; the request's bytes if there is an error
	Err  error
}

// A Gap is a part that a device did not report.
type Gap struct {
	Register string
	Err      error
}

// IsRejected reports whether the firmware does not have the register, or the device no
// register access: no reply is missing.
func (g Gap) IsRejected() bool {
	status, ok := errors.AsType[register.AccessStatus](g.Err)
	return errors.Is(g.Err, errNoAccess) || ok && (status == register.StatusNoRegister || status == register.StatusBadOperation || status == register.StatusBadClass)
}

// errNoAccess is wrapped by the reason why no register can be read.
var errNoAccess = errors.New("no register access by Gets")

// ErrLimit is the reason why a request ended by [Options.Limit].
var ErrLimit = errors.New("the time limit ended")

// A Device is a switch, or another node's port, with the address of its registers.
type Device struct {
	Port *fabric.Port // switch port 0

	Info     *register.Device
	System   *register.Product
	Sensors  []*register.Sensor
	Fans     []*register.FanSpeed
	Supplies *register.PowerSupplies
	Limits   map[uint8]*register.FanLimits // by tachometer

	ModuleHeat []*register.Temperatures
	PCIe       *register.PCIeLink // of an adapter
	PCIeErrors *register.PCIeCounters

	Missing  error // the reason why registers cannot be read, or nil
	Gaps     []Gap
	Findings []report.Finding

	info  register.Device
	lists []*register.List
	kinds map[kindKey]*kind

	carrier Carrier

	ends      map[uint8]*End // by port number
	neighbour bool           // not selected
}

func newDevice(p *fabric.Port) *Device {
	return &Device{Port: p, ends: map[uint8]*End{}, kinds: map[kindKey]*kind{}, Limits: map[uint8]*register.FanLimits{}}
}

// IsSwitch reports whether the device is a switch.
func (d *Device) IsSwitch() bool { return d.Port.Node.IsSwitch() }

// An End is a link end. Fields are nil if they were not read.
type End struct {
	Device *Device
	Port   *fabric.Port
	Local  register.LocalPort

	State     *register.LinkState
	Lanes     *register.LaneMapping
	Module    *register.Module
	Bits      *register.BitErrors
	Counters  *register.PhysicalCounters
	Down      *register.LinkDown
	Trouble   *register.Trouble // of a port without a link
	Alarms    *register.ModuleFlags
	Histogram *register.FECHistogram
	Monitor   *register.BERMonitor
	Eyes      []*register.Eye

	Gaps     []Gap
	Findings []report.Finding
}

// IsUp reports whether the link is up, according to the scan.
func (e *End) IsUp() bool { return e.Port.Info != nil && e.Port.Info.PhysState == ib.PhysLinkUp }

// HasProblem reports whether any of the findings is a problem.
func (e *End) HasProblem() bool {
	return slices.ContainsFunc(e.Findings, func(f report.Finding) bool { return f.Severity.IsProblem() })
}

// A Result has the registers of a fabric.
type Result struct {
	Options
	Began   time.Time
	Fabric  *fabric.Fabric
	Devices []*Device // in node order
	Ends    []*End    // in node and port order
	Stats   umad.Stats

	Unfinished bool // [Options.Limit] ended the requests

	byPort map[*fabric.Port]*End
	stored bool // from a file, which has neither light nor forms of connectors
}

// Peer returns the link's other end, nil if it was not read.
func (r *Result) Peer(e *End) *End { return r.byPort[e.Port.Peer] }

// End returns a port's link end, nil if it was not read.
func (r *Result) End(p *fabric.Port) *End { return r.byPort[p] }

// Run scans the fabric and reads the registers. Failures of single devices are in the
// result.
func Run(ctx context.Context, o Options) (*Result, error) {
	began := time.Now()
	s, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	f, err := s.Fabric(ctx, fabric.DiscoverOptions{NoExtendedPortInfo: true, OmitDownPorts: !o.Down})
	if err != nil {
		return nil, err
	}
	r, err := Read(ctx, s.Client, f, o)
	if err != nil {
		return nil, err
	}
	r.Began, r.Stats = began, s.Stats()
	return r, nil
}

// Read reads the registers in a scanned fabric.
func Read(ctx context.Context, c *umad.Client, f *fabric.Fabric, o Options) (*Result, error) {
	r := &Result{Options: o, Began: time.Now(), Fabric: f, byPort: map[*fabric.Port]*End{}}
	rd := &reader{client: c, result: r}
	r.addDevices()
	rd.probeAll(slices.Concat(r.Devices, r.neighbours()))
	if err := rd.run(ctx); err != nil {
		return nil, fmt.Errorf("read registers: %w", err)
	}
	r.find()
	return r, nil
}

// addDevices adds the selected nodes' devices, with the link ends to read.
func (r *Result) addDevices() {
	for _, n := range r.Fabric.Nodes {
		if r.Selected != nil && !r.Selected(n) {
			continue
		}
		for _, p := range devicePorts(n) {
			d := newDevice(p)
			r.Devices = append(r.Devices, d)
			r.addEnds(d)
		}
	}
}

// run sends the requests until the time limit.
func (r *reader) run(ctx context.Context) error {
	limited, cancel := ctx, func() {}
	if limit := r.result.Limit; limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	err := r.client.Run(limited)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err, r.result.Unfinished = nil, true
	}
	r.giveUp()
	if err == nil && r.result.Cables && !r.result.Unfinished {
		err = r.readCables(ctx)
	}
	return err
}

// neighbours adds the other ends of the links, as far as their nodes are not selected, and
// returns their devices.
func (r *Result) neighbours() []*Device {
	var list []*Device
	byPort := map[*fabric.Port]*Device{} // by the device's port
	for _, e := range r.Ends {
		p := e.Port.Peer
		if p == nil || r.byPort[p] != nil {
			continue
		}
		at := p
		if p.Node.IsSwitch() {
			at = p.Node.Ports[0]
		}
		if at == nil {
			continue
		}
		d := byPort[at]
		if d == nil {
			d = newDevice(at)
			d.neighbour = true
			byPort[at] = d
			list = append(list, d)
		}
		r.byPort[p] = &End{Device: d, Port: p}
		d.ends[p.Number] = r.byPort[p]
	}
	return list
}

// Partial reports whether a request had no valid reply, or the scan is partial.
func (r *Result) Partial() bool {
	for range r.Unread() {
		return true
	}
	return r.Unfinished || r.Fabric.Partial()
}

// Unread yields the gaps that are no rejections, with their ports.
func (r *Result) Unread() iter.Seq2[*fabric.Port, Gap] {
	return func(yield func(*fabric.Port, Gap) bool) {
		more := true
		each := func(p *fabric.Port, gaps []Gap) {
			for _, g := range gaps {
				more = more && (g.IsRejected() || yield(p, g))
			}
		}
		for _, d := range r.Devices {
			each(d.Port, d.Gaps)
		}
		for _, e := range r.Ends {
			each(e.Port, e.Gaps)
		}
	}
}

// Readable returns the number of devices with registers.
func (r *Result) Readable() (n int) {
	for _, d := range r.Devices {
		if d.Missing == nil {
			n++
		}
	}
	return n
}

// devicePorts returns a node's ports with registers: port 0 on a switch, and on other
// nodes each port with a link.
func devicePorts(n *fabric.Node) (ports []*fabric.Port) {
	for _, p := range n.Ports {
		if p != nil && (n.IsSwitch() == (p.Number == 0)) && (n.IsSwitch() || p.Info != nil && p.Info.State >= ib.PortInit) {
			ports = append(ports, p)
		}
	}
	return ports
}

// addEnds adds the device's link ends to read.
func (r *Result) addEnds(d *Device) {
	for _, p := range d.Port.Node.Ports {
		switch {
		case p == nil, p.Number == 0, !d.IsSwitch() && p != d.Port, r.Port != nil && !r.Port(p):
			continue
		case p.Info == nil || p.Info.PhysState != ib.PhysLinkUp:
			if !r.Down {
				continue
			}
		}
		e := &End{Device: d, Port: p}
		d.ends[p.Number], r.byPort[p] = e, e
		r.Ends = append(r.Ends, e)
	}
}
