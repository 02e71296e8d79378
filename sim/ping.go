package sim

import (
	"github.com/ibkit/ibkit/mad"
)

// classPing is the vendor class of OpenFabrics' ping (infiniband-diags, ibping.c). The
// request has no data; the reply contains the host name.
const classPing mad.Class = 0x32

// offPingData is the offset after the OUI in vendor classes from the second range.
const offPingData = 40

// answerPing answers a ping if the node runs a ping server.
func (f *Fabric) answerPing(d destination, p *mad.Packet) bool {
	if d.node.PingServer == "" || p.Method() != mad.MethodGet {
		return false
	}
	p.SetMethod(mad.MethodGetResp)
	data := p[offPingData:]
	clear(data)
	copy(data[:len(data)-1], d.node.PingServer)
	return true
}
