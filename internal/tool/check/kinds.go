package check

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/topology"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/report"
)

// A Kind is a kind of finding. Stage and Name identify it, and are stable: scripts match
// them.
type Kind struct {
	Stage, Name string
	Severity    Severity // by default

	// Ibdiagnet is the name of the finding in ibdiagnet 2 (ibdiag_fabric_errs.h of
	// NVIDIA's SDK), or "".
	Ibdiagnet string

	// Next is the next step. {node} stands for the GUID of the node, {port} for the
	// number of the port.
	Next string
}

// next returns the next step for a finding.
func (k *Kind) next(f *Finding) string {
	text := k.Next
	if f.NodeGUID != nil {
		text = strings.ReplaceAll(text, "{node}", f.NodeGUID.String())
	}
	if f.Port != nil {
		text = strings.ReplaceAll(text, "{port}", fmt.Sprint(*f.Port))
	}
	return text
}

// FabricKinds returns the kinds of findings of a fabric, by stage.
func FabricKinds() []Kind { return fabricKinds }

// NodeKinds returns the kinds of findings of a node, by stage.
func NodeKinds() []Kind { return nodeKinds }

// The names of kinds that this package adds to those of other packages.
const (
	noResponse       = "no-response"
	conflict         = "conflict"
	belowMinimum     = "below-minimum"
	noDefault        = "no-default-partition"
	notOnSwitch      = "not-on-switch"
	limitedOnly      = "limited-members"
	increased        = "increased"
	congested        = "congested"
	firmwareDiffers  = "firmware-differs"
	wrongStructure   = "wrong-structure"
	levelLink        = "level-link"
	fewUplinks       = "few-uplinks"
	unevenUplinks    = "uneven-uplinks"
	wrongRail        = "wrong-rail"
	missingDevice    = "missing-device"
	unexpectedDevice = "unexpected-device"
	deviceDiffers    = "device-differs"
	device           = "device"
	missingPort      = "missing-port"
	portState        = "port-state"
	rateBelow        = "rate-below"
	widthBelow       = "width-below"
	speedBelow       = "speed-below"
	pcieBelow        = "pcie-below"
	pcieSlow         = "pcie-slow"
	missingGID       = "missing-gid"
	flapping         = "flapping"
)

const (
	nextCable    = "reseat or replace the cable of port {port} of {node}; then: ibkit linkinfo --node {node}"
	nextLink     = "ibkit linkinfo --node {node}"
	nextBalance  = "ibkit routes --balance, then compare the routing engine of the subnet manager with the topology"
	nextRoutes   = "ibkit check routes --limit 0, then restart the routing of the subnet manager"
	nextPlan     = "ibkit topology --plan FILE --punch-list"
	nextTopology = "ibkit topology --check"
	nextManagers = "ibkit sm --sm-wait 10s"
	nextCounters = "ibkit counters {node} --window 10s"
	nextTree     = "compare the cabling with the plan: ibkit linkinfo --node {node}"
	nextEnforce  = "compare the partitions in the configuration of the subnet manager with ibkit query P_KeyTable {node}"
	nextExpect   = "replace or configure the device, or write the manifest again: ibkit check node --write-expect FILE"
)

