// Package ethtool reads a network device's statistics and pause settings with the ioctl
// SIOCETHTOOL (linux/ethtool.h).
package ethtool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Constants from linux/ethtool.h.
const (
	cmdPause      = 0x12 // ETHTOOL_GPAUSEPARAM
	cmdNames      = 0x1b // ETHTOOL_GSTRINGS
	cmdStatistics = 0x1d // ETHTOOL_GSTATS
	cmdCounts     = 0x37 // ETHTOOL_GSSET_INFO

	setStatistics = 1  // ETH_SS_STATS
	nameSize      = 32 // ETH_GSTRING_LEN

	countsSize       = 20 // cmd, reserved; __u64 sset_mask; data of a set
	namesHeader      = 12 // cmd, string_set, len
	statisticsHeader = 8  // cmd, n_stats
	pauseSize        = 16 // cmd, autoneg, rx_pause, tx_pause
)

// spare is the space for more statistics than the driver has reported: a kernel writes as many
// as the device has at that time, and queues may be added meanwhile.
const spare = 4096

// A socket is a network device's socket for requests.
type socket struct {
	fd     int
	netdev string
}

func open(netdev string) (socket, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return socket{}, fmt.Errorf("open socket: %w", err)
	}
	return socket{fd, netdev}, nil
}

// request sends a request, of which b is the structure with its buffer.
func (s socket) request(b []byte) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&b[0])
	ifreq := struct { // struct ifreq
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}{data: unsafe.Pointer(&b[0])}
	if len(s.netdev) >= len(ifreq.name) {
		return unix.ENODEV
	}
	copy(ifreq.name[:], s.netdev)
	pin.Pin(&ifreq)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s.fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&ifreq))); errno != 0 {
		return errno
	}
	return nil
}

// Statistics returns a network device's statistics by name; nil without statistics.
// Errors wrap a system call's error.
func Statistics(netdev string) (map[string]uint64, error) {
	s, err := open(netdev)
	if err != nil {
		return nil, err
	}
	defer unix.Close(s.fd)
	all, err := s.statistics()
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("query statistics of %s: %w", netdev, err)
	}
	return all, nil
}

// count returns the statistic count.
func (s socket) count() (uint32, error) {
	b := make([]byte, countsSize)
	binary.NativeEndian.PutUint32(b, cmdCounts)
	binary.NativeEndian.PutUint64(b[8:], 1<<setStatistics)
	if err := s.request(b); err != nil {
		return 0, err
	}
	return binary.NativeEndian.Uint32(b[16:]), nil
}

func (s socket) statistics() (map[string]uint64, error) {
	n, err := s.count()
	if err != nil || n == 0 {
		return nil, err
	}
	room := int(n) + spare
	names := make([]byte, namesHeader+room*nameSize)
	binary.NativeEndian.PutUint32(names, cmdNames)
	binary.NativeEndian.PutUint32(names[4:], setStatistics)
	binary.NativeEndian.PutUint32(names[8:], n)
	if err := s.request(names); err != nil {
		return nil, err
	}
	values := make([]byte, statisticsHeader+room*8)
	binary.NativeEndian.PutUint32(values, cmdStatistics)
	binary.NativeEndian.PutUint32(values[4:], n)
	if err := s.request(values); err != nil {
		return nil, err
	}
	return parse(names, values)
}

// parse parses struct ethtool_gstrings and struct ethtool_stats.
func parse(names, values []byte) (map[string]uint64, error) {
	if len(names) < namesHeader || len(values) < statisticsHeader {
		return nil, fmt.Errorf("reply of %d and %d bytes is too short", len(names), len(values))
	}
	n, m := binary.NativeEndian.Uint32(names[8:]), binary.NativeEndian.Uint32(values[4:])
	names, values = names[namesHeader:], values[statisticsHeader:]
	if n != m || int(n) > len(names)/nameSize || int(n) > len(values)/8 {
		return nil, fmt.Errorf("got %d names and %d values: the statistics changed while they were read", n, m)
	}
	all := make(map[string]uint64, n)
	for i := range int(n) {
		name, _, _ := bytes.Cut(names[i*nameSize:(i+1)*nameSize], []byte{0})
		all[string(bytes.TrimSpace(name))] = binary.NativeEndian.Uint64(values[8*i:])
	}
	return all, nil
}

// Pause has the settings for pauses of the whole link (IEEE 802.3x).
type Pause struct {
	Receive  bool // pauses of the peer stop this device
	Transmit bool // this device sends pauses
}

// GlobalPause returns a network device's pause settings; nil without them.
func GlobalPause(netdev string) (*Pause, error) {
	s, err := open(netdev)
	if err != nil {
		return nil, err
	}
	defer unix.Close(s.fd)
	b := make([]byte, pauseSize)
	binary.NativeEndian.PutUint32(b, cmdPause)
	switch err := s.request(b); {
	case errors.Is(err, unix.EOPNOTSUPP):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("query pauses of %s: %w", netdev, err)
	}
	return &Pause{Receive: binary.NativeEndian.Uint32(b[8:]) != 0, Transmit: binary.NativeEndian.Uint32(b[12:]) != 0}, nil
}
