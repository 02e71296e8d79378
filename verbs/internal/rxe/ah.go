package rxe

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/uapi"
	"github.com/ibkit/ibkit/verbs/provider"
)

// An ah is an address handle, which the kernel looks up by its number. Before Linux 5.15 the
// number is 0, and each work request contains the address.
type ah struct {
	number  uint32
	address uapi.RXEAV
}

// NewAH creates an address handle.
func (p rxe) NewAH(path provider.Path, _ uint32, create provider.Create) (any, error) {
	var resp uapi.RXECreateAHResp
	if _, err := create(nil, uapi.Bytes(&resp)); err != nil {
		return nil, err
	}
	if resp.AHNum != 0 {
		return &ah{number: resp.AHNum}, nil
	}
	source, err := p.device.GID(path.Port, path.SGIDIndex)
	if err != nil {
		return nil, err
	}
	mac, err := p.device.MAC(path)
	if err != nil {
		return nil, err
	}
	network := uint8(uapi.RXENetworkTypeIPv6)
	if path.DGID.Unmap().Is4() {
		network = uapi.RXENetworkTypeIPv4
	}
	return &ah{address: uapi.RXEAV{
		PortNum: path.Port, NetworkType: network, DMAC: mac, DGID: path.DGID.As16(), FlowLabel: path.FlowLabel, SGIDIndex: path.SGIDIndex,
		HopLimit: path.HopLimit, TrafficClass: path.TrafficClass, SGIDAddr: socketAddress(source), DGIDAddr: socketAddress(path.DGID),
	}}, nil
}

// socketAddress returns a GID as struct sockaddr_in6, or as struct sockaddr_in without the
// family, as librxe does (rdma_gid2ip in rxe.c).
func socketAddress(gid netip.Addr) (b [28]byte) {
	if ip := gid.Unmap(); ip.Is4() {
		copy(b[4:], ip.AsSlice())
		return b
	}
	binary.NativeEndian.PutUint16(b[:], unix.AF_INET6)
	copy(b[8:], gid.AsSlice())
	return b
}
