package guest

import (
	"fmt"
	"io"
	"net/netip"
	"time"
)

// Spec is what a guest has. The zero value has busybox and no RDMA.
type Spec struct {
	// Name tells guests apart in errors.
	Name string

	// Devices are made in this order.
	Devices []Device

	// Tools are programs of Debian that are installed on this machine, by
	// name. They come with the libraries they need.
	Tools []string

	// Programs are Go programs, built from this tree.
	Programs []Program

	// Files are files and folders of this machine, by their absolute path in
	// the guest.
	Files map[string]string

	// Modules are kernel modules to load, by name, and Insert such as
	// [Kernel.BuildModule] makes, by path on this machine. They are loaded
	// after those that Devices need, before the devices are made.
	Modules, Insert []string

	// Capture is a file of this machine that gets what goes over Wire, as pcap.
	// It is whole when the guest has ended.
	Capture string

	// Timeout is the longest time that the guest runs. Zero is 20 minutes.
	Timeout time.Duration

	// Log gets the console of the kernel and what programs print, as it
	// comes. It may be nil.
	Log io.Writer

	// Interactive gives the terminal of this process to [Guest.Shell].
	Interactive bool
}

// defaultTimeout applies to a Spec without a timeout. It is more than four times the
// duration of the longest test on a quiet machine.
const defaultTimeout = 20 * time.Minute

// Device is a Soft-RoCE device on a network device that is made for it. It is
// active and has GIDs of an IPv6 link-local and of an IPv4 address when Boot
// returns.
type Device struct {
	Name string
	Link Link
}

// Link is the kind of network device below an RDMA device.
type Link int

// The kinds of Link.
const (
	Dummy Link = iota // it talks to itself only
	Veth              // one end of a pair; the other one is up and has no address
	Wire              // joins two guests, see BootPair; one in each
)

// Port is what became of a Device.
type Port struct {
	Device string     // RDMA device
	Netdev string     // network device
	Addr   netip.Addr // IPv4
}

// prefixLen is that of all addresses.
const prefixLen = 24

// ports names the network devices and gives them addresses: 10.0.DEVICE.HOST.
func (s Spec) ports(host int) []Port {
	ports := make([]Port, len(s.Devices))
	for i, d := range s.Devices {
		ports[i] = Port{
			Device: d.Name,
			Netdev: d.Link.netdev(i),
			Addr:   netip.AddrFrom4([4]byte{10, 0, byte(i), byte(host)}),
		}
		if d.Link == Wire {
			ports[i].Addr = netip.AddrFrom4([4]byte{10, 1, 0, byte(host)})
		}
	}
	return ports
}

func (l Link) netdev(i int) string {
	switch l {
	case Veth:
		return fmt.Sprintf("veth%d", i)
	case Wire:
		return "eth0"
	default:
		return fmt.Sprintf("dummy%d", i)
	}
}

// rdmaModules are loaded if there are devices.
var rdmaModules = []string{"ib_uverbs", "ib_umad", "rdma_ucm", "rdma_rxe", "crc32_generic"}

// module is the driver of a network device.
func (l Link) module() string {
	return [...]string{Dummy: "dummy", Veth: "veth", Wire: "virtio_net"}[l]
}

// wired tells whether the spec has a wire.
func (s Spec) wired() bool {
	for _, d := range s.Devices {
		if d.Link == Wire {
			return true
		}
	}
	return false
}
