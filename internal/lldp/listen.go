package lldp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

const (
	etherType    = 0x88cc
	ethernetSize = 14
	frameSize    = 9216
)

// group is the address to which a neighbour sends; bridges do not forward it.
var group = [8]byte{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e}

// Listen waits for a frame on a network device until ctx ends: nil then. Neighbours send each
// 30 seconds by default. It requires CAP_NET_RAW. Frames that are not valid are ignored.
func Listen(ctx context.Context, netdev string) (*Neighbour, error) {
	device, err := net.InterfaceByName(netdev)
	if err != nil {
		return nil, fmt.Errorf("receive LLDP on %s: %w", netdev, err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("receive LLDP on %s: open socket: %w", netdev, err)
	}
	f := os.NewFile(uintptr(fd), "LLDP on "+netdev)
	defer f.Close()
	member := unix.PacketMreq{Ifindex: int32(device.Index), Type: unix.PACKET_MR_MULTICAST, Alen: 6, Address: group}
	err = errors.Join(
		unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &member),
		unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: networkOrder(etherType), Ifindex: device.Index}),
	)
	if err != nil {
		return nil, fmt.Errorf("receive LLDP on %s: %w", netdev, err)
	}
	defer context.AfterFunc(ctx, func() { f.Close() })()
	b := make([]byte, frameSize)
	for {
		n, err := f.Read(b)
		switch {
		case ctx.Err() != nil:
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("receive LLDP: %w", err)
		case n < ethernetSize:
			continue
		}
		if neighbour, err := Parse(b[ethernetSize:n]); err == nil {
			return neighbour, nil
		}
	}
}

// networkOrder returns a protocol number as the kernel expects it.
func networkOrder(v uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v))
}
