package rdmanl

import "github.com/mdlayher/netlink"

// AddLink creates a software device with the type "rxe" or "siw" on a network device. It
// requires CAP_NET_ADMIN. The kernel loads the module with the alias rdma-link-TYPE. It
// returns EINVAL for a type without a module, ENODEV for an unknown network device, and
// EEXIST for a name that is used.
func (c *Conn) AddLink(name, linkType, netdev string) error {
	_, err := c.execute(cmdNewLink, netlink.Acknowledge, func(e *netlink.AttributeEncoder) {
		e.String(attrDevName, name)
		e.String(attrLinkType, linkType)
		e.String(attrNetdevName, netdev)
	})
	return err
}

// DeleteLink removes a software device. It requires CAP_NET_ADMIN. It returns EINVAL for
// other devices. It blocks until processes have closed the device if the driver cannot
// revoke their contexts.
func (c *Conn) DeleteLink(device uint32) error {
	_, err := c.execute(cmdDelLink, netlink.Acknowledge, func(e *netlink.AttributeEncoder) { e.Uint32(attrDevIndex, device) })
	return err
}
