package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/ib"
)

// A Kind names a type of finding. Names are stable: scripts match them.
type Kind string

// A KindInfo describes a kind.
type KindInfo struct {
	Kind     Kind
	Severity Severity // default
	Meaning  string   // noun phrase or sentence without its full stop

	// Hint is the next step. {node} stands for the node GUID, {port} for the port number.
	Hint string

	// Ibdiagnet is the name in ibdiagnet 2 (ibdiag_fabric_errs.h of NVIDIA's SDK), or "".
	Ibdiagnet string

	// Runbook is a section of docs/runbooks.md, or "".
	Runbook string
}

// Info returns the description of a kind. An undeclared kind is an error without hint.
func (k Kind) Info() KindInfo {
	if info, ok := byKind[k]; ok {
		return info
	}
	return KindInfo{Kind: k, Severity: Error}
}

// Kinds returns the descriptions of all kinds.
func Kinds() []KindInfo { return append([]KindInfo(nil), kinds...) }

// HintFor returns the next step for a finding of this kind, or "" if there is none.
func (k Kind) HintFor(f Finding) string { return f.WithHint(k.Info().Hint).Hint }

// WithHint returns the finding with a next step, in which {node} stands for the node GUID and
// {port} for the port number, NODE and PORT if the finding lacks them.
func (f Finding) WithHint(text string) Finding {
	node, port := "NODE", "PORT"
	if f.NodeGUID != nil {
		node = f.NodeGUID.String()
	}
	if f.Port != nil {
		port = fmt.Sprint(*f.Port)
	}
	f.Hint = strings.NewReplacer("{node}", node, "{port}", port).Replace(text)
	return f
}

// NameHints sets names in the hints of all findings; see [Finding.NamedHint].
func (h *Head) NameHints(names map[ib.GUID]string) {
	for i := range h.Findings {
		h.Findings[i].Hint = h.Findings[i].NamedHint(names)
	}
}

// NamedHint returns the hint with names in place of GUIDs, as far as names has them. A GUID
// behind "for" stays, because a log has GUIDs.
func (f Finding) NamedHint(names map[ib.GUID]string) string {
	hint, rest := "", f.Hint
	for {
		before, after, found := strings.Cut(rest, "0x")
		if hint += before; !found {
			return hint
		}
		const digits = 16
		name := ""
		if len(after) >= digits && !strings.HasSuffix(before, "for ") {
			if guid, err := ib.ParseGUID("0x" + after[:digits]); err == nil {
				name = names[guid]
			}
		}
		if name != "" {
			after = after[digits:]
		}
		hint, rest = hint+cmp.Or(name, "0x"), after
	}
}

var byKind = func() map[Kind]KindInfo {
	all := make(map[Kind]KindInfo, len(kinds))
	for _, k := range kinds {
		all[k.Kind] = k
	}
	return all
}()

// Kinds of any tool.
const (
	NoReply   Kind = "no-reply"
	Unchecked Kind = "unchecked"
	NotActive Kind = "not-active"
	Blind     Kind = "blind"
	Conflict  Kind = "conflict"
	Changing  Kind = "changing"
)

// Kinds of links.
const (
	NoPeer       Kind = "no-peer"
	OneSided     Kind = "one-sided"
	Unstable     Kind = "unstable"
	Narrow       Kind = "narrow"
	Slow         Kind = "slow"
	Disabled     Kind = "disabled"
	Limited      Kind = "limited"
	Uneven       Kind = "uneven"
	Invalid      Kind = "invalid"
	SlowParallel Kind = "slow-parallel"
	BelowMinimum Kind = "below-minimum"
)

// Kinds of addresses and names.
const (
	ZeroLID       Kind = "zero-lid"
	DuplicateLID  Kind = "duplicate-lid"
	LIDRange      Kind = "lid-range"
	OtherLID      Kind = "other-lid"
	OtherPort     Kind = "other-port"
	ZeroGUID      Kind = "zero-guid"
	DuplicateGUID Kind = "duplicate-guid"
	EmptyName     Kind = "empty-name"
	DuplicateName Kind = "duplicate-name"
)

