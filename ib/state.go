package ib

// A PortState is a link's logical state (PortInfo:PortState, InfiniBand
// Architecture, Volume 1, 14.2.5.6; the kernel's enum ib_port_state).
type PortState uint8

// Link states. Only an Active link carries data.
const (
	PortNoChange PortState = 0 // only in a Set: keep the state
	PortDown     PortState = 1
	PortInit     PortState = 2 // physically up, waiting for the subnet manager
	PortArmed    PortState = 3
	PortActive   PortState = 4
)

var portStateNames = names{"NoChange", "Down", "Initialize", "Armed", "Active"}

// Defined reports whether the specification defines the state.
func (s PortState) Defined() bool { return portStateNames.defined(uint64(s)) }

// String returns the name that infiniband-diags prints, for example
// "Initialize".
func (s PortState) String() string { return portStateNames.text(uint64(s)) }

// MarshalText returns the [PortState.String] text. The error is always nil.
func (s PortState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the text that [PortState.String] returns.
func (s *PortState) UnmarshalText(text []byte) error {
	v, err := portStateNames.parse("port state", text, 8)
	*s = PortState(v)
	return err
}

// A PhysState is the state of a port's link training
// (PortInfo:PortPhysicalState).
type PhysState uint8

// The physical states.
const (
	PhysNoChange          PhysState = 0 // only in a Set: keep the state
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

// Defined reports whether the specification defines the state.
func (s PhysState) Defined() bool { return physStateNames.defined(uint64(s)) }

// String returns the name that infiniband-diags prints, for example "LinkUp".
func (s PhysState) String() string { return physStateNames.text(uint64(s)) }

// MarshalText returns the [PhysState.String] text. The error is always nil.
func (s PhysState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the text that [PhysState.String] returns.
func (s *PhysState) UnmarshalText(text []byte) error {
	v, err := physStateNames.parse("physical state", text, 8)
	*s = PhysState(v)
	return err
}

// A LinkLayer is a port's link layer (the kernel's enum rdma_link_layer).
type LinkLayer uint8

// The link layers.
const (
	LinkLayerUnspecified LinkLayer = 0
	LinkLayerInfiniBand  LinkLayer = 1
	LinkLayerEthernet    LinkLayer = 2 // RoCE and iWARP
)

var linkLayerNames = names{"Unspecified", "InfiniBand", "Ethernet"}

// Defined reports whether the value is a declared constant.
func (l LinkLayer) Defined() bool { return linkLayerNames.defined(uint64(l)) }

// String returns the name that sysfs uses, for example "InfiniBand".
func (l LinkLayer) String() string { return linkLayerNames.text(uint64(l)) }

// MarshalText returns the [LinkLayer.String] text. The error is always nil.
func (l LinkLayer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText parses the text that [LinkLayer.String] returns.
func (l *LinkLayer) UnmarshalText(text []byte) error {
	v, err := linkLayerNames.parse("link layer", text, 8)
	*l = LinkLayer(v)
	return err
}
