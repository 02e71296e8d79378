// Package rdmanl queries RDMA devices over NETLINK_RDMA (RDMA_NL_NLDEV in
// <rdma/rdma_netlink.h>).
package rdmanl

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
)

// nldev is the netlink client for devices. A message type comprises the client and the
// command: RDMA_NL_GET_TYPE(client, op).
const nldev = 5

// Commands (enum rdma_nldev_command).
const (
	cmdGet        = 1
	cmdNewLink    = 3
	cmdDelLink    = 4
	cmdPortGet    = 5
	cmdResQPGet   = 10
	cmdResCMIDGet = 11
	cmdResCQGet   = 12
	cmdResMRGet   = 13
	cmdResPDGet   = 14
	cmdGetChardev = 15
	cmdStatSet    = 16
	cmdStatGet    = 17
	cmdResCtxGet  = 22
	cmdResSRQGet  = 23
	cmdStatStatus = 24
)

// Attributes (enum rdma_nldev_attr).
const (
	attrDevIndex      = 1
	attrDevName       = 2
	attrPortIndex     = 3
	attrFWVersion     = 5
	attrNodeGUID      = 6
	attrSysImageGUID  = 7
	attrLID           = 9
	attrSMLID         = 10
	attrLMC           = 11
	attrPortState     = 12
	attrPortPhysState = 13
	attrDevNodeType   = 14

	attrResQP           = 19
	attrResQPEntry      = 20
	attrResQPN          = 21
	attrResRemoteQPN    = 22
	attrResRQPSN        = 23
	attrResSQPSN        = 24
	attrResPathMig      = 25
	attrResType         = 26
	attrResState        = 27
	attrResPID          = 28
	attrResKernelName   = 29
	attrResCMID         = 30
	attrResPortSpace    = 32
	attrResSource       = 33
	attrResDestination  = 34
	attrResCQ           = 35
	attrResCQE          = 37
	attrResUsers        = 38
	attrResPollContext  = 39
	attrResMR           = 40
	attrResRKey         = 42
	attrResLKey         = 43
	attrResMRLength     = 45
	attrResPD           = 46
	attrResLocalDMALKey = 48
	attrResGlobalRKey   = 49
	attrNetdevIndex     = 50
	attrNetdevName      = 51
	attrResPDN          = 60
	attrResCQN          = 61
	attrResMRN          = 62
	attrResCMIDN        = 63
	attrResContextN     = 64
	attrLinkType        = 65
	attrProtocol        = 67
	attrChardevType     = 69
	attrChardevName     = 70
	attrUVerbsDriverID  = 73
	attrStatMode        = 74
	attrStatResource    = 75
	attrStatCounter     = 77
	attrStatCounterID   = 79
	attrStatHWCounters  = 80
	attrStatHWCounter   = 81
	attrStatHWName      = 82
	attrStatHWValue     = 83
	attrDIM             = 84
	attrResContext      = 86
	attrResSRQ          = 88
	attrResSRQN         = 90
	attrMinRange        = 91
	attrMaxRange        = 92
	attrStatHWIndex     = 94
	attrStatHWDynamic   = 95
	attrDevType         = 99
	attrParentName      = 100
)

// A Device contains the kernel's device attributes. Missing attributes are nil or "".
type Device struct {
	Index        uint32
	Name         string
	Ports        uint32 // last port number
	FWVersion    string
	NodeGUID     *ib.GUID
	SysImageGUID *ib.GUID
	NodeType     *uint8
	Protocol     string // "ib", "roce", "iw"

	// A device for subnet management packets, since Linux 6.11: an adapter with ports that
	// are divided into planes has such a device, with a port for each plane.
	SMI    bool
	Parent string // the adapter's device
}

// typeSMI is RDMA_DEVICE_TYPE_SMI.
const typeSMI = 1

// A Port contains the kernel's port attributes. Missing attributes are nil or "".
type Port struct {
	Device      string
	Number      uint32
	State       *ib.PortState
	PhysState   *ib.PhysState
	LID, SMLID  *uint32
	LMC         *uint8
	Netdev      string
	NetdevIndex *uint32
}

// A Conn is a netlink socket.
type Conn struct{ c *netlink.Conn }

