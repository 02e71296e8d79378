package guest

import (
	"fmt"
	"io"
	"net/netip"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/debian"
)

// Spec describes a guest. The zero value has busybox and no RDMA.
type Spec struct {
	// Name identifies the guest in errors.
	Name string

	// Release has the kernel and the Tools. The default is this machine's.
	Release *debian.Release

	// ToolsFrom has the Tools, if they are newer than the kernel.
	ToolsFrom *debian.Release

	// Devices are created in this order.
	Devices []Device

	// Tools are Debian programs, by name. Their libraries are added.
	Tools []string

	// Programs are Go programs from this tree.
	Programs []Program

	// Files are files and directories on this machine, by absolute path in the guest.
	Files map[string]string

	// Modules are kernel modules to load, by name. Insert are modules from
	// [Kernel.BuildModule], by path on this machine. They are loaded after the modules
	// that Devices need, before the devices are created.
	Modules, Insert []string

	// Capture is a file on this machine for the packets on Wire, in pcap format. It is
	// complete after the guest has ended.
	Capture string

	// Machine are further QEMU arguments, for example for PCI functions.
	Machine []string

	// Timeout is the longest time that the guest runs. Zero is 20 minutes, or two hours with
	// all cases.
	Timeout time.Duration

	// Quiet is the longest time that a test step may wait without progress, see
	// [HangError]. Zero is 110 seconds.
	Quiet time.Duration

	// Log receives the kernel's console output and program output. It may be nil.
	Log io.Writer

	// Interactive connects this process's terminal to [Guest.Shell].
	Interactive bool
}

// defaultTimeout applies to a Spec without a timeout. It is more than four times as long
// as the longest test on a quiet machine.
func defaultTimeout() time.Duration {
	if testenv.AllCases() {
		return 2 * time.Hour
	}
	return 20 * time.Minute
}

// Device is a Soft-RoCE device on a separate network device. When Boot returns, it is
// active and has GIDs for an IPv6 link-local and an IPv4 address.
type Device struct {
	Name string
	Link Link
}

// Link is the kind of network device below an RDMA device.
type Link int

// The Link kinds.
const (
	Dummy Link = iota // it talks to itself only
	Veth              // one end of a pair; the other end is up and has no address
	Wire              // joins guests, see BootPair and BootSwitched; several: rails of a Switch
)

// Port has a Device's names and address in a guest.
type Port struct {
	Device string     // RDMA device
	Netdev string     // network device
	Addr   netip.Addr // IPv4
}

// prefixLen is the prefix length for all addresses.
const prefixLen = 24

// ports returns the network devices and their addresses: 10.0.DEVICE.HOST, or 10.1.RAIL.HOST
// on a wire.
func (s Spec) ports(host int) []Port {
	ports, rail := make([]Port, len(s.Devices)), 0
	for i, d := range s.Devices {
		p := Port{Device: d.Name, Addr: netip.AddrFrom4([4]byte{10, 0, byte(i), byte(host)})}
		switch d.Link {
		case Veth:
			p.Netdev = fmt.Sprintf("veth%d", i)
		case Wire:
			p.Netdev, p.Addr = fmt.Sprintf("eth%d", rail), netip.AddrFrom4([4]byte{10, 1, byte(rail), byte(host)})
			rail++
		default:
			p.Netdev = fmt.Sprintf("dummy%d", i)
		}
		ports[i] = p
	}
	return ports
}

// rdmaModules are loaded if there are devices.
var rdmaModules = []string{"ib_uverbs", "ib_umad", "rdma_ucm", "rdma_rxe"}

// crc32 has the algorithm that rdma_rxe requests by name, without a dependency, in kernels
// with this module. Linux 7.2 has a function instead.
const crc32 = "crc32_generic"

// module is the network device driver.
func (l Link) module() string {
	return [...]string{Dummy: "dummy", Veth: "veth", Wire: "virtio_net"}[l]
}

// wires returns the number of wires.
func (s Spec) wires() (n int) {
	for _, d := range s.Devices {
		if d.Link == Wire {
			n++
		}
	}
	return n
}
