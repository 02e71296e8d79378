package mad

// A PortState is the logical state of a link (PortInfo, InfiniBand
// Architecture, Volume 1, 14.2.5.6).
type PortState uint8

// The states of a link. Only an Active one carries data.
const (
	PortNoChange PortState = 0 // only in a Set: leave the state alone
	PortDown     PortState = 1
	PortInit     PortState = 2 // physically up, waiting for the subnet manager
	PortArmed    PortState = 3
	PortActive   PortState = 4
)

var portStateNames = names{"NoChange", "Down", "Initialize", "Armed", "Active"}

// String returns the name that the classic tools use, for example "Initialize".
func (s PortState) String() string { return portStateNames.text(uint64(s)) }

// A PhysState is the state of a port's link training (PortPhysicalState).
type PhysState uint8

// The physical states.
const (
	PhysNoChange          PhysState = 0 // only in a Set: leave the state alone
	PhysSleep             PhysState = 1
	PhysPolling           PhysState = 2
	PhysDisabled          PhysState = 3
	PhysTraining          PhysState = 4
	PhysLinkUp            PhysState = 5
	PhysLinkErrorRecovery PhysState = 6
	PhysTest              PhysState = 7
)

var physStateNames = names{
	"NoChange", "Sleep", "Polling", "Disabled",
	"PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "PhyTest",
}

// String returns the name that the classic tools use, for example "LinkUp".
func (s PhysState) String() string { return physStateNames.text(uint64(s)) }

// A LinkDownDefault is the physical state that a port goes to when its link
// goes down (LinkDownDefaultState).
type LinkDownDefault uint8

// The default states of a link that is down.
const (
	LinkDownNoChange LinkDownDefault = 0 // only in a Set: leave the default alone
	LinkDownSleep    LinkDownDefault = 1
	LinkDownPolling  LinkDownDefault = 2
)

var linkDownDefaultNames = names{"NoChange", "Sleep", "Polling"}

// String returns the name that the classic tools use, for example "Polling".
func (d LinkDownDefault) String() string { return linkDownDefaultNames.text(uint64(d)) }

var (
	asPortState       = portStateNames.style()
	asPhysState       = physStateNames.style()
	asLinkDownDefault = linkDownDefaultNames.style()
)
