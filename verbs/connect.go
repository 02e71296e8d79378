package verbs

import (
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/ib"
)

// A RemoteQP is the queue pair that [QP.Connect] connects to.
type RemoteQP struct {
	QPN  uint32
	PSN  uint32 // its first packet sequence number, ConnParam.PSN there
	Path Path   // from the local port to it
	MTU  ib.MTU // at most PortAttr.ActiveMTU at both ends
}

// ConnParam are a connection's parameters. [DefaultParam] is a good start: without retries,
// which the zero value has none of, a lost packet ends a connection. A queue pair uses those
// that its type has.
type ConnParam struct {
	PSN       uint32 // of the queue pair's first packet
	PKeyIndex uint16
	Access    Access // the peer's rights
	QKey      uint32 // for datagrams

	Timeout         uint8 // these as in QPAttr
	RetryCount      uint8
	RNRRetry        uint8
	MinRNRTimer     uint8
	MaxRdAtomic     uint8
	MaxDestRdAtomic uint8
}

// DefaultParam is for queue pairs between which few packets are lost: seven attempts 67 ms
// apart, and one read or atomic at a time. The peer has no rights.
var DefaultParam = ConnParam{Timeout: 14, RetryCount: 6, RNRRetry: 6, MinRNRTimer: 12, MaxRdAtomic: 1, MaxDestRdAtomic: 1}

// attr returns all attributes for a port, without a peer.
func (p *ConnParam) attr(port *uint8) QPAttr {
	return QPAttr{
		Port: port, PKeyIndex: &p.PKeyIndex, Access: &p.Access, QKey: &p.QKey, SQPSN: &p.PSN,
		Timeout: &p.Timeout, RetryCount: &p.RetryCount, RNRRetry: &p.RNRRetry, MinRNRTimer: &p.MinRNRTimer,
		MaxRdAtomic: &p.MaxRdAtomic, MaxDestRdAtomic: &p.MaxDestRdAtomic,
	}
}

// Init changes the queue pair from RESET to INIT for a local port. Receives can be posted from
// then on.
func (qp *QP) Init(port uint8, p ConnParam) error {
	return qp.enter(QPStateInit, p.attr(&port))
}

// Connect changes the queue pair from RESET or INIT to RTS, in which it sends, and which the
// peer must reach too. A queue pair for datagrams has no peer: only Path.Port is used.
// On iWARP, package rdmacm makes connections.
func (qp *QP) Connect(peer RemoteQP, p ConnParam) error {
	if qp.State() != QPStateInit {
		if err := qp.Init(peer.Path.Port, p); err != nil {
			return err
		}
	}
	attr := p.attr(&peer.Path.Port)
	attr.Path, attr.PathMTU, attr.DestQPN, attr.RQPSN = &peer.Path, &peer.MTU, &peer.QPN, &peer.PSN
	if err := qp.enter(QPStateRTR, attr); err != nil {
		return err
	}
	return qp.enter(QPStateRTS, attr)
}

// errIWARP is the reason why a queue pair of iWARP does not change its state as others do.
var errIWARP = errors.New("queue pairs of iWARP connect through the connection manager only")

// enter changes to the next state on the way to RTS, with those attributes that the change
// needs.
func (qp *QP) enter(to QPState, attr QPAttr) error {
	if qp.IWARP() {
		return fmt.Errorf("%s of %s: %w", qp.change(to), qp.context.name, errIWARP)
	}
	core, mask := attr.core()
	return qp.modify(to, core, mask&transitions[qp.init.Type][stateChange{to - 1, to}].needs)
}
