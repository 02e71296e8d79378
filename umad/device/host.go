package device

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Host is where [Host.Ports] finds ports. The zero value is this host.
type Host struct {
	// Sysfs is the sysfs root (default /sys).
	Sysfs string

	// Dev is the device node directory (default /dev/infiniband).
	Dev string
}

func (h Host) sysfs() sysfs.FS { return cmp.Or(sysfs.FS(h.Sysfs), sysfs.Default) }

// A LocalPort is a port on a host that has a MAD device node.
type LocalPort struct {
	Node     string        // device node name, such as "umad0"
	NodeType mad.NodeType  // the device's type
	Attr     umad.PortAttr // the port's device, number, addresses and state

	// NoSubnetManagement reports that another device sends the port's subnet management
	// packets; see [LocalPort.SubnetManagement].
	NoSubnetManagement bool

	host Host
	smi  *LocalPort // set by Choose; nil: the port itself
}

// SubnetManagement returns the port that sends subnet management packets: the port
// itself, or another device's port if the port belongs to a pair.
// [Host.Choose] finds pairs.
func (p LocalPort) SubnetManagement() LocalPort {
	if p.smi != nil {
		return *p.smi
	}
	return p
}

// Ports lists the ports on this host that MADs can be sent from. See [Host.Ports].
func Ports() ([]LocalPort, error) { return Host{}.Ports() }

// Ports lists the ports that have a MAD device node, sorted by the number of the
// node. It opens none of them: opening a port may still fail, for instance for lack
// of permission. Ports leaves out a port whose files in sysfs cannot be read, for
// example because its device is being removed. If none is left, it returns a
// [*NoPortError] with the reasons. Without the kernel module ib_umad, the error wraps
// [fs.ErrNotExist].
func (h Host) Ports() ([]LocalPort, error) {
	files := h.sysfs()
	nodes, err := files.MADNodes()
	if err != nil {
		return nil, &NoPortError{Sysfs: string(files), Err: err}
	}
	var all []LocalPort
	var failed []error
	for _, n := range nodes {
		device, err := files.Device(n.Device)
		var port sysfs.Port
		if err == nil {
			port, err = files.Port(n.Device, n.Port)
		}
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				failed = append(failed, err)
			}
			continue
		}
		all = append(all, LocalPort{
			Node: n.Name, NodeType: mad.NodeType(device.NodeType), Attr: attrOf(device, port), host: h,
			NoSubnetManagement: mad.PortCapMask(port.CapMask).Has(mad.CapSMDisabled),
		})
	}
	if all == nil && failed != nil {
		return nil, &NoPortError{Sysfs: string(files), Err: errors.Join(failed...)}
	}
	return all, nil
}

func attrOf(device sysfs.Device, p sysfs.Port) umad.PortAttr {
	return umad.PortAttr{
		Device:    device.Name,
		Number:    p.Number,
		LinkLayer: p.LinkLayer,
		NodeGUID:  device.NodeGUID,
		PortGUID:  p.GUID,
		LID:       p.LID,
		LMC:       p.LMC,
		SMLID:     p.SMLID,
		SMSL:      p.SMSL,
		State:     p.State,
		PhysState: p.PhysState,
		GIDPrefix: p.GIDPrefix,
		RMPP:      true,
	}
}

// Choose returns the port to send from. A device name and a port number must match
// if they are given ("" and 0: any). Of several ports Choose returns the first
// active port, else the first with its link up, else the first that is
// not disabled. The only port that matches a device name is chosen in any state. A switch sends from port 0 only. A port without InfiniBand's link
// layer has no subnet management, and is returned only if its device is named.
//
// The kernel determines the device order, so that this is the port that libibumad chooses
// (umad.c, resolve_ca_name). On a host with several devices it is not always a port on
// the first device by name.
//
// If the port belongs to a pair, Choose returns the port for general packets, with the
// other port as [LocalPort.SubnetManagement]. Either device can be named.
func (h Host) Choose(device string, port uint8) (LocalPort, error) {
	all, err := h.Ports()
	if none, ok := errors.AsType[*NoPortError](err); ok {
		none.Device, none.Port = device, port
	}
	if err != nil {
		return LocalPort{}, err
	}
	var fit []LocalPort
	for _, p := range all {
		a := &p.Attr
		switch {
		case device != "" && a.Device != device, port != 0 && a.Number != port:
		case device == "" && a.LinkLayer != infiniBand:
		case p.NodeType == mad.NodeTypeSwitch && a.Number != 0:
		default:
			fit = append(fit, p)
		}
	}
	order := h.sysfs().DeviceNames()
	slices.SortStableFunc(fit, func(a, b LocalPort) int {
		return slices.Index(order, a.Attr.Device) - slices.Index(order, b.Attr.Device)
	})
	p, ok := best(fit)
	if !ok && device != "" && len(fit) == 1 { // umad.c, find_preferred_ports
		p, ok = fit[0], true
	}
	if ok {
		return p.paired(all), nil
	}
	return LocalPort{}, &NoPortError{Sysfs: string(h.sysfs()), Device: device, Port: port, Existing: all}
}

// best returns the first active port, else the first with its link up, else
// the first that is not disabled.
func best(ports []LocalPort) (LocalPort, bool) {
	for _, good := range []func(*umad.PortAttr) bool{
		func(a *umad.PortAttr) bool { return a.State == ib.PortActive },
		func(a *umad.PortAttr) bool { return a.PhysState == ib.PhysLinkUp },
		func(a *umad.PortAttr) bool { return a.PhysState != ib.PhysDisabled },
	} {
		if i := slices.IndexFunc(ports, func(p LocalPort) bool { return good(&p.Attr) }); i >= 0 {
			return ports[i], true
		}
	}
	return LocalPort{}, false
}

// Port link layers.
const (
	infiniBand = "InfiniBand"
	ethernet   = "Ethernet"
)

// CanManage reports whether the port has subnet management and is not disabled.
func (p LocalPort) CanManage() bool {
	return p.Attr.LinkLayer == infiniBand && p.Attr.PhysState != ib.PhysDisabled
}

func (p LocalPort) String() string {
	a := &p.Attr
	return fmt.Sprintf("%s/%d (%s, %v, %v)", a.Device, a.Number, a.LinkLayer, a.State, a.PhysState)
}

// A NoPortError reports that a host has no port to send from, or not the requested
// port.
type NoPortError struct {
	Sysfs    string      // sysfs root
	Device   string      // requested device; "": any
	Port     uint8       // requested port number; 0: any
	Existing []LocalPort // ports that the host has
	Err      error       // reason why the ports could not be listed, or nil
}

func (e *NoPortError) Error() string {
	wanted := "InfiniBand port"
	switch {
	case e.Device != "" && e.Port != 0:
		wanted = fmt.Sprintf("usable port %d of %s", e.Port, e.Device)
	case e.Device != "":
		wanted = "usable port of " + e.Device
	case e.Port != 0:
		wanted = fmt.Sprintf("device with a usable port %d", e.Port)
	case len(e.Existing) > 0: // which are disabled
		wanted = "InfiniBand port that is not disabled"
	}
	switch {
	case e.Err != nil:
		return fmt.Sprintf("find %s: %v", wanted, e.Err)
	case len(e.Existing) == 0:
		return fmt.Sprintf("find %s: no port in %s/class/infiniband_mad", wanted, e.Sysfs)
	}
	var have []string
	for _, p := range e.Existing {
		have = append(have, p.String())
	}
	return fmt.Sprintf("find %s: this host has %s", wanted, strings.Join(have, ", "))
}

// Unwrap returns Err.
func (e *NoPortError) Unwrap() error { return e.Err }
