package ping

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Target is a port to be pinged, with the statistics for the probes.
type Target struct {
	Name  string // for display
	Agent Agent  // expected to reply

	// To is the port's address in an InfiniBand fabric. Only a subnet management agent can
	// be reached by a directed route.
	To umad.Target

	// GRH addresses the port over RoCE, which has no LIDs; nil: the port is in an
	// InfiniBand fabric.
	GRH *umad.GRH

	// PKeyIndex is the index of the P_Key in the local port's table, for agents other than
	// AgentSMA.
	PKeyIndex uint16

	// OneWay makes a ping use two packets that are not request and response: Linux drops
	// responses if the GIDs are IPv4-mapped.
	OneWay bool

	// PortGUID, if not 0, is the port GUID. An AgentSMA reply must contain it.
	PortGUID ib.GUID

	Stats Stats

	packet mad.Packet // constant part of all probes
	first  identity
}

// identity is the first reply's sender, for comparison with later replies.
type identity struct {
	known bool
	node  ib.GUID
	echo  bool     // it is an ibkit server
	name  [64]byte // server name, cut if longer
}

// prepare builds the constant part of probes to t.
func (t *Target) prepare(o *Options, attr *umad.PortAttr) {
	p := &t.packet
	switch t.Agent {
	case AgentSMA:
		smp := mad.SMPRequest{
			Method: mad.MethodGet, Attr: mad.AttrNodeInfo, MKey: o.MKey,
			Directed: t.To.IsDirected(),
			Route:    t.To.Route, DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
		}
		if smp.Directed && t.To.LID != 0 {
			smp.DrSLID = attr.LID // destination for the LID-routed part of the reply's path
		}
		p.PutSMP(smp)
	case AgentPMA:
		p.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassPM, ClassVersion: mad.ClassPM.Version(), Method: mad.MethodGet, Attr: mad.AttrClassPortInfo})
	default:
		e := echo{payload: o.Payload}
		method := mad.MethodGet
		if t.OneWay {
			method, e.answer = mad.MethodSend, o.Answer
		}
		p.PutGMP(mad.Header{BaseVersion: 1, Class: class, ClassVersion: class.Version(), Method: method})
		p.SetOUI(o.OUI)
		e.put(p.Data())
	}
}

// address returns the destination for probes to t.
func (t *Target) address() umad.Addr {
	a := umad.Addr{LID: t.To.LID, SL: t.To.SL, GRH: t.GRH}
	if t.Agent != AgentSMA {
		a.QPN, a.QKey, a.PKeyIndex = 1, umad.QP1QKey, t.PKeyIndex
	} else if a.LID == 0 {
		a.LID = ib.PermissiveLID
	}
	return a
}

// isSource reports whether a reply comes from the target's address. A directed route's
// address is unknown and always matches.
func (t *Target) isSource(a *umad.Addr) bool {
	switch {
	case t.GRH != nil:
		return a.GRH != nil && a.GRH.DGID == t.GRH.DGID
	case t.To.IsDirected():
		return true
	}
	return a.LID == t.To.LID
}
