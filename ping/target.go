package ping

import (
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A Target is what is pinged.
type Target struct {
	Name string // for people
	Via  Via    // what is to answer

	// To is where it is in an InfiniBand fabric. Only a subnet management agent
	// is reached by a route.
	To umad.Target

	// GRH is where it is over RoCE, which has no LIDs; nil: in an InfiniBand
	// fabric. OneWay says that Linux would drop a response, as it does where the
	// GIDs are IPv4-mapped: request and answer are two packets that are none.
	GRH    *umad.GRH
	OneWay bool

	// PortGUID is that of the port which is meant, and whose node has to answer
	// ViaSMA; 0: whichever is there.
	PortGUID ib.GUID

	Stats Stats

	packet mad.Packet // a probe, but for what tells it from others
	seen   identity
}

// identity is who answered first: whoever answers later has to be the same.
type identity struct {
	known bool
	node  ib.GUID  // GUID
	echo  bool     // it is a server of ibkit
	name  [64]byte // of the server, as far as it fits
}

// prepare makes the packet that all probes to t are copies of.
func (t *Target) prepare(o *Options, attr *umad.PortAttr) {
	p := &t.packet
	switch t.Via {
	case ViaSMA:
		smp := mad.SMPRequest{
			Method: mad.MethodGet, Attr: mad.AttrNodeInfo, MKey: o.MKey,
			Directed: t.To.LID == 0 || t.To.Route != "",
			Route:    t.To.Route, DrSLID: ib.PermissiveLID, DrDLID: ib.PermissiveLID,
		}
		if smp.Directed && t.To.LID != 0 {
			smp.DrSLID = attr.LID // where the answer's way by LID ends
		}
		p.PutSMP(smp)
	case ViaPMA:
		p.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassPM, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrClassPortInfo})
	default:
		echo := Echo{Payload: o.Payload}
		method := mad.MethodGet
		if t.OneWay {
			method, echo.Answer = mad.MethodSend, o.Answer
		}
		p.PutGMP(mad.Header{BaseVersion: 1, Class: Class, ClassVersion: classVersion, Method: method})
		putOUI(p[offOUI:], o.OUI)
		echo.Put(p.Data())
	}
}

// address returns where probes to t go.
func (t *Target) address() umad.Addr {
	a := umad.Addr{LID: t.To.LID, SL: t.To.SL, GRH: t.GRH}
	if t.Via != ViaSMA {
		a.QPN, a.QKey = 1, umad.QP1QKey
	} else if a.LID == 0 {
		a.LID = ib.PermissiveLID
	}
	return a
}

// isSource reports whether an answer comes from where the target is. That of a
// directed route names nobody.
func (t *Target) isSource(a *umad.Addr) bool {
	switch {
	case t.GRH != nil:
		return a.GRH != nil && a.GRH.DGID == t.GRH.DGID
	case t.To.Route != "" || t.To.LID == 0:
		return true
	}
	return a.LID == t.To.LID
}
