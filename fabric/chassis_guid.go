package fabric

import "github.com/ibkit/ibkit/ib"

// Vendors with system image GUIDs that differ within a chassis.
const (
	vendorTopspin   = 0x5ad // Cisco
	vendorInfiniCon = 0x66a
	vendorXsigo     = 0x1397
)

// chassisGUID returns the GUID that the nodes in a chassis share: the system image GUID
// without the bits in which some vendors number the boards. It is 0 if the node has no
// system image GUID.
func chassisGUID(n *Node) ib.GUID {
	const slot = 0xff << 24
	guid := n.Info.SystemGUID
	switch n.Info.VendorID {
	case vendorTopspin, vendorInfiniCon:
		return guid &^ slot
	}
	if n.Info.VendorID != vendorXsigo && guid>>40 != vendorXsigo {
		return guid
	}
	const (
		kindSwitch = vendorXsigo<<8 | 1 // the GUID's first four bytes
		kindHCA    = vendorXsigo<<8 | 2
		kindTCA    = vendorXsigo<<8 | 3
		leafOne    = kindSwitch<<8 | 2 // and its first five
	)
	switch guid >> 32 {
	case kindSwitch:
		return guid &^ slot
	case kindHCA, kindTCA:
		// A module is wired to the first leaf switch of its chassis.
		if len(n.Ports) > 1 && n.Ports[1] != nil && n.Ports[1].Peer != nil {
			if leaf := n.Ports[1].Peer.Node.Info.SystemGUID; leaf>>24 == leafOne {
				return leaf &^ slot
			}
		}
	}
	return guid
}
