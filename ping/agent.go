// Package ping measures whether ports reply, and how fast, and serves pings from other
// programs. A probe is a management datagram; a ping server, the port's subnet management
// agent or performance management agent replies.
package ping

import (
	"fmt"

	"github.com/ibkit/ibkit/internal/enum"
	"github.com/ibkit/ibkit/mad"
)

// class is the vendor class of OpenFabrics' ping (infiniband-diags, ibping.c).
const class mad.Class = 0x32

// OUI is the default OUI in ping packets: the OpenIB Alliance's OUI, which ibping uses.
const OUI = mad.OpenIB

// An Agent replies to probes.
type Agent uint8

// The agents. Every port in an InfiniBand fabric has the two management agents.
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

// UnmarshalText parses the text from MarshalText.
func (a *Agent) UnmarshalText(text []byte) error {
	return enum.Parse(a, AgentServer, AgentPMA, "agent", text)
}
