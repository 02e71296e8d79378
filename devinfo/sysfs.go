package devinfo

import (
	"cmp"
	"net/netip"
	"path/filepath"
	"strconv"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/pcie"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/mad"
)

// maxPort is the highest port number.
const maxPort = 254

// readDevice reads class/infiniband/<device>.
func (o Options) readDevice(d *Device, problems *[]error) {
	dir := o.sysfs().Dir(problems, "class/infiniband", d.Name)
	d.NodeType = nodeType(narrow[uint8](dir.Uint("node_type", 8)))
	d.NodeGUID = dir.GUID("node_guid")
	d.SysImageGUID = dir.GUID("sys_image_guid")
	d.Firmware = dir.Text("fw_ver")
	d.HWRev = dir.Text("hw_rev")
	d.HCAType = dir.Text("hca_type")
	d.BoardID = dir.Text("board_id")
	if o.Brief {
		return
	}
	d.NodeDesc = dir.Text("node_desc")
	if d.NodeDesc != nil {
		if raw := mad.NewNodeDescription(*d.NodeDesc).Hex(); raw != "" {
			d.NodeDescHex = &raw
		}
	}
	d.RDMACM = o.sysfs().Dir(problems, "class/misc/rdma_cm").Exists()
	d.HWCounts = dir.Sub("hw_counters").Counters()
	device := dir.Sub("device")
	d.NUMANode = device.Int("numa_node")
	d.Driver = device.Link("driver")
	d.PCI = readPCI(dir, device)
	if d.Driver != nil {
		d.Parameters = o.readParameters(cmp.Or(rdmaModules[*d.Driver], *d.Driver), problems)
	}
}

// readPCI reads the PCI attributes of a device. It returns nil if the device is not a
// PCI function.
func readPCI(dir, device sysfs.Dir) *PCI {
	address := ""
	if link, err := filepath.EvalSymlinks(device.Path()); err == nil {
		address = filepath.Base(link)
	}
	if !pcie.IsAddress(address) {
		return nil
	}
	l := pcie.ReadLink(device)
	return &PCI{address, l.Width, l.MaxWidth, l.Speed, l.MaxSpeed}
}

// parameters lists the module parameters that affect RDMA, by module (modinfo -p;
// drivers/net/ethernet/mellanox/mlx5/core/main.c, mlx4/main.c, hfi1/init.c). The
// modules ib_core and rdma_cm do not have such parameters.
var parameters = map[string][]string{
	"mlx5_core": {"prof_sel", "debug_mask"},
	"mlx4_core": {"num_vfs", "port_type_array", "log_num_mtt", "log_mtts_per_seg", "log_num_mgm_entry_size"},
	"hfi1":      {"num_vls", "krcvqs", "max_mtu", "cap_mask", "num_user_contexts"},
	"ib_qib":    {"ibmtu", "krcvqs"},
	"irdma":     {"roce_ena", "roce_port_cfg", "limits_sel", "gen1_limits_sel", "max_rdma_vfs"}, // Intel's own driver
}

// rdmaModules are the modules with the parameters of drivers with an RDMA driver of their own.
var rdmaModules = map[string]string{"ice": "irdma", "i40e": "irdma", "idpf": "irdma"}

func (o Options) readParameters(module string, problems *[]error) map[string]string {
	dir := o.sysfs().Dir(problems, "module", module, "parameters")
	found := map[string]string{}
	for _, name := range parameters[module] {
		if v := dir.Text(name); v != nil {
			found[name] = *v
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found
}

// readPorts reads the ports of a device.
func (o Options) readPorts(d *Device, problems *[]error) {
	ports := o.sysfs().Dir(problems, "class/infiniband", d.Name, "ports")
	numbers := ports.Numbers(maxPort)
	for _, n := range numbers {
		o.readPort(d.port(n), ports.Sub(strconv.Itoa(n)))
	}
	if !o.Brief {
		o.readMADNodes(d, problems)
	}
}

func (o Options) readPort(p *Port, dir sysfs.Dir) {
	p.State = narrow[ib.PortState](dir.Uint("state", 8))
	p.PhysState = narrow[ib.PhysState](dir.Uint("phys_state", 8))
	p.LinkLayer = dir.Text("link_layer")
	p.Rate = dir.Text("rate")
	p.LID = narrow[uint16](dir.Uint("lid", 16))
	p.LMC = narrow[uint8](dir.Uint("lid_mask_count", 8))
	p.SMLID = narrow[uint16](dir.Uint("sm_lid", 16))
	p.SMSL = narrow[uint8](dir.Uint("sm_sl", 8))
	p.CapMask = narrow[uint32](dir.Uint("cap_mask", 32))
	if text := dir.Sub("gids").Text("0"); text != nil {
		if gid, err := netip.ParseAddr(*text); err == nil && gid.Is6() {
			p.GID0 = &gid
		}
	}
	if !o.Brief {
		p.readTables(dir)
	}
}

// readTables reads the counters, P_Keys and GIDs of the port.
func (p *Port) readTables(dir sysfs.Dir) {
	p.Counters = dir.Sub("counters").Counters()
	p.HWCounts = dir.Sub("hw_counters").Counters()
	p.Lifespan = dir.Sub("hw_counters").Uint("lifespan", 64)
	keys := dir.Sub("pkeys")
	for _, i := range keys.Numbers(1<<16 - 1) {
		if key := keys.Uint(strconv.Itoa(i), 16); key != nil && *key != 0 {
			p.PKeys = append(p.PKeys, PKey{i, uint16(*key)})
		}
	}
	for _, g := range dir.GIDs(p.LinkLayer) {
		p.GIDs = append(p.GIDs, GID(g))
		if p.Netdev == nil {
			p.Netdev = g.Netdev
		}
	}
}

// readMADNodes finds the umad and issm nodes of the ports of a device.
func (o Options) readMADNodes(d *Device, problems *[]error) {
	class := o.sysfs().Dir(problems, "class/infiniband_mad")
	for _, name := range class.Names() {
		node := class.Sub(name)
		if !node.Exists() {
			continue
		}
		device, number := node.Text("ibdev"), node.Uint("port", 8)
		if device == nil || number == nil || *device != d.Name {
			continue
		}
		p := d.port(int(*number))
		switch {
		case len(name) > 4 && name[:4] == "umad":
			p.UMAD = &name
		case len(name) > 4 && name[:4] == "issm":
			p.ISSM = &name
		}
	}
}

func narrow[T ~uint8 | ~uint16 | ~uint32](v *uint64) *T {
	if v == nil {
		return nil
	}
	return new(T(*v))
}

// nodeType returns the type with a number, nil for an unknown number.
func nodeType(n *uint8) *string {
	if n == nil || *n == 0 || int(*n) >= len(NodeTypes) {
		return nil
	}
	return &NodeTypes[*n]
}
