package sysfs

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

const (
	infiniband    = "class/infiniband"
	infinibandMAD = "class/infiniband_mad"
)

// A Device is a directory class/infiniband/<Name>.
type Device struct {
	Name     string
	NodeType uint8   // node_type: 1 channel adapter, 2 switch, 3 router
	NodeGUID ib.GUID // node_guid; 0 if the file does not exist
}

// Device reads a device.
func (fs FS) Device(name string) (Device, error) {
	nodeType, err := fs.readUint(8, infiniband, name, "node_type")
	if err != nil {
		return Device{}, err
	}
	d := Device{Name: name, NodeType: uint8(nodeType)}
	if text, err := fs.read(infiniband, name, "node_guid"); err == nil {
		if d.NodeGUID, err = parseGUID(text); err != nil {
			return d, fmt.Errorf("read node_guid of %s: %w", name, err)
		}
	}
	return d, nil
}

// A Port is a directory class/infiniband/<Device>/ports/<Number>.
type Port struct {
	Device    string
	Number    uint8
	LinkLayer string       // link_layer; "InfiniBand" if the file does not exist
	State     ib.PortState // state, encoded as in PortInfo
	PhysState ib.PhysState // phys_state, encoded as in PortInfo
	LID       ib.LID       // lid
	LMC       uint8        // lid_mask_count
	SMLID     ib.LID       // sm_lid
	SMSL      uint8        // sm_sl
	CapMask   uint32       // cap_mask, PortInfo's CapabilityMask; 0 if the file does not exist
	GIDPrefix uint64       // gids/0's upper half; 0 if the file does not exist
	GUID      ib.GUID      // gids/0's lower half
}

// Port reads a device port.
func (fs FS) Port(device string, number uint8) (Port, error) {
	p, err := fs.port(device, number)
	if err != nil {
		return p, fmt.Errorf("read port %d of %s: %w", number, device, err)
	}
	return p, nil
}

func (fs FS) port(device string, number uint8) (Port, error) {
	dir := infiniband + "/" + device + "/ports/" + strconv.Itoa(int(number))
	p := Port{Device: device, Number: number, LinkLayer: "InfiniBand"}
	var state, phys, lid, lmc, smLID, smSL uint64
	for _, f := range []struct {
		file string
		bits int
		to   *uint64
	}{
		{"state", 8, &state}, {"phys_state", 8, &phys}, {"lid", 16, &lid},
		{"lid_mask_count", 8, &lmc}, {"sm_lid", 16, &smLID}, {"sm_sl", 8, &smSL},
	} {
		var err error
		if *f.to, err = fs.readUint(f.bits, dir, f.file); err != nil {
			return p, err
		}
	}
	p.State, p.PhysState = ib.PortState(state), ib.PhysState(phys)
	p.LID, p.LMC, p.SMLID, p.SMSL = ib.LID(lid), uint8(lmc), ib.LID(smLID), uint8(smSL)
	if caps, err := fs.readUint(32, dir, "cap_mask"); err == nil {
		p.CapMask = uint32(caps)
	}
	if layer, err := fs.read(dir, "link_layer"); err == nil {
		p.LinkLayer = layer
	}
	if gid, err := fs.read(dir, "gids/0"); err == nil {
		if p.GIDPrefix, p.GUID, err = parseGID(gid); err != nil {
			return p, err
		}
	}
	return p, nil
}

// DeviceNames returns the device names in readdir order, which libibumad uses to
// choose a device.
func (fs FS) DeviceNames() []string {
	dir, err := os.Open(fs.path(infiniband))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // on errors, use the names read so far
	return names
}

// A MADNode is a directory class/infiniband_mad/umad<N>. The device node carries the
// MADs for a port.
type MADNode struct {
	Name   string // "umad0"
	Device string // ibdev
	Port   uint8  // port
}

// MADNodes reads the MAD device nodes in ascending order. It omits nodes that cannot be
// read, for example because the device is being removed. The error is nil if any node could
// be read, or if files do not exist.
func (fs FS) MADNodes() ([]MADNode, error) {
	names, err := fs.list("umad", infinibandMAD)
	if err != nil {
		return nil, err
	}
	var nodes []MADNode
	var failed []error
	for _, name := range names {
		device, err := fs.read(infinibandMAD, name, "ibdev")
		var port uint64
		if err == nil {
			port, err = fs.readUint(8, infinibandMAD, name, "port")
		}
		switch {
		case err == nil:
			nodes = append(nodes, MADNode{name, device, uint8(port)})
		case !errors.Is(err, os.ErrNotExist):
			failed = append(failed, err)
		}
	}
	if nodes == nil {
		return nil, errors.Join(failed...)
	}
	return nodes, nil
}

// MADABIVersion reads the ABI version for MAD device nodes.
func (fs FS) MADABIVersion() (int, error) {
	n, err := fs.readUint(31, infinibandMAD, "abi_version")
	return int(n), err
}

// parseGUID parses a GUID with four groups, for example "0002:c903:00a0:1b2c".
func parseGUID(s string) (ib.GUID, error) {
	b, err := hexGroups(s, 4)
	if err != nil {
		return 0, err
	}
	return ib.GUID(be64(b)), nil
}

// parseGID parses a GID with eight four-digit groups.
func parseGID(s string) (prefix uint64, guid ib.GUID, err error) {
	b, err := hexGroups(s, 8)
	if err != nil {
		return 0, 0, err
	}
	return be64(b), ib.GUID(be64(b[8:])), nil
}

func hexGroups(s string, groups int) ([]byte, error) {
	var b []byte
	all := strings.Split(s, ":")
	for _, group := range all {
		two, err := hex.DecodeString(group)
		if err != nil || len(two) != 2 || len(all) != groups {
			return nil, fmt.Errorf("%q is not %d groups of four hexadecimal digits", s, groups)
		}
		b = append(b, two...)
	}
	return b, nil
}

func be64(b []byte) (v uint64) {
	for _, x := range b[:8] {
		v = v<<8 | uint64(x)
	}
	return v
}
