package sysfs

import (
	"net/netip"
	"strconv"
)

// A GID is an entry of a port's GID table.
type GID struct {
	Index  uint32 // in the table
	GID    netip.Addr
	Type   *string // gid_attrs/types, such as "RoCE v2"
	Netdev *string // gid_attrs/ndevs; InfiniBand's have none
}

// GIDs reads the GID table of a port in whose folder d is. Entries that are empty
// are left out.
func (d Dir) GIDs(linkLayer *string) []GID {
	gids, attrs := d.Sub("gids"), d.Sub("gid_attrs")
	types, ndevs := attrs.Sub("types"), attrs.Sub("ndevs")
	// An empty entry's type and netdev are EINVAL to read, so only those of GIDs
	// that are there are asked for.
	var all []GID
	for _, i := range gids.Numbers(1<<16 - 1) {
		name := strconv.Itoa(i)
		text := gids.Text(name)
		if text == nil {
			continue
		}
		gid, err := netip.ParseAddr(*text)
		if err != nil || !gid.Is6() || gid.IsUnspecified() {
			continue
		}
		g := GID{Index: uint32(i), GID: gid, Type: types.Text(name)}
		if linkLayer == nil || *linkLayer != "InfiniBand" {
			g.Netdev = ndevs.Text(name) // InfiniBand's have none, which is EINVAL
		}
		if g.Type != nil {
			*g.Type = gidType(*g.Type, linkLayer)
		}
		all = append(all, g)
	}
	return all
}

// gidType names a type of sysfs as ibv_devinfo does: InfiniBand's and that of
// RoCE v1 are one in sysfs.
func gidType(kind string, layer *string) string {
	if kind == "IB/RoCE v1" {
		if layer != nil && *layer == "Ethernet" {
			return "RoCE v1"
		}
		return "IB"
	}
	return kind
}

// GIDs reads the GID table of a port of a device. What cannot be read is left out.
func (fs FS) GIDs(device string, port uint8) []GID {
	var problems []error
	d := fs.Dir(&problems, infiniband, device, "ports", strconv.Itoa(int(port)))
	return d.GIDs(d.Text("link_layer"))
}
