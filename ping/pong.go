package ping

import (
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// served are the methods of pings.
var served = []mad.Method{mad.MethodGet, mad.MethodSend}

// notPing returns what keeps m from being a ping of the class, "" where nothing
// does.
func notPing(m *umad.Message, oui uint32) string {
	h, rmpp := m.MAD.Header(), m.MAD.RMPP()
	switch {
	case m.Status != 0:
		return "came back unanswered"
	case h.BaseVersion != 1:
		return "unknown version"
	case h.Class != Class:
		return "another class"
	case h.ClassVersion != classVersion:
		return "another version of the class"
	case h.Method != mad.MethodGet && h.Method != mad.MethodSend:
		return "another method"
	case h.Status != 0:
		return "a status in a request"
	case h.Attr != 0 || h.Modifier != 0:
		return "another attribute"
	case rmpp.Flags.Has(mad.RMPPActive):
		return "in segments"
	case ouiOf(&m.MAD) != oui:
		return "another OUI"
	}
	if h.Method == mad.MethodSend {
		if e, ok := ParseEcho(m.MAD.Data()); !ok || e.IsAnswer || e.Answer == 0 {
			return "a Send that says nothing of its answer"
		}
	}
	return ""
}

// pong makes a ping into its answer.
func pong(m *umad.Message, name string) {
	p := &m.MAD
	data := p.Data()
	echo, ok := ParseEcho(data)
	if ok = ok && !echo.IsAnswer; ok {
		data[offEchoKind] = echoAnswer
		data = data[:offEchoMagic]
	}
	clear(data)
	copy(data[:len(data)-1], name)
	method := mad.MethodGetResp
	if p.Method() == mad.MethodSend {
		method = echo.Answer
	}
	p.SetMethod(method)
	p.SetRMPP(mad.RMPP{})
	m.Timeout = 0
	if m.Addr.QPN == 1 && m.Addr.QKey == 0 {
		m.Addr.QKey = umad.QP1QKey // which the kernel does not tell
	}
}
