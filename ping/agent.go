// Package ping measures whether ports reply, and how fast, and it serves the pings
// of others. A probe is a management datagram; a ping server, the subnet
// management agent or the performance management agent of the port replies to it.
package ping

import (
	"fmt"

	"github.com/ibkit/ibkit/mad"
)

// class is the vendor class of OpenFabrics' ping (infiniband-diags, ibping.c).
const class mad.Class = 0x32

// OUI is the default OUI of ping packets: that of the OpenIB Alliance, which ibping
// uses.
const OUI = mad.OpenIB

// An Agent replies to probes.
type Agent uint8

// The agents. Every port of an InfiniBand fabric has the two management agents.
const (
	AgentServer Agent = iota // a ping server, such as ibping -S
	AgentSMA                 // the subnet management agent: Get NodeInfo on QP0
	AgentPMA                 // the performance management agent: Get ClassPortInfo on QP1
)

var agentNames = [...]string{AgentServer: "vendor", AgentSMA: "sma", AgentPMA: "pma"}

// String returns "vendor", "sma" or "pma".
func (a Agent) String() string {
	if int(a) < len(agentNames) {
		return agentNames[a]
	}
	return fmt.Sprintf("Agent(%d)", uint8(a))
}

// MarshalText returns the same as String.
func (a Agent) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText is the reverse of MarshalText.
func (a *Agent) UnmarshalText(text []byte) error {
	for i, name := range agentNames {
		if string(text) == name {
			*a = Agent(i)
			return nil
		}
	}
	return fmt.Errorf("parse agent %q: not vendor, sma or pma", text)
}
