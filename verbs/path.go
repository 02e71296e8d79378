package verbs

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// destOf converts a path for a queue pair.
func destOf(p Path) uapi.QPDest {
	d := uapi.QPDest{
		DLID: uint16(p.DLID), SL: p.SL, SrcPathBits: p.SrcPathBits, StaticRate: uint8(p.StaticRate), PortNum: p.Port,
	}
	if p.DGID.IsValid() {
		d.DGID, d.IsGlobal = p.DGID.As16(), 1
		d.FlowLabel, d.SGIDIndex, d.HopLimit, d.TrafficClass = p.FlowLabel, p.SGIDIndex, p.HopLimit, p.TrafficClass
	}
	return d
}

// ahAttrOf converts a path for an address handle.
func ahAttrOf(p Path) uapi.AHAttr {
	d := destOf(p)
	return uapi.AHAttr{
		GRH: uapi.GlobalRoute{
			DGID: d.DGID, FlowLabel: d.FlowLabel, SGIDIndex: d.SGIDIndex, HopLimit: d.HopLimit, TrafficClass: d.TrafficClass,
		},
		DLID: d.DLID, SL: d.SL, SrcPathBits: d.SrcPathBits, StaticRate: d.StaticRate, IsGlobal: d.IsGlobal, PortNum: d.PortNum,
	}
}

// pathOf converts the path that the kernel returns for a queue pair.
func pathOf(d uapi.QPDest) Path {
	p := Path{
		DLID: ib.LID(d.DLID), SL: d.SL, SrcPathBits: d.SrcPathBits, StaticRate: ib.Rate(d.StaticRate), Port: d.PortNum,
	}
	if d.IsGlobal != 0 {
		p.DGID = netip.AddrFrom16(d.DGID)
		p.FlowLabel, p.SGIDIndex, p.HopLimit, p.TrafficClass = d.FlowLabel, d.SGIDIndex, d.HopLimit, d.TrafficClass
	}
	return p
}

// explainPath adds the reason to the kernel's error for a path, if it can be
// determined: the kernel returns the same few errors for all reasons.
func (c *Context) explainPath(p Path, err error) error {
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENODATA) {
		return err
	}
	port, e := c.QueryPort(uint32(p.Port))
	switch {
	case errors.Is(e, unix.EINVAL):
		return fmt.Errorf("%w (no port %d)", err, p.Port)
	case e != nil:
		return err
	case !p.DGID.IsValid() && port.LinkLayer == ib.LinkLayerEthernet:
		return fmt.Errorf("%w (a path over Ethernet needs a GID)", err)
	case !p.DGID.IsValid() && port.GRHRequired:
		return fmt.Errorf("%w (a path from port %d needs a GID)", err, p.Port)
	case !p.DGID.IsValid():
		return err
	}
	own, e := c.GID(uint32(p.Port), uint32(p.SGIDIndex))
	switch {
	case errors.Is(e, unix.ENODATA):
		return fmt.Errorf("%w (GID %d of port %d is empty)", err, p.SGIDIndex, p.Port)
	case errors.Is(e, unix.EINVAL):
		return fmt.Errorf("%w (port %d has no GID %d)", err, p.Port, p.SGIDIndex)
	case e == nil && own.Type == GIDTypeRoCEv2 && own.GID.Unmap().Is4() != p.DGID.Unmap().Is4():
		return fmt.Errorf("%w (GID %d is %v and cannot reach %v: both must be IPv4 or both IPv6)",
			err, p.SGIDIndex, own.GID, p.DGID)
	}
	return err
}
