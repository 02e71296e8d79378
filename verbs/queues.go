package verbs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/neighbour"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/internal/bnxt"
	"github.com/ibkit/ibkit/verbs/internal/efa"
	"github.com/ibkit/ibkit/verbs/internal/irdma"
	"github.com/ibkit/ibkit/verbs/internal/mlx5"
	"github.com/ibkit/ibkit/verbs/internal/pvrdma"
	"github.com/ibkit/ibkit/verbs/internal/rxe"
	"github.com/ibkit/ibkit/verbs/internal/siw"
	"github.com/ibkit/ibkit/verbs/provider"
)

// ErrNoProvider is returned for a device with a driver that has no provider: CQs, QPs,
// SRQs and AHs cannot be created.
var ErrNoProvider = errors.New("the queues of this driver are not supported")

// providers are the provider constructors by driver.
var providers = map[DriverID]newProvider{
	DriverBNXTRE: bnxt.New,
	DriverEFA:    efa.New,
	DriverIRDMA:  irdma.New,
	DriverMLX5:   mlx5.New,
	DriverPVRDMA: pvrdma.New,
	DriverRXE:    always(rxe.New),
	DriverSIW:    always(siw.New),
}

// abiVersions are the first and the last driver interface version that its provider knows
// (*_UVERBS_ABI_VERSION in <rdma/*-abi.h>).
var abiVersions = map[DriverID][2]uint64{
	DriverBNXTRE: {1, 1}, DriverEFA: {1, 1}, DriverIRDMA: {4, 5}, DriverMLX5: {1, 1}, DriverPVRDMA: {3, 3}, DriverRXE: {1, 2}, DriverSIW: {1, 1},
}

// checkABI compares the driver's interface version. A kernel that does not
// report a version is accepted.
func checkABI(fs sysfs.FS, driver DriverID, path string) error {
	var problems []error // ignored: without the file, the version is unknown
	got := fs.Dir(&problems, "class/infiniband_verbs", filepath.Base(path)).Uint("abi_version", 32)
	if known := abiVersions[driver]; got != nil && (*got < known[0] || *got > known[1]) {
		return fmt.Errorf("%w: the kernel has version %d of the interface of %v, want %d", ErrNoProvider, *got, driver, known[1])
	}
	return nil
}

// nodeRNIC is the type of iWARP devices (enum rdma_node_type).
const nodeRNIC = 4

// isIWARP reports whether a device is an iWARP device. A driver may have devices of both
// kinds (irdma).
func isIWARP(fs sysfs.FS, driver DriverID, name string) bool {
	var problems []error // ignored: without the file, the driver decides
	kind := fs.Dir(&problems, "class/infiniband", name).Uint("node_type", 8)
	return driver == DriverSIW || driver == DriverIRDMA && kind != nil && *kind == nodeRNIC
}

// A newProvider creates a driver's provider. response is the driver's response to
// GET_CONTEXT.
type newProvider func(d provider.Device, response []byte) (provider.Provider, error)

// always is a provider constructor for all its driver's kernels and devices.
func always(f func(provider.Device) provider.Provider) newProvider {
	return func(d provider.Device, _ []byte) (provider.Provider, error) { return f(d), nil }
}

// findProvider creates the driver's provider, if there is any. path is the device
// node.
func (c *Context) findProvider(path string) {
	c.providerErr = ErrNoProvider
	if f := providers[c.driver]; f != nil {
		err := checkABI(sysfs.Default, c.driver, path)
		if err != nil {
			c.providerErr = err
			return
		}
		if c.provider, err = f(queueDevice{c}, c.vendor.out); err != nil {
			c.providerErr = fmt.Errorf("%w: %w", ErrNoProvider, err)
		}
	}
}

// CheckQueues returns nil if queues can be created on the device, and ErrNoProvider
// if not.
func (c *Context) CheckQueues() error {
	if c.provider == nil {
		return c.noProvider("map queues")
	}
	return nil
}

func (c *Context) noProvider(op string) error {
	return fmt.Errorf("%s of %s (%v): %w", op, c.name, c.driver, c.providerErr)
}

// queueDevice gives a provider access to a context.
type queueDevice struct{ context *Context }

// Map maps driver memory for reading and writing.
func (d queueDevice) Map(offset uint64, length int) ([]byte, error) {
	return d.mapMemory(offset, length, unix.PROT_READ|unix.PROT_WRITE)
}

// MapRead maps driver memory for reading.
func (d queueDevice) MapRead(offset uint64, length int) ([]byte, error) {
	return d.mapMemory(offset, length, unix.PROT_READ)
}

func (d queueDevice) mapMemory(offset uint64, length, protection int) ([]byte, error) {
	c := d.context
	c.lock.RLock()
	defer c.lock.RUnlock()
	if c.closed {
		return nil, closedError("map queue", c.name)
	}
	b, err := c.mapQueue(int64(offset), length, protection)
	if err != nil {
		return nil, &CallError{Op: fmt.Sprintf("map %d bytes of queue", length), Device: c.name, Err: err}
	}
	return b, nil
}