// fabricKinds declares the findings of a fabric.
var fabricKinds = []Kind{
	{"discovery", noResponse, Error, "NODE_NO_RESPONSE", "check power, management processor and links of the node or its peer; then: ibkit ping --via sma"},
	{"discovery", string(topology.Blind), Error, "", "check the cable of port {port} of this host and the port at its other end: ibkit doctor; then check again"},
	{"discovery", conflict, Warning, "", "scan again; if the conflict remains: " + nextTopology},

	{"lids", string(topology.ZeroLID), Error, "PORT_LID_ZERO", "check that the subnet manager can reach the port: " + nextManagers},
	{"lids", string(topology.DuplicateLID), Error, "PORT_DUPLICATED_LID", "restart the subnet manager, which assigns the LIDs again"},
	{"lids", string(topology.LIDRange), Error, "PORT_INVALID_LID", "check the LMC in the configuration of the subnet manager"},

	{"guids", string(topology.ZeroGUID), Error, "", "burn the GUIDs of the device again"},
	{"guids", string(topology.DuplicateGUID), Error, "DUPLICATED_NODE_GUID", "find the devices by ibkit topology -l and burn the GUIDs of one again"},

	{"names", string(topology.EmptyName), Warning, "", "set the description on the host, for example by rdma-ndd"},
	{"names", string(topology.DuplicateName), Warning, "NODE_DUPLICATED_NODE_DESC", "set different descriptions, or a node name map"},

	{"links", linkinfo.NoReply.String(), Error, "NODE_NO_RESPONSE", nextLink},
	{"links", linkinfo.NoPeer.String(), Error, "NODE_NO_RESPONSE", "check the node behind port {port} of {node}: its firmware does not respond"},
	{"links", linkinfo.OneSided.String(), Error, "BAD_LINK", "reset the link: ibkit port {node} {port} reset"},
	{"links", linkinfo.NotActive.String(), Error, "LINK_LOGICAL_STATE_NOT_ACTIVE", "check that a subnet manager runs: " + nextManagers},
	{"links", linkinfo.Unstable.String(), Error, "BAD_LINK", nextCable},
	{"links", linkinfo.Disabled.String(), Ignore, "", "ibkit port {node} {port} enable"},
	{"links", linkinfo.Invalid.String(), Error, "", "update the firmware of {node}"},

	{"speed", linkinfo.Narrow.String(), Error, "LINK_UNEXPECTED_WIDTH", nextCable},
	{"speed", linkinfo.Slow.String(), Error, "LINK_UNEXPECTED_SPEED", nextCable},
	{"speed", linkinfo.Limited.String(), Ignore, "", "enable all speeds: ibkit port {node} {port} speed=all espeed=all reset"},
	{"speed", linkinfo.Uneven.String(), Warning, "LINK_DIFFERENT_SPEED", nextLink},
	{"speed", belowMinimum, Error, "LINK_UNEXPECTED_SPEED", nextCable},

	{"sm", string(report.NoMaster), Error, "SM_NOT_FOUND_MASTER", "start a subnet manager; its log shows why it is not the master"},
	{"sm", string(report.TwoMasters), Error, "SM_FOUND_MANY_MASTERS", "stop all subnet managers but one; check the links between their nodes"},
	{"sm", string(report.EqualPriority), Warning, "", "set different priorities of the subnet managers"},
	{"sm", string(report.NoReply), Error, "NODE_NO_RESPONSE", "check the node of the subnet manager: " + nextManagers},
	{"sm", string(report.NoManager), Warning, "", "start the subnet manager again, or clear the capability of the port"},
	{"sm", string(report.Stalled), Error, "", "restart the subnet manager: it does not send packets"},
	{"sm", string(report.OtherMaster), Error, "SM_NOT_CORRECT_MASTER", nextManagers},
	{"sm", string(report.WrongState), Warning, "", nextManagers},

	{"sa", string(topology.MissingNode), Error, "NODE_NO_RESPONSE", "check the power and the management processor of the first missing node on the path; then: ibkit check fabric --only discovery,sa"},
	{"sa", noResponse, Unknown, "", "ibkit sa NodeRecord"},

	{"pkeys", noDefault, Error, "PKEY_MISMATCH", nextEnforce},
	{"pkeys", notOnSwitch, Error, "PKEY_MISMATCH", nextEnforce},
	{"pkeys", limitedOnly, Warning, "", "make a member full in the configuration of the subnet manager"},
	{"pkeys", noResponse, Unknown, "", "ibkit query P_KeyTable {node}"},

	{"counters", counters.Exceeded.String(), Warning, "PM_COUNTER_EXCEEDS_THRESHOLD", nextCounters},
	{"counters", increased, Error, "PM_COUNTER_INCREASED", nextCounters},
	{"counters", congested, Warning, "", "find the traffic: ibkit counters --window 10s --sort wait"},
	{"counters", counters.Flapped.String(), Error, "BAD_LINK", nextCable},
	{"counters", counters.Saturated.String(), Warning, "PM_COUNTER_OVERFLOW", "ibkit counters --reset errors {node}"},
	{"counters", counters.Cleared.String(), Warning, "PM_NEGATIVE_DELTA_COUNTERS", "repeat the check; find the program that clears counters"},
	{"counters", counters.Disappeared.String(), Error, "NODE_NO_RESPONSE", nextLink},
	{"counters", noResponse, Unknown, "NODE_NO_RESPONSE", "ibkit ping --via pma {node}"},

	{"ber", counters.BitErrors.String(), Error, "BER_EXCEEDS_THRESHOLD", nextCable},

	{"firmware", firmwareDiffers, Warning, "NODE_WRONG_FW_VERSION", "install the version that most devices of the type have"},
	{"firmware", noResponse, Unknown, "", "ibkit query GeneralInfo {node}"},

	{"routing", string(report.Unreachable), Error, "", nextRoutes},
	{"routing", string(report.ForwardingLoop), Error, "", nextRoutes},
	{"routing", string(report.NotActive), Error, "LINK_LOGICAL_STATE_NOT_ACTIVE", nextRoutes},
	{"routing", string(report.CreditLoop), Error, "", "select a routing engine without credit loops, for example up/down"},
	{"routing", string(report.Unbalanced), Warning, "", nextBalance},
	{"routing", string(report.Multicast), Error, "", nextRoutes},
	{"routing", string(report.SamePath), Warning, "", nextRoutes},
	{"routing", string(report.BeyondSwitch), Error, "", nextRoutes},
	{"routing", string(report.DuplicateLID), Error, "PORT_DUPLICATED_LID", nextRoutes},
	{"routing", string(report.Changing), Warning, "", "repeat the check when the subnet manager is idle"},
	{"routing", noResponse, Unknown, "NODE_NO_RESPONSE", "ibkit check routes -e"},

	{"tree", wrongStructure, Error, "", "ibkit topology --format html > fabric.html"},
	{"tree", levelLink, Error, "", nextTree},
	{"tree", fewUplinks, Warning, "", nextTree},
	{"tree", unevenUplinks, Warning, "", nextTree},

	{"rails", wrongRail, Error, "", "exchange the cables of the host; then: ibkit check fabric --only rails"},

	{"plan", string(topology.MissingNode), Error, "", nextPlan},
	{"plan", string(topology.MissingCable), Error, "", nextPlan},
	{"plan", string(topology.WrongPeer), Error, "", nextPlan},
	{"plan", string(topology.Swapped), Error, "", nextPlan},
	{"plan", string(topology.UnexpectedCable), Warning, "", nextPlan},
	{"plan", string(topology.Slower), Error, "LINK_UNEXPECTED_SPEED", nextPlan},
	{"plan", string(topology.Ambiguous), Warning, "", "use GUIDs or unique names in the plan"},
	{"plan", string(topology.DuplicateName), Warning, "", "use GUIDs or unique names in the plan"},
}

