package ping

import (
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// servedMethods are the ping methods.
var servedMethods = []mad.Method{mad.MethodGet, mad.MethodSend}

// rejectReason returns why m is not a ping, or "" for a ping.
func rejectReason(m *umad.Message, oui uint32) string {
	h, rmpp := m.MAD.Header(), m.MAD.RMPP()
	switch {
	case m.Status != 0:
		return "returned without a reply"
	case h.BaseVersion != 1:
		return "unknown version"
	case h.Class != class:
		return "another class"
	case h.ClassVersion != class.Version():
		return "another class version"
	case h.Method != mad.MethodGet && h.Method != mad.MethodSend:
		return "another method"
	case h.Status != 0:
		return "request with a status"
	case h.Attr != 0 || h.Modifier != 0:
		return "another attribute"
	case rmpp.Flags.Has(mad.RMPPActive):
		return "segmented"
	case m.MAD.OUI() != oui:
		return "another OUI"
	}
	if h.Method == mad.MethodSend {
		if e, ok := parseEcho(m.MAD.Data()); !ok || e.isAnswer || e.answer == 0 {
			return "Send without a reply method"
		}
	}
	return ""
}

// makeReply turns a ping into its reply.
func makeReply(m *umad.Message, name string) {
	p := &m.MAD
	data := p.Data()
	e, ok := parseEcho(data)
	if ok = ok && !e.isAnswer; ok {
		data[offEchoKind] = echoAnswer
		data = data[:offEchoMagic]
	}
	clear(data)
	copy(data[:len(data)-1], name)
	method := mad.MethodGetResp
	if p.Method() == mad.MethodSend {
		method = e.answer
	}
	p.SetMethod(method)
	p.SetRMPP(mad.RMPP{})
	m.Timeout = 0
	if m.Addr.QPN == 1 && m.Addr.QKey == 0 {
		m.Addr.QKey = umad.QP1QKey // the kernel does not report it
	}
}