// Kinds of subnet managers, subnet administration and partitions.
const (
	NoMaster       Kind = "no-master"
	TwoMasters     Kind = "two-masters"
	EqualPriority  Kind = "equal-priority"
	NoManager      Kind = "no-manager"
	Stalled        Kind = "stalled"
	OtherMaster    Kind = "other-master"
	WrongState     Kind = "wrong-state"
	UnscannedNode  Kind = "unscanned-node"
	NoDefaultPKey  Kind = "no-default-partition"
	NotOnSwitch    Kind = "not-on-switch"
	LimitedMembers Kind = "limited-members"
)

// Kinds of counters.
const (
	Exceeded    Kind = "exceeded"
	Increased   Kind = "increased"
	Congested   Kind = "congested"
	Flapped     Kind = "flapped"
	BitErrors   Kind = "bit-errors"
	Saturated   Kind = "saturated"
	Cleared     Kind = "cleared"
	Disappeared Kind = "disappeared"
)

// Kinds of routing.
const (
	Unreachable    Kind = "unreachable"
	ForwardingLoop Kind = "forwarding-loop"
	CreditLoop     Kind = "credit-loop"
	Unbalanced     Kind = "unbalanced"
	Multicast      Kind = "multicast"
	SamePath       Kind = "same-path"
	BeyondSwitch   Kind = "beyond-switch"
	Detour         Kind = "detour"
	OtherRecord    Kind = "record"
	LaneDropped    Kind = "lane"
	Asymmetric     Kind = "asymmetric"
	Adaptive       Kind = "adaptive"
)

// Kinds of structure and cabling plans.
const (
	WrongStructure  Kind = "wrong-structure"
	LevelLink       Kind = "level-link"
	FewUplinks      Kind = "few-uplinks"
	UnevenUplinks   Kind = "uneven-uplinks"
	WrongRail       Kind = "wrong-rail"
	MissingNode     Kind = "missing-node"
	MissingCable    Kind = "missing-cable"
	WrongPeer       Kind = "wrong-peer"
	Swapped         Kind = "swapped"
	UnexpectedCable Kind = "unexpected-cable"
	Slower          Kind = "slower"
	Ambiguous       Kind = "ambiguous"
)

// Kinds of congestion control.
const (
	CCMissing Kind = "no-congestion-control"
	CCOff     Kind = "congestion-control-off"
	CCDiffers Kind = "setting-differs"
)

// Kinds of measurements and connections.
const (
	PacketLoss       Kind = "packet-loss"
	SlowReplies      Kind = "slow-replies"
	FailedConnection Kind = "failed-connection"
	MissedLimit      Kind = "missed-limit"
	FailedTest       Kind = "failed-test"
)

// Kinds of cluster tests. Congested, Unreachable and Asymmetric are among them, too.
const (
	SlowNode    Kind = "slow-node"
	SlowCable   Kind = "slow-cable"
	SlowLink    Kind = "slow-link"
	SlowPair    Kind = "slow-pair"
	Hung        Kind = "hung"
	MissingHost Kind = "missing"
	Corrupt     Kind = "corrupt"

	BelowBaseline Kind = "below-baseline"
)

// Kinds of cables, modules and device platforms.
const (
	DirtyFibre      Kind = "dirty-fibre"
	WeakLight       Kind = "weak-light"
	WeakTransmitter Kind = "weak-transmitter"
	HotModule       Kind = "hot-module"
	ModuleFault     Kind = "module-fault"
	CableFirmware   Kind = "cable-firmware"
	HotDevice       Kind = "hot-device"
	FanFailed       Kind = "fan-failed"
	PowerLost       Kind = "power-lost"
)

// Kinds of host devices.
const (
	FirmwareDiffers  Kind = "firmware-differs"
	PCIeSlow         Kind = "pcie-slow"
	PCIeBelow        Kind = "pcie-below"
	PCIeErrors       Kind = "pcie-errors"
	GPUDistance      Kind = "gpu-distance"
	ACSRedirect      Kind = "acs-redirect"
	SmallBAR         Kind = "small-bar"
	NoUMAD           Kind = "no-umad"
	PortDown         Kind = "port-down"
	LowMTU           Kind = "mtu-low"
	NoIPv4GID        Kind = "no-ipv4-gid"
	UnreadableDevice Kind = "device"
	MissingDevice    Kind = "missing-device"
	UnexpectedDevice Kind = "unexpected-device"
	DeviceDiffers    Kind = "device-differs"
	MissingPort      Kind = "missing-port"
	PortState        Kind = "port-state"
	RateBelow        Kind = "rate-below"
	WidthBelow       Kind = "width-below"
	SpeedBelow       Kind = "speed-below"
	MissingGID       Kind = "missing-gid"
	Flapping         Kind = "flapping"
	RDMADisabled     Kind = "rdma-disabled"
	IWARPMode        Kind = "iwarp-mode"
)

