package sim

import (
	"github.com/ibkit/ibkit/mad"
)

// classPing is the vendor class of OpenFabrics' ping (infiniband-diags,
// ibping.c): a request without data, answered by the name of the host.
const classPing mad.Class = 0x32

// offPingData is behind the OUI of the second range of vendor classes.
const offPingData = 40

// pong answers a ping where a server is said to run.
func (f *Fabric) pong(d destination, p *mad.Packet) bool {
	if d.node.PingServer == "" || p.Method() != mad.MethodGet {
		return false
	}
	p[offMethod] = byte(mad.MethodGetResp)
	data := p[offPingData:]
	clear(data)
	copy(data[:len(data)-1], d.node.PingServer)
	return true
}
