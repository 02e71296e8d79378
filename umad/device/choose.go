package device

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Candidate is a local port that MADs can be sent from.
type Candidate struct {
	Node   string // name of the device node, such as "umad0"
	Device sysfs.Device
	Port   sysfs.Port
}

// Candidates returns all ports with a MAD device node, by its number. Ports of
// which sysfs does not tell enough are left out.
func Candidates(fs sysfs.FS) ([]Candidate, error) {
	nodes, err := fs.MADNodes()
	if err != nil {
		return nil, &NoPortError{Sysfs: fs, Err: err}
	}
	var all []Candidate
	for _, n := range nodes {
		device, err := fs.Device(n.Device)
		if err != nil {
			continue // being unplugged
		}
		port, err := fs.Port(n.Device, n.Port)
		if err != nil {
			continue
		}
		all = append(all, Candidate{n.Name, device, port})
	}
	return all, nil
}

// Choose returns the port to send from. A device and a port number, where given,
// have to match. Of several ports the first that is active is chosen, else the
// first whose link is up, else the first that is not switched off; a switch
// sends from port 0 only. Ports without InfiniBand's link layer have no subnet
// management and are chosen only by name.
//
// Which device comes first is up to the kernel, so that this is the port that
// libibumad takes (umad.c, resolve_ca_name): on a host with several it is not
// always that of the first name.
func Choose(fs sysfs.FS, device string, port uint8) (Candidate, error) {
	all, err := Candidates(fs)
	if err != nil {
		return Candidate{}, err
	}
	var fit []Candidate
	for _, c := range all {
		if device != "" && c.Device.Name != device || port != 0 && c.Port.Number != port {
			continue
		}
		if device == "" && c.Port.LinkLayer != "InfiniBand" {
			continue
		}
		if c.Device.NodeType == uint8(mad.NodeTypeSwitch) && c.Port.Number != 0 {
			continue
		}
		fit = append(fit, c)
	}
	order := fs.DeviceNames()
	slices.SortStableFunc(fit, func(a, b Candidate) int {
		return slices.Index(order, a.Device.Name) - slices.Index(order, b.Device.Name)
	})
	for _, good := range []func(sysfs.Port) bool{
		func(p sysfs.Port) bool { return p.State == ib.PortActive },
		func(p sysfs.Port) bool { return p.PhysState == ib.PhysLinkUp },
		func(p sysfs.Port) bool { return p.PhysState != ib.PhysDisabled },
	} {
		if i := slices.IndexFunc(fit, func(c Candidate) bool { return good(c.Port) }); i >= 0 {
			return fit[i], nil
		}
	}
	return Candidate{}, &NoPortError{Sysfs: fs, Device: device, Port: port, Existing: all}
}

// canManage reports whether a port has subnet management and is not switched off.
func (c Candidate) canManage() bool {
	return c.Port.LinkLayer == "InfiniBand" && c.Port.PhysState != ib.PhysDisabled
}

func (c Candidate) String() string {
	p := c.Port
	return fmt.Sprintf("%s port %d (%s, %s, %s)", c.Device.Name, p.Number, p.LinkLayer, p.State, p.PhysState)
}

func (c Candidate) attr() umad.PortAttr {
	p := c.Port
	return umad.PortAttr{
		Device:    c.Device.Name,
		Number:    p.Number,
		LinkLayer: p.LinkLayer,
		NodeGUID:  c.Device.NodeGUID,
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

// A NoPortError says that there is no port to send from, or not the one that was
// asked for.
type NoPortError struct {
	Sysfs    sysfs.FS
	Device   string // that was asked for; "": any
	Port     uint8  // that was asked for; 0: any
	Existing []Candidate
	Err      error // why none could be looked for; nil: looked for and not found
}

func (e *NoPortError) Error() string {
	what := "an InfiniBand port that is not switched off"
	switch {
	case e.Device != "" && e.Port != 0:
		what = fmt.Sprintf("usable port %d of %s", e.Port, e.Device)
	case e.Device != "":
		what = "a usable port of " + e.Device
	case e.Port != 0:
		what = fmt.Sprintf("a device with a usable port %d", e.Port)
	}
	switch {
	case e.Err != nil:
		return fmt.Sprintf("find %s: %v", what, e.Err)
	case len(e.Existing) == 0:
		return fmt.Sprintf("find %s: there is none in %s/class/infiniband_mad", what, e.Sysfs)
	}
	var have []string
	for _, c := range e.Existing {
		have = append(have, c.String())
	}
	return fmt.Sprintf("find %s: there are only %s", what, strings.Join(have, ", "))
}

// Unwrap returns Err.
func (e *NoPortError) Unwrap() error { return e.Err }

// Hint says what to do.
func (e *NoPortError) Hint() string {
	const simulated = " Without hardware, use a simulated fabric: --sim demo"
	switch {
	case slices.ContainsFunc(e.Existing, Candidate.canManage):
		return "name another by -C and -P"
	case len(e.Existing) > 0:
		return "only an InfiniBand port that is not switched off reaches a fabric's management." + simulated
	case e.Err != nil:
		return "is the kernel's module there (modprobe ib_umad)?" + simulated
	}
	return "is the device's driver there (modprobe mlx5_ib, or what the device needs)?" + simulated
}
