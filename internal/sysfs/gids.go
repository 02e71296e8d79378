package sysfs

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"
)

// A GID is an entry in a port's GID table.
type GID struct {
	Index  uint32
	GID    netip.Addr
	Type   *string // gid_attrs/types, for example "RoCE v2"
	Netdev *string // gid_attrs/ndevs; nil unless Ethernet
}

// GIDs reads the GID table for the port with the directory d. It omits empty entries.
func (d Dir) GIDs(linkLayer *string) []GID {
	gids, attrs := d.Sub("gids"), d.Sub("gid_attrs")
	types, ndevs := attrs.Sub("types"), attrs.Sub("ndevs")
	// For an empty entry, reading the type or the network device fails with EINVAL.
	var all []GID
	for _, i := range gids.Numbers(1<<16 - 1) {
		name := strconv.Itoa(i)
		text := gids.Text(name)
		if text == nil {
			continue
		}
		gid, err := netip.ParseAddr(*text)
		if err != nil || !gid.Is6() {
			*d.problems = append(*d.problems, fmt.Errorf("read %s: %q is not a GID", filepath.Join(gids.path, name), *text))
			continue
		}
		if gid.IsUnspecified() {
			continue
		}
		g := GID{Index: uint32(i), GID: gid, Type: types.Text(name)}
		if linkLayer == nil || *linkLayer == "Ethernet" {
			g.Netdev = ndevs.Text(name) // EINVAL on InfiniBand, and AWS's adapters
		}
		if g.Type != nil {
			*g.Type = gidType(*g.Type, linkLayer)
		}
		all = append(all, g)
	}
	return all
}

// gidType converts a GID type from sysfs, which has the same name for IB and RoCE v1, to
// the name that ibv_devinfo prints.
func gidType(kind string, layer *string) string {
	if kind == "IB/RoCE v1" {
		if layer != nil && *layer == "Ethernet" {
			return "RoCE v1"
		}
		return "IB"
	}
	return kind
}

// GIDs reads a port's GID table. It omits entries that cannot be read.
func (fs FS) GIDs(device string, port uint8) []GID {
	var problems []error
	d := fs.Dir(&problems, infiniband, device, "ports", strconv.Itoa(int(port)))
	return d.GIDs(d.Text("link_layer"))
}