// nodeKinds declares the findings of a node.
var nodeKinds = []Kind{
	{"devices", missingDevice, Error, "", "ibkit doctor --only modules,devices; lspci shows whether the slot has the device"},
	{"devices", unexpectedDevice, Warning, "", nextExpect},
	{"devices", deviceDiffers, Error, "", nextExpect},
	{"devices", device, Error, "", "ibkit doctor"},

	{"ports", missingPort, Error, "", nextExpect},
	{"ports", portState, Error, "", "ibkit doctor --only ports,links"},

	{"rates", rateBelow, Error, "", "ibkit doctor --only links; reseat or replace the cable"},
	{"rates", widthBelow, Error, "", "ibkit doctor --only links; reseat or replace the cable"},
	{"rates", speedBelow, Error, "", "ibkit doctor --only links; reseat or replace the cable"},

	{"pcie", pcieBelow, Error, "", "reseat the adapter, or use a slot with more lanes or a newer PCIe generation"},
	{"pcie", pcieSlow, Warning, "", "reseat the adapter, or use a slot with more lanes or a newer PCIe generation"},

	{"firmware", firmwareDiffers, Warning, "", "install the firmware of the manifest, or write the manifest again"},

	{"gids", missingGID, Error, "", "ibkit doctor --only gids"},

	{"counters", counters.Exceeded.String(), Warning, "", "ibkit counters --local --window 10s"},
	{"counters", increased, Error, "", "ibkit counters --local --window 10s; reseat or replace the cable"},

	{"flaps", flapping, Error, "", "reseat or replace the cable; the finding ends when the downs are older than the window"},
}
