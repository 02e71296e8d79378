package sim

import (
	"time"

	"github.com/ibkit/ibkit/mad"
)

// A perfFault is a performance management agent defect.
type perfFault uint8

const (
	perfSilent    perfFault = iota + 1 // no replies
	perfOtherPort                      // replies with another port's number
	perfRejected                       // replies with an error status
)

// A perfAgent is a node's performance management agent.
type perfAgent struct {
	perfCaps
	fault    perfFault
	late     time.Duration // delay before each reply
	redirect *mad.ClassPortInfo
}

// Ticks of PortXmitWait, as PortSamplesControl reports them.
const (
	defaultTick = 7
	oldTick     = 31 // SwitchX, Switch-IB and Switch-IB 2
)

// tick returns the node's PortXmitWait unit.
func (n *Node) tick() uint8 {
	switch n.Info.DeviceID {
	case 51000, 52000, 53000:
		return oldTick
	}
	return defaultTick
}

// SetPerfRedirect makes a node's agent redirect all requests to a queue pair on a port; the
// agent there answers for the node. P_Key 0 is the default key. With byGID the agent
// returns the port GID without the LID. A nil port ends the redirection.
func (f *Fabric) SetPerfRedirect(n *Node, to *Port, qpn uint32, key mad.PKey, byGID bool) {
	for redirected, other := range f.perfQPs {
		if other == n {
			delete(f.perfQPs, redirected)
		}
	}
	n.perf.redirect = nil
	if to == nil {
		return
	}
	if f.perfQPs == nil {
		f.perfQPs = map[uint32]*Node{}
	}
	f.perfQPs[qpn] = n
	info := n.perf.classPortInfo()
	info.RedirectLID, info.RedirectQP, info.RedirectQKey = to.Management().Info.LID, qpn, qp1QKey
	info.RedirectPKey = key
	if byGID {
		info.RedirectLID, info.RedirectGID = 0, to.Management().gid()
	}
	n.perf.redirect = &info
}

// PerfRedirect returns a queue pair's address as reported by the agent that redirects
// requests to the queue pair; nil: there is no such agent.
func (f *Fabric) PerfRedirect(qpn uint32) *mad.ClassPortInfo {
	if n := f.perfQPs[qpn]; n != nil {
		return n.perf.redirect
	}
	return nil
}

// redirected returns the node for which the agent at a destination answers, and, if another
// agent answers for this node, the ClassPortInfo with that agent's address.
func (f *Fabric) redirected(d destination) (*Node, *mad.ClassPortInfo) {
	if n := f.perfQPs[d.qpn]; n != nil {
		return n, nil
	}
	return d.node, d.node.perf.redirect
}
