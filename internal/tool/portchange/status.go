package portchange

import (
	"context"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Status is a port's attributes at a point in time.
type Status struct {
	Info mad.PortInfo

	// Caps is the PortInfo with the capability masks that apply to the port: port 0's
	// PortInfo on a switch, otherwise Info.
	Caps *mad.PortInfo

	Ext *mad.MlnxExtPortInfo // nil: the port does not have it

	external  bool // a switch port other than port 0
	data, ext []byte
}

// ActiveSpeed returns the link speed, 0 while it is down.
func (s *Status) ActiveSpeed() ib.Speed {
	if s.Info.State == ib.PortDown {
		return 0
	}
	return s.Info.ActiveSpeed(s.Caps, s.Ext)
}

// ActiveWidth returns the link width, 0 while it is down.
func (s *Status) ActiveWidth() ib.LinkWidth {
	if s.Info.State == ib.PortDown {
		return 0
	}
	return s.Info.LinkWidthActive
}

// isUp reports whether the link is up, whether or not a subnet manager has activated it.
func (s *Status) isUp() bool {
	return s.Info.PhysState == ib.PhysLinkUp && s.Info.State >= ib.PortInit
}

// read requests a port's attributes. It returns a [*umad.WrongPortError] if another port is
// at the target.
func (s *Session) read(ctx context.Context, p *fabric.Port, to umad.Target) (*Status, error) {
	st := &Status{external: p.Node.IsSwitch() && p.Number != 0}
	st.Caps = &st.Info
	var first error
	get := func(a mad.Attribute, number uint8, data *[]byte, optional bool) {
		s.client.Submit(&umad.Request{To: to, Value: a, Modifier: uint32(number), Done: func(_ *umad.Request, r *umad.Reply) {
			switch {
			case r.Err == nil && data != nil:
				*data = append([]byte(nil), r.Data()...)
			case r.Err != nil && !optional && first == nil:
				first = r.Err
			}
		}})
	}
	node := new(mad.NodeInfo)
	get(node, 0, nil, false)
	get(&st.Info, p.Number, &st.data, false)
	if st.external {
		st.Caps = new(mad.PortInfo)
		get(st.Caps, 0, nil, false)
	}
	ext := new(mad.MlnxExtPortInfo)
	if fabric.HasExtendedPortInfo(&p.Node.Info) && !s.Source.NoExtendedPortInfo && p.Number != 0 {
		get(ext, p.Number, &st.ext, true)
	}
	if err := s.client.Run(ctx); err != nil {
		return nil, err
	}
	if first == nil {
		first = p.Identity().Check(to, node)
	}
	if first != nil {
		return nil, first
	}
	if st.ext != nil {
		st.Ext = ext
	}
	return st, nil
}

// clone returns a copy for changes.
func (s *Status) clone() *Status {
	c := *s
	if s.Caps == &s.Info {
		c.Caps = &c.Info
	}
	if s.Ext != nil {
		ext := *s.Ext
		c.Ext = &ext
	}
	return &c
}

// portInfo returns the data for a PortInfo Set with the action and the values. All other
// fields keep their values: fields with a value for no change have that value, as even
// their current value may retrain the link, and the others have the value that was read.
// ClientReregister is a command to the port's clients rather than a state.
func (s *Status) portInfo(action Action, values []value) ([]byte, error) {
	set := s.clone()
	i := &set.Info
	i.State, i.PhysState = action.states()
	i.LinkDownDefault = mad.LinkDownNoChange
	i.LinkWidthEnabled, i.LinkSpeedEnabled, i.LinkSpeedExtEnabled, i.LinkSpeedExt2Enabled = 0, 0, 0, 0
	i.ClientReregister = 0
	for _, v := range values {
		if !v.isExtended() {
			v.put(set, v.v)
		}
	}
	data := append([]byte(nil), s.data...)
	return data, mad.Update(i, data)
}

// extendedPortInfo returns the data for a Set of NVIDIA's ExtendedPortInfo.
func (s *Status) extendedPortInfo(values []value) ([]byte, error) {
	set := s.clone()
	set.Ext.StateChangeEnable = fdr10
	for _, v := range values {
		if v.isExtended() {
			v.put(set, v.v)
		}
	}
	data := append([]byte(nil), s.ext...)
	return data, mad.Update(set.Ext, data)
}

// isExtended reports whether a setting is a field in NVIDIA's ExtendedPortInfo.
func (s *Setting) isExtended() bool { return s.Name == "fdr10" }
