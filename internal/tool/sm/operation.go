package sm

import (
	"fmt"

	"github.com/ibkit/ibkit/internal/enum"
	"github.com/ibkit/ibkit/mad"
)

// An Operation is a request to a subnet manager to change its state: the attribute modifier
// for an SMInfo Set (InfiniBand Architecture, Volume 1, 14.4.1).
type Operation uint32

// The operations.
const (
	Handover    Operation = 1 // the standby manager takes over
	Acknowledge Operation = 2 // for a handover
	Disable     Operation = 3 // stop being a standby manager
	Standby     Operation = 4 // resume as a standby manager
	Discover    Operation = 5 // start a new discovery
)

// operations describe the operations: the states in which a manager accepts them, the state
// that it gets, and the state in which a manager may send them (InfiniBand Architecture,
// Volume 1, 14.4.1; opensm, osm_sm_state_mgr.c and osm_sminfo_rcv.c).
var operations = [...]struct {
	name       string
	acceptedIn []mad.SMState
	leadsTo    mad.SMState
	sender     mad.SMState
}{
	Handover:    {"handover", []mad.SMState{mad.SMDiscovering, mad.SMStandby, mad.SMMaster}, mad.SMMaster, mad.SMMaster},
	Acknowledge: {"acknowledge", []mad.SMState{mad.SMStandby}, mad.SMStandby, mad.SMStandby},
	Disable:     {"disable", []mad.SMState{mad.SMStandby}, mad.SMNotActive, mad.SMMaster},
	Standby:     {"standby", []mad.SMState{mad.SMNotActive}, mad.SMStandby, mad.SMMaster},
	Discover:    {"discover", []mad.SMState{mad.SMStandby, mad.SMMaster}, mad.SMDiscovering, mad.SMMaster},
}

// Operations are all operations.
var Operations = []Operation{Handover, Acknowledge, Disable, Standby, Discover}

// String returns the operation's name, "" for 0.
func (o Operation) String() string {
	if int(o) >= len(operations) {
		return fmt.Sprintf("Operation(%d)", uint32(o))
	}
	return operations[o].name
}

// MarshalText returns the operation's name. The error is always nil.
func (o Operation) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText parses an operation's name.
func (o *Operation) UnmarshalText(text []byte) error {
	return enum.Parse(o, Handover, Discover, "operation", text)
}

// AcceptedIn returns the states in which a manager accepts the operation.
func (o Operation) AcceptedIn() []mad.SMState { return operations[o].acceptedIn }

// LeadsTo returns the manager's state after the operation.
func (o Operation) LeadsTo() mad.SMState { return operations[o].leadsTo }

// Sender returns the state that the sender must have: managers reject the operation if the
// request has another state.
func (o Operation) Sender() mad.SMState { return operations[o].sender }

// achieved reports whether an operation in a state before has led to a state now. A manager
// goes on by itself: from Standby to Discovering and then to Master if there is no master.
func (o Operation) achieved(before, now mad.SMState) bool {
	switch {
	case now == o.LeadsTo():
		return true
	case o == Standby:
		return before == mad.SMNotActive && now != mad.SMNotActive
	case o == Discover:
		return before == mad.SMStandby && now == mad.SMMaster
	}
	return false
}

// retires reports whether a manager in a state does not manage the subnet after the
// operation, or cannot take over any more.
func (o Operation) retires(from mad.SMState) bool {
	return o == Disable && from != mad.SMNotActive || o != Handover && from == mad.SMMaster
}