// Kinds of RoCE settings.
const (
	RoCEClass    Kind = "roce-class"
	RoCEPriority Kind = "roce-priority"
	RoCETrust    Kind = "roce-trust"
	RoCEVersion  Kind = "roce-version"
	RoCEECN      Kind = "roce-ecn"
	RoCEBuffer   Kind = "roce-buffer"
	RoCEQueue    Kind = "roce-queue"
	RoCEPeer     Kind = "roce-peer"
	RoCEBond     Kind = "roce-bond"
	RoCEDCBX     Kind = "roce-dcbx"
)

// Kinds of RoCE traffic.
const (
	RoCELoss       Kind = "roce-loss"
	RoCEOutOfOrder Kind = "roce-out-of-order"
	RoCEBlackHole  Kind = "roce-black-hole"
	RoCENotReady   Kind = "roce-not-ready"
	RoCEPauseStorm Kind = "roce-pause-storm"
	RoCEIdlePauses Kind = "roce-idle-pauses"
	RoCEPauses     Kind = "roce-pauses"
	RoCENotices    Kind = "roce-notifications"
	RoCENoRoute    Kind = "roce-no-route"
	RoCERejected   Kind = "roce-rejected"

	FailedRequests Kind = "failed-requests"
	AdapterErrors  Kind = "adapter-errors"
)

// Kinds of SRD traffic, the transport of EFA.
const (
	SRDUnresponsive Kind = "srd-unresponsive"
	SRDImpaired     Kind = "srd-impaired"
	SRDTimeouts     Kind = "srd-timeouts"
	SRDDrops        Kind = "srd-drops"
)

// Kinds of hosts, by check of ibkit doctor.
const (
	MissingModule    Kind = "modules"
	NetworkNamespace Kind = "netns"
	DeviceNode       Kind = "nodes"
	LockedMemory     Kind = "memlock"
	OpenFiles        Kind = "nofile"
	CgroupLimit      Kind = "cgroup"
	LocalLink        Kind = "links"
	LocalManager     Kind = "sm"
	LocalPKeys       Kind = "pkeys"
	LocalName        Kind = "names"
	IPRoutes         Kind = "ip-routes"
	Lossless         Kind = "lossless"
	IOMMU            Kind = "iommu"
	NUMA             Kind = "numa"
	Governor         Kind = "governor"
	Clock            Kind = "clock"
	HugePages        Kind = "hugepages"
)

const (
	hintCable    = "reseat or replace the cable of port {port} of {node}; then: ibkit linkinfo --node {node}"
	hintLink     = "ibkit linkinfo --node {node}"
	hintBalance  = "ibkit routes --balance, then compare the routing engine of the subnet manager with the topology"
	hintRoutes   = "ibkit check routes --limit 0; to route again, on the host of opensm: kill -HUP $(pidof opensm)"
	hintPlan     = "ibkit topology --plan FILE --punch-list"
	hintTopology = "ibkit topology --check"
	hintManagers = "ibkit sm --sm-wait 10s"
	hintCounters = "ibkit counters {node}/{port}; with --window 10s: new errors only"
	hintTree     = "compare the cabling with the plan: ibkit linkinfo --node {node}"
	hintEnforce  = "compare the partitions in the configuration of the subnet manager with ibkit query P_KeyTable {node}"
	hintExpect   = "replace or configure the device, or write the manifest again: ibkit check node --write-expect FILE"
	hintPCIe     = "reseat the adapter, or use a slot with more lanes or a newer PCIe generation"
	hintLocal    = "ibkit doctor --only links; reseat or replace the cable"

	hintRoCE = "ibkit devinfo --roce"

	runbookReach  = "a-node-is-unreachable"
	runbookSlow   = "the-fabric-is-slow"
	runbookFlaps  = "a-link-flaps"
	runbookCables = "after-cabling"
	runbookCC     = "set-up-congestion-control"
	runbookHost   = "rdma-does-not-work-on-a-host"
	runbookJob    = "before-a-job"
	runbookRoCE   = "roce-does-not-connect"

	runbookRoCELoss = "roce-loses-packets"
)

