package devinfo

import "github.com/ibkit/ibkit/internal/pcie"

// addModel sets the model by the PCI IDs, from the PCI function or else from the attributes,
// which have them in most drivers (efa_query_device, bnxt_re_query_device,
// irdma_query_device).
func (d *Device) addModel(o Options, problems *[]error) {
	if o.Brief {
		return
	}
	dir := o.sysfs().Dir(problems, "class/infiniband", d.Name, "device")
	var id pcie.ID
	switch vendor, device := dir.Uint("vendor", 16), dir.Uint("device", 16); {
	case vendor != nil && device != nil:
		id = pcie.NewID(uint16(*vendor), uint16(*device))
	case d.Attr != nil:
		id = pcie.NewID(uint16(d.Attr.VendorID), uint16(d.Attr.VendorPartID))
	}
	if name := id.Model(o.PCINames); name != "" {
		d.Model = &name
	}
}
