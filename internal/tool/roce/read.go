package roce

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/dcbnl"
	"github.com/ibkit/ibkit/internal/sysfs"
)

// Port reads the settings of a port, and the reasons why files could not be read. Files that
// only root may read set Restricted instead.
func (h Host) Port(d *devinfo.Device, p *devinfo.Port) (*PortSettings, []error) {
	h = h.withDefaults()
	s := &PortSettings{Device: d.Name, Number: p.Number, Active: p.Active(), Netdev: p.Netdev, Parameters: map[string]string{}, Links: []*NetdevSettings{}}
	var problems []error
	root := sysfs.FS(h.Sysfs).Dir(&problems)
	number := strconv.Itoa(p.Number)
	s.TrafficClass = trafficClass(root.Sub("class/infiniband/" + d.Name + "/tc/" + number).Text("traffic_class"))
	cm := root.Sub("kernel/config/rdma_cm/" + d.Name + "/ports/" + number)
	s.Version = cm.Text("default_roce_mode")
	if tos := cm.Uint("default_roce_tos", 8); tos != nil {
		s.ToS = new(uint8(*tos))
	}
	s.readParameters(root, "", "kernel/config/bnxt_re/"+d.Name+"/ports/"+number+"/cc")
	if d.PCI != nil {
		s.readParameters(root, "", "kernel/debug/mlx5/"+d.PCI.Address+"/cc_params")
	}
	if s.index = d.Index; h.Optional != nil && d.Index != nil {
		var err error
		if s.Optional, err = h.Optional(*d.Index, uint32(p.Number)); err != nil {
			problems = append(problems, fmt.Errorf("query optional counters of %s: %w", s.Name(), err))
		}
	}
	if p.Netdev != nil {
		if event := root.Sub("class/net/" + *p.Netdev).Text("uevent"); event != nil {
			s.VLAN = slices.Contains(strings.Fields(*event), "DEVTYPE=vlan")
		}
		for _, netdev := range lowest(root, *p.Netdev, nil) {
			s.Links = append(s.Links, h.netdev(root, netdev))
			s.readParameters(root, "np_", "class/net/"+netdev+"/ecn/roce_np")
			s.readParameters(root, "rp_", "class/net/"+netdev+"/ecn/roce_rp")
		}
	}
	s.mark()
	return s, slices.DeleteFunc(problems, func(err error) bool {
		restricted := errors.Is(err, fs.ErrPermission)
		s.Restricted = s.Restricted || restricted
		return restricted
	})
}

// trafficClass parses the file traffic_class of NVIDIA's out-of-tree drivers: "Global
// tclass=106", or an empty file.
func trafficClass(text *string) *uint8 {
	if text == nil {
		return nil
	}
	_, number, _ := strings.Cut(*text, "tclass=")
	word, _, _ := strings.Cut(number, "\n")
	n, err := strconv.ParseUint(strings.TrimSpace(word), 10, 8)
	if err != nil {
		return nil
	}
	return new(uint8(n))
}

// readParameters adds the files in a directory as parameters.
func (s *PortSettings) readParameters(root sysfs.Dir, prefix, dir string) {
	d := root.Sub(dir)
	for _, name := range d.Names() {
		if d.Sub(name).Exists() {
			continue
		}
		if v := d.Text(name); v != nil {
			s.Parameters[prefix+strings.TrimPrefix(name, "rpg_")] = *v
		}
	}
}

// lowest returns the network devices below a bond or a VLAN. For other devices, it returns the
// device itself.
func lowest(root sysfs.Dir, netdev string, above []string) []string {
	var all []string
	for _, name := range root.Sub("class/net/" + netdev).Names() {
		if lower, is := strings.CutPrefix(name, "lower_"); is && !slices.Contains(above, lower) {
			all = append(all, lowest(root, lower, append(above, netdev))...)
		}
	}
	if all == nil {
		return []string{netdev}
	}
	return all
}

// netdev reads the settings of a network device.
func (h Host) netdev(root sysfs.Dir, name string) *NetdevSettings {
	d := root.Sub("class/net/" + name)
	s := &NetdevSettings{Netdev: name, Trust: d.Text("qos/trust"), Markings: []Marking{}}
	s.Notify, s.React = enabled(d.Sub("ecn/roce_np/enable")), enabled(d.Sub("ecn/roce_rp/enable"))
	if s.Trust != nil {
		s.trustFile = "/sys/class/net/" + name + "/qos/trust"
	}
	h.query(s)
	if s.LLDP = h.Neighbours[name]; s.LLDP != nil && s.PeerPFC == nil {
		s.PeerPFC = s.LLDP.PFC
	}
	if driver := d.Sub("device").Link("driver"); driver != nil {
		s.driver = *driver
	}
	if s.Trust == nil && s.bridging != nil && s.driver == "mlx5_core" {
		// The driver trusts the DSCP as soon as the table has an entry
		// (mlx5e_dcbnl_ieee_setapp).
		s.Trust = new("pcp")
		if len(s.DSCP) > 0 {
			s.Trust = new("dscp")
		}
	}
	return s
}

// query queries the kernel about a network device.
func (h Host) query(s *NetdevSettings) {
	if h.Pause != nil {
		if p, err := h.Pause(s.Netdev); err == nil && p != nil {
			s.Pause = &GlobalPause{p.Receive, p.Transmit}
		}
	}
	if h.Bridging == nil {
		s.Error = new("requires the running kernel of the host")
		return
	}
	b, err := h.Bridging(s.Netdev)
	switch {
	case errors.Is(err, dcbnl.ErrNone):
		s.Unsupported = true
	case err != nil:
		s.Problem, s.Error = err, new(err.Error())
	default:
		s.setBridging(&b)
	}
}

// enabled returns the priorities with the value 1 in a directory with a file for each; nil
// without a file.
func enabled(d sysfs.Dir) []int {
	var all []int
	for _, p := range d.Numbers(dcbnl.Priorities - 1) {
		if all == nil {
			all = []int{}
		}
		if v := d.Text(strconv.Itoa(p)); v != nil && *v == "1" {
			all = append(all, p)
		}
	}
	return all
}