// Dial opens a netlink socket. It returns fs.ErrNotExist if the kernel has no RDMA
// support.
func Dial() (*Conn, error) {
	c, err := netlink.Dial(unix.NETLINK_RDMA, nil)
	if errors.Is(err, unix.EPROTONOSUPPORT) {
		return nil, fmt.Errorf("open NETLINK_RDMA: %w: %w", err, fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("open NETLINK_RDMA: %w", err)
	}
	return &Conn{c}, nil
}

// Close closes the socket.
func (c *Conn) Close() error { return c.c.Close() }

// Devices returns all devices in this network namespace, sorted by index.
func (c *Conn) Devices() ([]Device, error) {
	return dump(c, cmdGet, nil, parseDevice)
}

// Ports returns a device's ports.
func (c *Conn) Ports(device uint32) ([]Port, error) {
	return dump(c, cmdPortGet, func(e *netlink.AttributeEncoder) { e.Uint32(attrDevIndex, device) }, parsePort)
}

// A Chardev is a device client's device node.
type Chardev struct {
	Name     string  // "uverbs0"
	DriverID *uint64 // enum rdma_driver_id; uverbs only
}

// UVerbs returns a device's uverbs node.
func (c *Conn) UVerbs(device uint32) (Chardev, error) {
	all, err := c.execute(cmdGetChardev, 0, func(e *netlink.AttributeEncoder) {
		e.Uint32(attrDevIndex, device)
		e.String(attrChardevType, "uverbs")
	})
	if err != nil {
		return Chardev{}, err
	}
	if len(all) == 0 {
		return Chardev{}, fmt.Errorf("query uverbs node of device %d: no reply", device)
	}
	return parseChardev(all[0].Data)
}

func dump[T any](c *Conn, cmd uint16, encode func(*netlink.AttributeEncoder), parse func([]byte) (T, error)) ([]T, error) {
	messages, err := c.execute(cmd, netlink.Dump, encode)
	if err != nil {
		return nil, err
	}
	var all []T
	for _, m := range messages {
		v, err := parse(m.Data)
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (c *Conn) execute(cmd uint16, flags netlink.HeaderFlags, encode func(*netlink.AttributeEncoder)) ([]netlink.Message, error) {
	e := netlink.NewAttributeEncoder()
	if encode != nil {
		encode(e)
	}
	data, err := e.Encode()
	if err != nil {
		return nil, err
	}
	messages, err := c.c.Execute(netlink.Message{
		Header: netlink.Header{Type: netlink.HeaderType(nldev<<10 | cmd), Flags: netlink.Request | flags},
		Data:   data,
	})
	if err != nil {
		return nil, fmt.Errorf("query NETLINK_RDMA: %w", err)
	}
	return messages, nil
}

func parseDevice(b []byte) (Device, error) {
	var d Device
	err := parse(b, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrDevIndex:
			d.Index = ad.Uint32()
		case attrDevName:
			d.Name = ad.String()
		case attrPortIndex:
			d.Ports = ad.Uint32()
		case attrFWVersion:
			d.FWVersion = ad.String()
		case attrNodeGUID:
			d.NodeGUID = new(ib.GUID(ad.Uint64())) // host byte order
		case attrSysImageGUID:
			d.SysImageGUID = new(ib.GUID(ad.Uint64()))
		case attrDevNodeType:
			d.NodeType = new(ad.Uint8())
		case attrProtocol:
			d.Protocol = ad.String()
		case attrDevType:
			d.SMI = ad.Uint8() == typeSMI
		case attrParentName:
			d.Parent = ad.String()
		}
	})
	return d, err
}

func parsePort(b []byte) (Port, error) {
	var p Port
	err := parse(b, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrDevName:
			p.Device = ad.String()
		case attrPortIndex:
			p.Number = ad.Uint32()
		case attrPortState:
			p.State = new(ib.PortState(ad.Uint8()))
		case attrPortPhysState:
			p.PhysState = new(ib.PhysState(ad.Uint8()))
		case attrLID:
			p.LID = new(ad.Uint32())
		case attrSMLID:
			p.SMLID = new(ad.Uint32())
		case attrLMC:
			p.LMC = new(ad.Uint8())
		case attrNetdevName:
			p.Netdev = ad.String()
		case attrNetdevIndex:
			p.NetdevIndex = new(ad.Uint32())
		}
	})
	return p, err
}

func parseChardev(b []byte) (Chardev, error) {
	var c Chardev
	err := parse(b, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrChardevName:
			c.Name = ad.String()
		case attrUVerbsDriverID:
			c.DriverID = new(uint64(ad.Uint32()))
		}
	})
	return c, err
}

func parse(b []byte, attribute func(*netlink.AttributeDecoder)) error {
	ad, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return fmt.Errorf("parse response of NETLINK_RDMA: %w", err)
	}
	for ad.Next() {
		attribute(ad)
	}
	if err := ad.Err(); err != nil {
		return fmt.Errorf("parse response of NETLINK_RDMA: %w", err)
	}
	return nil
}