// Call calls a driver method.
func (d queueDevice) Call(op string, object, method uint16, attrs ...provider.Attr) error {
	r := newRequest(op, object, method)
	created := make([]*uapi.UverbsAttr, len(attrs))
	for i, a := range attrs {
		switch {
		case a.Handle != nil:
			created[i] = r.handle(a.ID, *a.Handle)
		case a.Constant != nil:
			r.constant(a.ID, *a.Constant)
		case a.In != nil:
			r.in(a.ID, a.In)
		default:
			r.out(a.ID, a.Out)
		}
	}
	if err := d.context.call(r); err != nil {
		return err
	}
	for i, a := range attrs {
		if a.Handle != nil {
			*a.Handle = uint32(createdHandle(created[i]))
		}
	}
	return nil
}

// QueryDevice stores the driver's part of the response to the extended command.
func (d queueDevice) QueryDevice(vendor []byte) error {
	var core uapi.ExQueryDevice
	var resp uapi.ExQueryDeviceResp
	return d.context.write("query device", uapi.CmdExQueryDevice, uapi.Bytes(&core), uapi.Bytes(&resp), vendor)
}

// PollCQ polls a completion queue in the kernel, which returns no completions for a queue of
// user space.
func (d queueDevice) PollCQ(cq uint32) error {
	core := uapi.PollCQ{CQHandle: cq, NE: 1}
	var resp struct {
		uapi.PollCQResp
		uapi.WC
	}
	return d.context.call(writeRequest("poll CQ", uapi.CmdPollCQ, uapi.Bytes(&core), uapi.Bytes(&resp), nil, nil))
}

// NUMANode returns the memory node closest to the device.
func (d queueDevice) NUMANode() *int { return d.context.NUMANode() }

// networks are the GID packet formats.
var networks = map[GIDType]provider.Network{
	GIDTypeIB: provider.InfiniBand, GIDTypeRoCEv1: provider.RoCEv1, GIDTypeRoCEv2: provider.RoCEv2,
}

// Network returns a GID's packet format. An InfiniBand port has a single format.
func (d queueDevice) Network(port, gidIndex uint8) (provider.Network, error) {
	attr, err := d.context.QueryPort(uint32(port))
	switch {
	case err == nil && attr.LinkLayer != ib.LinkLayerEthernet && attr.GRHRequired:
		return provider.GlobalInfiniBand, nil
	case err != nil || attr.LinkLayer != ib.LinkLayerEthernet:
		return provider.InfiniBand, err
	}
	gid, err := d.context.GID(uint32(port), uint32(gidIndex))
	return networks[gid.Type], err
}

// GID returns an entry of a port's GID table.
func (d queueDevice) GID(port, gidIndex uint8) (netip.Addr, error) {
	gid, err := d.context.GID(uint32(port), uint32(gidIndex))
	return gid.GID, err
}

// resolveTimeout limits MAC's address resolution: the kernel gives up after 3 s.
const resolveTimeout = 5 * time.Second

// MAC returns the Ethernet address of the first hop to a GID.
func (d queueDevice) MAC(path Path) ([6]byte, error) {
	ip := path.DGID.Unmap()
	if mac, ok := multicastMAC(ip); ok {
		return mac, nil
	}
	if ip.Is6() && ip.IsLinkLocalUnicast() {
		gid, err := d.context.GID(uint32(path.Port), uint32(path.SGIDIndex))
		if err != nil {
			return [6]byte{}, err
		}
		netdev, err := net.InterfaceByIndex(int(gid.Ifindex))
		if err != nil {
			return [6]byte{}, fmt.Errorf("find network device of GID %d: %w", path.SGIDIndex, err)
		}
		ip = ip.WithZone(netdev.Name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveTimeout)
	defer cancel()
	hop, err := neighbour.Lookup(ctx, ip)
	if err != nil {
		return [6]byte{}, err
	}
	if len(hop.LinkAddr) != 6 {
		return [6]byte{}, fmt.Errorf("%v is reached by %s, which has no Ethernet addresses", path.DGID, hop.Netdev)
	}
	return [6]byte(hop.LinkAddr), nil
}

// multicastMAC returns a multicast group's Ethernet address: a prefix and the last 23
// bits in an IPv4 address (RFC 1112, 6.4), or 32 in an IPv6 address (RFC 2464, 7). An IPv4
// group's GID has the prefix ff0e::ffff:0:0 (<rdma/ib_addr.h>, rdma_ip2gid). It returns
// false for other addresses.
func multicastMAC(ip netip.Addr) (mac [6]byte, ok bool) {
	a := ip.As16()
	switch {
	case !ip.IsMulticast():
		return mac, false
	case ip.Is4() || [12]byte(a[:12]) == [12]byte{0: 0xff, 1: 0x0e, 10: 0xff, 11: 0xff}:
		return [6]byte{0x01, 0x00, 0x5e, a[13] & 0x7f, a[14], a[15]}, true
	}
	return [6]byte{0x33, 0x33, a[12], a[13], a[14], a[15]}, true
}

// Unmap undoes Map.
func (d queueDevice) Unmap(b []byte) error { return d.context.unmapQueue(b) }
