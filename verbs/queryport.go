package verbs

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/uapi"
)

// QueryPort returns a port's attributes. Ports are numbered from 1.
func (c *Context) QueryPort(port uint32) (PortAttr, error) {
	op := fmt.Sprintf("query port %d", port)
	var resp uapi.QueryPortRespEx
	r := newRequest(op, uapi.ObjectDevice, uapi.MethodQueryPort)
	r.constant(uapi.AttrQueryPortPortNum, uint64(port))
	r.out(uapi.AttrQueryPortResp, uapi.Bytes(&resp))
	err := c.call(r)
	if errors.Is(err, ErrUnknownMethod) && port <= 0xff {
		core := uapi.QueryPort{PortNum: uint8(port)}
		resp = uapi.QueryPortRespEx{}
		err = c.write(op, uapi.CmdQueryPort, uapi.Bytes(&core), uapi.Bytes(&resp.Legacy), nil)
	}
	if err != nil {
		return PortAttr{}, err
	}
	return portAttr(&resp), nil
}

// portAttr converts a response. The speed is from the wide field if the kernel
// sets it, because the other field has only 8 bits.
func portAttr(r *uapi.QueryPortRespEx) PortAttr {
	p := &r.Legacy
	speed := ib.Speed(r.ActiveSpeedEx)
	if speed == 0 {
		speed = ib.Speed(p.ActiveSpeed)
	}
	return PortAttr{
		State:         ib.PortState(p.State),
		MaxMTU:        ib.MTU(p.MaxMTU),
		ActiveMTU:     ib.MTU(p.ActiveMTU),
		SMLID:         ib.LID(p.SMLID),
		LID:           ib.LID(p.LID),
		LMC:           p.LMC,
		LinkLayer:     ib.LinkLayer(p.LinkLayer),
		MaxMsgSize:    p.MaxMsgSize,
		Caps:          PortCaps(p.CapFlags),
		Caps2:         r.CapFlags2,
		MaxVL:         ib.VLCap(p.MaxVLNum),
		BadPKeys:      p.BadPKeyCntr,
		QKeyViols:     p.QKeyViolCntr,
		SMSL:          p.SMSL,
		PKeyTableLen:  p.PKeyTableLen,
		GIDTableLen:   p.GIDTableLen,
		SubnetTimeout: p.SubnetTimeout,
		InitTypeReply: p.InitTypeReply,
		ActiveWidth:   ib.LinkWidth(p.ActiveWidth),
		ActiveSpeed:   speed,
		PhysState:     ib.PhysState(p.PhysState),
		GRHRequired:   p.Flags&1 != 0,
	}
}

// PortSpeed returns a port's rate over all lanes in 100 Mbit/s units. It
// needs a kernel newer than Linux 6.18.
func (c *Context) PortSpeed(port uint32) (uint64, error) {
	var speed uint64
	r := newRequest(fmt.Sprintf("query speed of port %d", port), uapi.ObjectDevice, uapi.MethodQueryPortSpeed)
	r.constant(uapi.AttrQueryPortSpeedPortNum, uint64(port))
	r.out(uapi.AttrQueryPortSpeedResp, uapi.Bytes(&speed))
	return speed, c.call(r)
}