// kinds declares all kinds.
var kinds = []KindInfo{
	{NoReply, Error, "a node, port or subnet manager does not reply", "check power, management processor and links of the node or its peer; then: ibkit ping --via sma {node}", "NODE_NO_RESPONSE", runbookReach},
	{Unchecked, Unknown, "a query without a valid reply left something unchecked", "ibkit ping --via pma {node}", "NODE_NO_RESPONSE", runbookReach},
	{NotActive, Error, "no subnet manager has activated the link, or it is down", "check that a subnet manager runs: " + hintManagers, "LINK_LOGICAL_STATE_NOT_ACTIVE", runbookReach},
	{Blind, Error, "the scan found no other node", "check the cable of port {port} of this host and the port at its other end: ibkit doctor; then check again", "", runbookReach},
	{Conflict, Warning, "replies contradict each other", "scan again; if the conflict remains: " + hintTopology, "", ""},
	{Changing, Warning, "tables changed while they were read", "repeat the check when the subnet manager is idle", "", ""},

	{NoPeer, Error, "the link is up, but the peer does not reply", "check the node behind port {port} of {node}: its firmware does not respond", "NODE_NO_RESPONSE", runbookReach},
	{OneSided, Error, "the ends report different states, widths or speeds", "reset the link: ibkit port {node} {port} reset", "BAD_LINK", runbookFlaps},
	{Unstable, Error, "the link is training or recovers from errors", hintCable, "BAD_LINK", runbookFlaps},
	{Narrow, Error, "fewer lanes than both ends have enabled", hintCable, "LINK_UNEXPECTED_WIDTH", runbookSlow},
	{Slow, Error, "slower than both ends have enabled", hintCable, "LINK_UNEXPECTED_SPEED", runbookSlow},
	{Disabled, Info, "disabled by configuration", "ibkit port {node} {port} enable", "", ""},
	{Limited, Info, "both ends support more than is enabled", "enable all speeds: ibkit port {node} {port} speed=all espeed=all reset", "", runbookSlow},
	{Uneven, Warning, "one end enables less than the other", hintLink, "LINK_DIFFERENT_SPEED", runbookSlow},
	{Invalid, Error, "values that the specification does not allow", "update the firmware of {node}", "", ""},
	{SlowParallel, Warning, "slower than a parallel link between the same switches", hintCable, "LINK_UNEXPECTED_SPEED", runbookSlow},
	{BelowMinimum, Error, "slower than the thresholds require", hintCable, "LINK_UNEXPECTED_SPEED", runbookSlow},

	{ZeroLID, Error, "no LID is assigned", "check that the subnet manager can reach the port: " + hintManagers, "PORT_LID_ZERO", runbookReach},
	{DuplicateLID, Error, "two ports have the same LID", "restart the subnet manager, which assigns the LIDs again: systemctl restart opensm", "PORT_DUPLICATED_LID", ""},
	{LIDRange, Error, "the base LID contradicts the LMC", "check the LMC in the configuration of the subnet manager", "PORT_INVALID_LID", ""},
	{OtherLID, Error, "the port replies at a LID that is not its own", "ibkit check fabric --only lids,routing", "", ""},
	{OtherPort, Error, "another port replies at the LID", "ibkit check fabric --only lids,routing", "", ""},
	{ZeroGUID, Error, "the GUID is zero", "burn the GUIDs of the device again", "", ""},
	{DuplicateGUID, Error, "two devices have the same GUID", "find the devices by ibkit topology --nodes and burn the GUIDs of either again", "DUPLICATED_NODE_GUID", ""},
	{EmptyName, Warning, "the node description is empty", "set the description on the host, for example by rdma-ndd", "", ""},
	{DuplicateName, Warning, "nodes share a description", "set different descriptions, or a node name map", "NODE_DUPLICATED_NODE_DESC", ""},

	{NoMaster, Error, "no subnet manager is master", "start a subnet manager: systemctl start opensm; its log shows why it is not the master", "SM_NOT_FOUND_MASTER", runbookReach},
	{TwoMasters, Error, "several subnet managers are masters", "stop all subnet managers but one; check the links between their nodes", "SM_FOUND_MANY_MASTERS", ""},
	{EqualPriority, Warning, "the GUID decides which subnet manager is master", "set different priorities of the subnet managers", "", ""},
	{NoManager, Warning, "the port has the capability, but no subnet manager", "start the subnet manager again: systemctl start opensm; or clear the capability of the port", "", ""},
	{Stalled, Error, "the activity count does not advance", "restart the subnet manager, which does not send packets: systemctl restart opensm", "", ""},
	{OtherMaster, Error, "another manager than the master serves the local port", hintManagers, "SM_NOT_CORRECT_MASTER", ""},
	{WrongState, Warning, "subnet administration reports another state", hintManagers, "", ""},
	{UnscannedNode, Error, "subnet administration lists a node that the scan did not find", "check the power and the management processor of the first missing node on the path; then: ibkit check fabric --only discovery,sa", "NODE_NO_RESPONSE", runbookReach},
	{NoDefaultPKey, Error, "the port lacks the default partition", hintEnforce, "PKEY_MISMATCH", ""},
	{NotOnSwitch, Error, "the switch port lacks a partition of its adapter", hintEnforce, "PKEY_MISMATCH", ""},
	{LimitedMembers, Warning, "a partition has limited members only", "make a member full in the configuration of the subnet manager", "", ""},

	{Exceeded, Warning, "an error counter is above its threshold", hintCounters, "PM_COUNTER_EXCEEDS_THRESHOLD", runbookSlow},
	{Increased, Error, "an error counter increased", hintCounters, "PM_COUNTER_INCREASED", runbookSlow},
	{Congested, Warning, "packets wait too long", "find the traffic: ibkit counters --window 10s --sort wait", "", runbookSlow},
	{Flapped, Error, "the link went down, and is up again", hintCable, "BAD_LINK", runbookFlaps},
	{BitErrors, Error, "the bit error rate is above a limit", hintCable, "BER_EXCEEDS_THRESHOLD", runbookSlow},
	{Saturated, Warning, "a counter is at its largest value", "ibkit counters --reset errors {node}", "PM_COUNTER_OVERFLOW", ""},
	{Cleared, Warning, "counters were cleared in the window", "repeat the check; find the program that clears counters", "PM_NEGATIVE_DELTA_COUNTERS", ""},
	{Disappeared, Error, "a port that was read before does not reply again", hintLink, "NODE_NO_RESPONSE", runbookReach},

	{Unreachable, Error, "paths end before their destination", hintRoutes, "", runbookReach},
	{ForwardingLoop, Error, "tables forward packets in a loop", hintRoutes, "", ""},
	{CreditLoop, Error, "buffers can wait for each other for ever", "select a routing engine without credit loops, for example up/down", "", ""},
	{Unbalanced, Warning, "links of a switch have uneven numbers of destinations", hintBalance, "", runbookSlow},
	{Multicast, Error, "a multicast group has a loop, or does not reach all members", hintRoutes, "", ""},
	{SamePath, Warning, "all LIDs of a port have the same path", hintRoutes, "", ""},
	{BeyondSwitch, Error, "a table exceeds the switch", hintRoutes, "", ""},
	{Detour, Warning, "a path is longer than the shortest path", hintRoutes, "", ""},
	{OtherRecord, Warning, "subnet administration has another path", hintRoutes, "", ""},
	{LaneDropped, Error, "packets are dropped because of their virtual lane", "compare the SL-to-VL tables with the operational lanes: ibkit query SL2VLTable {node}", "", ""},
	{Asymmetric, Info, "the two directions of a path cross different links, or a host is slow in one", "", "", ""},
	{Adaptive, Info, "adaptive routing selects the output port", "", "", ""},

	{WrongStructure, Error, "the structure is not as intended", "ibkit topology --format html > fabric.html", "", runbookCables},
	{LevelLink, Error, "a link connects switches on the same level", hintTree, "", runbookCables},
	{FewUplinks, Warning, "a switch has fewer uplinks than its siblings", hintTree, "", runbookCables},
	{UnevenUplinks, Warning, "a switch has uneven uplinks", hintTree, "", runbookCables},
	{WrongRail, Error, "an adapter is on the leaf switch of another rail", "exchange the cables of the host; then: ibkit check fabric --only rails", "", runbookCables},
	{MissingNode, Error, "a planned node is missing", hintPlan, "", runbookCables},
	{MissingCable, Error, "a planned cable is missing", hintPlan, "", runbookCables},
	{WrongPeer, Error, "a cable ends at another port than planned", hintPlan, "", runbookCables},
	{Swapped, Error, "two cables are exchanged", hintPlan, "", runbookCables},
	{UnexpectedCable, Warning, "a cable is not in the plan", hintPlan, "", runbookCables},
	{Slower, Error, "a link is slower than planned", hintPlan, "LINK_UNEXPECTED_SPEED", runbookCables},
	{Ambiguous, Warning, "a name in the plan fits several nodes", "use GUIDs or unique names in the plan", "", runbookCables},

	{CCMissing, Warning, "the node does not support congestion control", "", "", runbookCC},
	{CCOff, Warning, "congestion control is off, and on at most nodes of the type", "", "", runbookCC},
	{CCDiffers, Warning, "a setting differs from most nodes of the type", "", "", runbookCC},

	{PacketLoss, Error, "more probes than permitted had no valid reply", "", "", runbookReach},
	{SlowReplies, Warning, "replies take longer than permitted", "", "", runbookSlow},
	{FailedConnection, Error, "connections failed", "", "", runbookRoCE},
	{MissedLimit, Error, "a measurement is beyond a limit of the caller", "", "", runbookSlow},
	{FailedTest, Error, "a self-test of the device failed", "", "", ""},

	{SlowNode, Error, "a host, adapter or switch slows all its flows", "on the host: ibkit check node; then ibkit perf --serve there and ibkit perf HOST on a neighbour", "", runbookSlow},
	{SlowCable, Error, "an adapter or its cable slows all its flows", hintCounters + "; then " + hintCable, "", runbookSlow},
	{SlowLink, Error, "a link between switches slows the flows in a direction", hintCounters + "; then " + hintCable, "", runbookSlow},
	{SlowPair, Warning, "a flow is slow, although all parts of its path are good for others", "measure the pair alone: ibkit perf --serve on a host, ibkit perf HOST on the other", "", runbookSlow},
	{Hung, Error, "no flow from or to the host has a figure", "check that the host runs: ibkit ping {node}", "", runbookReach},
	{MissingHost, Unknown, "a host of the fabric is not in the results", "measure again with the host, or leave it out: --node", "", ""},
	{Corrupt, Unknown, "a figure that the link cannot carry", "measure the pair again", "", ""},
	{BelowBaseline, Warning, "a host is slower than in an earlier cluster test, or all are", "on the host: ibkit check node; compare its settings and firmware with the earlier", "", runbookSlow},

	{DirtyFibre, Error, "little light arrives, although the other end sends enough", "clean the connectors of the fibre at port {port} of {node} and at its other end, then replace the fibre; then: ibkit phy --node {node}", "", runbookFlaps},
	{WeakLight, Error, "little light arrives, and it is unknown whether the other end sends enough", "check the module at the other end of port {port} of {node}, then clean the fibre", "", runbookFlaps},
	{WeakTransmitter, Error, "a module sends less light than its own limit", "replace the module in port {port} of {node}", "", runbookFlaps},
	{HotModule, Error, "a module is above its own temperature limit", "check air flow and fans: ibkit phy --devices --node {node}", "CABLE_TEMPERATURE_ERROR", runbookFlaps},
	{ModuleFault, Error, "a module reports a fault, or is not ready", "reseat the module in port {port} of {node}, then replace it", "", runbookFlaps},
	{CableFirmware, Warning, "module firmware differs within a part number", "install the version that most modules of the type have", "CABLE_FW_VERSION", ""},
	{HotDevice, Error, "a device is above a temperature limit of its own", "check air flow and fans: ibkit phy --devices --node {node}", "", ""},
	{FanFailed, Error, "a fan is slow, or does not turn", "replace the fan of {node}", "", ""},
	{PowerLost, Error, "a power supply gives no power", "check cable and breaker of the power supply of {node}, then replace it", "", ""},

	{FirmwareDiffers, Warning, "firmware versions differ within a device type", "install the version that most devices of the type have", "NODE_WRONG_FW_VERSION", ""},
	{PCIeSlow, Warning, "the PCI Express link is below its capability", hintPCIe, "", runbookHost},
	{PCIeErrors, Warning, "a PCI Express link has errors", hintPCIe, "", runbookHost},
	{PCIeBelow, Error, "the PCI Express link is below the manifest", hintPCIe, "", runbookHost},
	{GPUDistance, Warning, "the GPU is farther from an adapter than most GPUs of the host", "move an adapter to a slot below the switch of the GPU, or leave this GPU out of jobs that use RDMA", "", runbookHost},
	{ACSRedirect, Warning, "a PCI Express bridge sends transfers between GPU and adapter through the CPU", "disable ACS in the BIOS, or with setpci -s BRIDGE ECAP_ACS+6.w=0 unless virtual machines use the devices", "", runbookHost},
	{SmallBAR, Info, "other devices can address a small part of the GPU memory only", "enable Resizable BAR and Above 4G Decoding in the BIOS", "", runbookHost},
	{NoUMAD, Warning, "no device node for management datagrams", "modprobe ib_umad", "", runbookHost},
	{PortDown, Warning, "the port is not active", "check the cable and the peer port", "", runbookHost},
	{LowMTU, Warning, "the MTU is lower than the network device permits", "set the MTU of the network device again", "", runbookRoCE},
	{NoIPv4GID, Warning, "no RoCE v2 GID over IPv4", "add an IPv4 address to the network device", "", runbookRoCE},
	{UnreadableDevice, Error, "the device could not be read", "ibkit doctor", "", runbookHost},
	{MissingDevice, Error, "a device of the manifest is missing", "ibkit doctor --only modules,devices; lspci shows whether the slot has the device", "", runbookHost},
	{UnexpectedDevice, Warning, "a device is not in the manifest", hintExpect, "", runbookJob},
	{DeviceDiffers, Error, "type or board differs from the manifest", hintExpect, "", runbookJob},
	{MissingPort, Error, "a port of the manifest is missing", hintExpect, "", runbookJob},
	{PortState, Error, "the port state differs from the manifest", "ibkit doctor --only ports,links", "", runbookHost},
	{RateBelow, Error, "the rate is below the manifest", hintLocal, "", runbookHost},
	{WidthBelow, Error, "the width is below the manifest", hintLocal, "", runbookHost},
	{SpeedBelow, Error, "the speed is below the manifest", hintLocal, "", runbookHost},
	{MissingGID, Error, "a GID is missing", "ibkit doctor --only gids", "", runbookRoCE},
	{Flapping, Error, "the link went down repeatedly within the window", "reseat or replace the cable; the finding ends when the downs are older than the window", "", runbookFlaps},
	{RDMADisabled, Info, "the adapter has no RDMA device, although its drivers are loaded", "ibkit doctor --only modules", "", runbookHost},
	{IWARPMode, Info, "the adapter runs iWARP, although it has RoCE", "ibkit doctor --only devices", "", runbookHost},

	{RoCEClass, Warning, "a port and rdma_cm have different traffic classes", hintRoCE, "", runbookRoCELoss},
	{RoCEPriority, Warning, "RoCE packets have a priority without flow control", hintRoCE, "", runbookRoCELoss},
	{RoCETrust, Warning, "the adapter does not take the priority from the DSCP", hintRoCE, "", runbookRoCELoss},
	{RoCEVersion, Warning, "rdma_cm connects with RoCE v1", hintRoCE, "", runbookRoCELoss},
	{RoCEECN, Warning, "congestion notifications are off, or can be delayed", hintRoCE, "", runbookRoCELoss},
	{RoCEBuffer, Warning, "a priority with flow control has no receive buffer of its own", hintRoCE, "", runbookRoCELoss},
	{RoCEQueue, Warning, "a priority with flow control has no traffic class of its own", hintRoCE, "", runbookRoCELoss},
	{RoCEPeer, Warning, "the peer has flow control on other priorities", hintRoCE, "", runbookRoCELoss},
	{RoCEBond, Warning, "network devices of a bond have different settings", hintRoCE, "", runbookRoCELoss},
	{RoCEDCBX, Warning, "the adapter's firmware has the DCB settings: commands of dcb fail", hintRoCE, "", runbookRoCELoss},

	{RoCELoss, Error, "RoCE packets were lost", hintRoCE + " on both hosts; compare drops and flow control of the switch ports", "", runbookRoCELoss},
	{RoCEOutOfOrder, Warning, "RoCE packets arrived out of order", "use adaptive routing only with adapters that support it, and one path for each flow otherwise", "", runbookRoCELoss},
	{RoCEBlackHole, Error, "a peer does not reply to RoCE requests", "check that the peer runs, and that its address and MTU fit: ibkit ping PEER", "", runbookRoCELoss},
	{RoCENotReady, Warning, "a receiver had no buffer for a packet", "the program is slow or posts too few receives: increase its receive queue", "", runbookRoCELoss},
	{RoCEPauseStorm, Error, "pauses stop the traffic", "find the host that pauses first: a slow PCI Express slot, a hung adapter; then: ibkit doctor --only pcie,gpus,lossless", "", runbookRoCELoss},
	{RoCEIdlePauses, Warning, "pauses without traffic", "look for congestion elsewhere on the switch, or for an adapter that does not empty its buffers", "", runbookRoCELoss},
	{RoCEPauses, Warning, "pauses without congestion notifications: ECN does not work", hintRoCE + "; compare the ECN thresholds of the switch: marking begins before pauses", "", runbookRoCELoss},
	{RoCENotices, Warning, "congestion notifications slow the traffic down", "find the receiver of too many flows; raise the ECN thresholds of the switch if there is none", "", runbookRoCELoss},
	{RoCENoRoute, Warning, "the adapter dropped packets without a route or a neighbour", "compare the addresses of both hosts: ip route get PEER, ip neighbour; then: ibkit doctor --only gids,routes", "", runbookRoCE},
	{RoCERejected, Warning, "the adapter rejected packets that it received", "check the VLAN, the MTU and the addresses of the peer, and the cable: ibkit counters --local --window 10s", "", runbookRoCELoss},
	{FailedRequests, Warning, "requests failed: wrong keys, ranges, lengths, or limits of the host", "find the program that ends with such errors: ibkit counters --local --window 10s; the limits of the host: ibkit doctor --only memlock,cgroup", "", runbookHost},
	{AdapterErrors, Error, "the adapter counts errors of its own", "search the kernel log (dmesg) and check the slot: ibkit doctor --only pcie; then reset the adapter or update its firmware", "", runbookHost},

	{SRDUnresponsive, Error, "a peer does not respond to SRD", "check that the program of the peer runs, and that the security groups of both hosts allow all traffic to and from each other", "", runbookHost},
	{SRDImpaired, Warning, "the adapter reduced the rate of an SRD connection", "find the peer with srd-timeouts or srd-drops, and compare the hosts: ibkit counters --local --window 10s", "", runbookHost},
	{SRDTimeouts, Warning, "SRD packets timed out and took another path", "a few are normal; if they stay, compare the placement of the hosts, and report the path to AWS", "", runbookHost},
	{SRDDrops, Warning, "packets were received and dropped", "the program posts too few receives, or its peer uses the address of an ended process", "", runbookHost},

	{MissingModule, Error, "a kernel module is missing", "", "", runbookHost},
	{NetworkNamespace, Error, "devices are in another network namespace", "", "", runbookHost},
	{DeviceNode, Error, "a device node is missing or not accessible", "", "", runbookHost},
	{LockedMemory, Error, "the limit on locked memory is low", "", "", runbookHost},
	{OpenFiles, Warning, "the limit on open files is low", "", "", runbookHost},
	{CgroupLimit, Error, "the container or service limits RDMA objects", "", "", runbookHost},
	{LocalLink, Warning, "a local link is slow, or its ends differ", "", "", runbookHost},
	{LocalManager, Error, "the subnet manager does not reply", "", "", runbookHost},
	{LocalPKeys, Info, "the port is a limited member of partitions", "", "", runbookHost},
	{LocalName, Warning, "a node description does not identify the host", "", "", ""},
	{IPRoutes, Warning, "IP routes or ARP settings do not suit several RoCE ports", "", "", runbookRoCE},
	{Lossless, Warning, "flow control and congestion marking do not fit", "", "", runbookRoCE},
	{IOMMU, Info, "the IOMMU translates addresses", "", "", ""},
	{NUMA, Info, "the device is far from CPUs of the process", "", "", ""},
	{Governor, Warning, "the CPU frequency varies", "", "", ""},
	{Clock, Warning, "the kernel clock source is slow", "", "", ""},
	{HugePages, Info, "no huge pages", "", "", ""},
}
