package rdmacm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/rdmahost"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs"
)

// Addresses are an ID's ends and its local port.
type Addresses struct {
	Local, Peer Addr // nil if not set

	// The local port. Port is 0 for an ID without a device, such as a listener on
	// all addresses.
	NodeGUID ib.GUID
	Port     uint8
	PKey     uint16
	Index    uint32 // device index in NETLINK_RDMA; 0 before Linux 5.9
}

// Addresses returns the ID's addresses.
func (id *ID) Addresses() (Addresses, error) {
	return id.queryAddresses("query addresses", uapi.CMQueryAddr)
}

// GIDs returns the ID's addresses as native InfiniBand addresses.
func (id *ID) GIDs() (Addresses, error) { return id.queryAddresses("query GIDs", uapi.CMQueryGID) }

func (id *ID) queryAddresses(op string, option uint32) (Addresses, error) {
	r, err := query[uapi.CMQueryAddrResp](id, op, uapi.CMCmdQuery, option)
	if err != nil {
		return Addresses{}, err
	}
	a, err := decodeAddresses(r)
	return a, callError(op, err)
}

func decodeAddresses(r uapi.CMQueryAddrResp) (a Addresses, err error) {
	a.NodeGUID = ib.GUID(binary.BigEndian.Uint64(r.NodeGUID[:]))
	a.Port, a.PKey, a.Index = r.PortNum, binary.BigEndian.Uint16(r.PKey[:]), r.DevIndex
	if a.Local, err = decodeAddr(r.Src); err == nil {
		a.Peer, err = decodeAddr(r.Dst)
	}
	return a, err
}

// query queries an ID.
func query[Out any](id *ID, op string, cmd, option uint32) (r Out, err error) {
	err = id.with(op, func(c *Channel) (err error) {
		r, err = request[Out](c, op, cmd, func(response uint64) uapi.CMQuery {
			return uapi.CMQuery{Response: response, ID: id.handle, Option: option}
		})
		return err
	})
	return r, err
}

// Device returns the ID's device, with which queue pairs for it must be created.
func (id *ID) Device() (verbs.Device, error) {
	a, err := id.Addresses()
	if err != nil {
		return verbs.Device{}, err
	}
	return a.Device()
}

// Device returns the local port's device.
func (a Addresses) Device() (verbs.Device, error) {
	if a.Port == 0 {
		return verbs.Device{}, errors.New("find device: the ID has none")
	}
	devices, err := verbs.Devices()
	devices = slices.DeleteFunc(devices, func(d verbs.Device) bool {
		attr, err := sysfs.Default.Device(d.Name)
		return err != nil || attr.NodeGUID != a.NodeGUID
	})
	switch {
	case len(devices) > 0:
		return devices[a.indexOf(devices)], nil
	case err == nil:
		err = fs.ErrNotExist
	}
	return verbs.Device{}, fmt.Errorf("find device with node GUID %v: %w", a.NodeGUID, err)
}

// indexOf returns the position of the local port's device. Several devices may have
// the same node GUID, such as Soft-RoCE on VLANs; the index selects a device among them.
func (a Addresses) indexOf(devices []verbs.Device) int {
	if len(devices) > 1 {
		known, _ := rdmahost.Query{Sysfs: sysfs.Default, Netlink: true}.Devices()
		for _, d := range known {
			if d.Netlink != nil && d.Netlink.Index == a.Index {
				return max(0, slices.IndexFunc(devices, func(v verbs.Device) bool { return v.Name == d.Name }))
			}
		}
	}
	return 0
}

// A PathRecord is a subnet administrator PathRecord in network byte order
// (InfiniBand Architecture, volume 1, 15.2.5.16).
type PathRecord = [64]byte

// PathRecords returns the paths to the peer as the subnet administrator's
// records. On RoCE they hold what the kernel derived from the neighbour.
func (id *ID) PathRecords() ([]PathRecord, error) {
	r, err := query[uapi.CMQueryPathResp](id, "query paths", uapi.CMCmdQuery, uapi.CMQueryPath)
	if err != nil {
		return nil, err
	}
	n := min(int(r.NumPaths), len(r.Paths))
	records := make([]PathRecord, n)
	for i := range records {
		records[i] = r.Paths[i].Record
	}
	return records, nil
}

// A Route is a path to the peer.
type Route struct {
	SGID, DGID   ib.GID
	SLID, DLID   ib.LID // 0 on RoCE
	SL           uint8
	PKey         uint16
	MTU          ib.MTU
	Rate         ib.Rate
	FlowLabel    uint32
	HopLimit     uint8
	TrafficClass uint8
}

// Routes returns the paths to the peer, the primary path first. Before the route is
// resolved, it has no paths.
func (id *ID) Routes() ([]Route, error) {
	r, err := query[uapi.CMQueryRouteResp](id, "query route", uapi.CMCmdQueryRoute, 0)
	if err != nil {
		return nil, err
	}
	return decodeRoutes(r), nil
}

func decodeRoutes(r uapi.CMQueryRouteResp) []Route {
	routes := make([]Route, min(int(r.NumPaths), len(r.Routes)))
	for i := range routes {
		p := r.Routes[i]
		routes[i] = Route{
			SGID: p.SGID, DGID: p.DGID,
			SLID: ib.LID(binary.BigEndian.Uint16(p.SLID[:])), DLID: ib.LID(binary.BigEndian.Uint16(p.DLID[:])),
			SL: p.SL, PKey: binary.BigEndian.Uint16(p.PKey[:]), MTU: ib.MTU(p.MTU), Rate: ib.Rate(p.Rate),
			FlowLabel: binary.BigEndian.Uint32(p.FlowLabel[:]), HopLimit: p.HopLimit, TrafficClass: p.TrafficClass,
		}
	}
	return routes
}
