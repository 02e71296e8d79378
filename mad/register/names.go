package register

import "strconv"

// nameOf returns a name from a table, and the number for a value without name.
func nameOf[T ~uint8 | ~uint16](table map[T]string, v T) string {
	if name, ok := table[v]; ok {
		return name
	}
	return undefined(uint16(v))
}

func undefined(v uint16) string { return "undefined (" + strconv.Itoa(int(v)) + ")" }

// A FEC is a forward error correction.
type FEC uint16

// String returns the correction: for Reed-Solomon codes block and data length in symbols.
func (f FEC) String() string { return nameOf(fecNames, f) }

var fecNames = map[FEC]string{
	0: "none", 1: "Firecode", 2: "RS(528,514)", 3: "LL-RS(271,257)", 4: "quad RS(544,514)",
	5: "quad RS(546,516)+PLR", 6: "interleaved RS(544,514)", 7: "RS(544,514)", 8: "octet RS(546,516)+PLR",
	9: "LL-RS(272,257+1)", 10: "interleaved LL-RS(272,257+1)", 11: "interleaved RS(544,514)+PLR",
	12: "RS(544,514)+PLR", 13: "LL-RS(271,257)+PLR", 14: "LL-RS(272,257+1)+PLR",
	15: "interleaved LL-RS(272,257+1)+PLR",
}

// A PhyState is the state of a port's link manager.
type PhyState uint8

// States that other states are compared with.
const (
	PhyDisabled PhyState = 0
	PhyPolling  PhyState = 2
	PhyActive   PhyState = 3
)

// String returns the state in lower case.
func (s PhyState) String() string { return nameOf(phyStates, s) }

var phyStates = map[PhyState]string{
	0: "disabled", 1: "opening", 2: "polling", 3: "active", 4: "closing", 5: "phy up", 6: "asleep", 7: "receiver off",
	8: "signal detect", 9: "receiver detect", 10: "synchronising", 11: "negotiating", 12: "training",
	13: "sub-states active", 14: "protocol detect", 15: "unknown",
}

// A CableType is the kind of cable or module.
type CableType uint8

// The kinds.
const (
	CableUnidentified CableType = 0
	CableActive       CableType = 1
	CableOptical      CableType = 2
	CablePassive      CableType = 3
	CableUnplugged    CableType = 4
)

// String returns the kind.
func (t CableType) String() string { return nameOf(cableTypes, t) }

var cableTypes = map[CableType]string{
	0: "unidentified", 1: "active cable", 2: "optical module", 3: "passive copper", 4: "unplugged",
	5: "twisted pair", 6: "co-packaged optics", 7: "optical engine", 8: "external laser",
}

// An Identifier is a connector's form.
type Identifier uint8

// Identifiers with a meaning for other fields.
const (
	QSFP28   Identifier = 0
	QSFPPlus Identifier = 1
	QSFPDD   Identifier = 6
	QSFPCMIS Identifier = 7
	OSFP     Identifier = 8
)

// IsCMIS reports whether the module has a memory map by CMIS.
func (i Identifier) IsCMIS() bool { return i == QSFPDD || i == QSFPCMIS || i == OSFP }

// String returns the form.
func (i Identifier) String() string { return nameOf(identifiers, i) }

var identifiers = map[Identifier]string{
	0: "QSFP28", 1: "QSFP+", 2: "SFP28", 3: "QSA", 4: "backplane", 5: "SFP-DD", 6: "QSFP-DD", 7: "QSFP-CMIS",
	8: "OSFP", 9: "chip to chip", 10: "DSFP", 11: "QSFP split cable", 12: "co-packaged optics", 14: "external laser",
}

// A ModuleState is a module's state by CMIS.
type ModuleState uint8

// ModuleReady is the state of a module in use.
const ModuleReady ModuleState = 3

// String returns the state.
func (s ModuleState) String() string { return nameOf(moduleStates, s) }

var moduleStates = map[ModuleState]string{0: "unknown", 1: "low power", 2: "powering up", 3: "ready", 4: "powering down", 5: "fault"}

// A DataPathState is the state of a module's lane by CMIS.
type DataPathState uint8

// DataPathActive is the state of a lane in use.
const DataPathActive DataPathState = 4

// String returns the state.
func (s DataPathState) String() string { return nameOf(dataPathStates, s) }

var dataPathStates = map[DataPathState]string{
	0: "unknown", 1: "deactivated", 2: "initialising", 3: "deinitialising", 4: "activated", 5: "transmitter turning on",
	6: "transmitter turning off", 7: "initialised",
}

// A Blame is the end that caused a link to go down.
type Blame uint8

// NoBlame is unknown.
const NoBlame Blame = 0

// String returns the end.
func (b Blame) String() string { return nameOf(blames, b) }

var blames = map[Blame]string{0: "unknown", 1: "local", 2: "remote"}

// A DownReason is the cause of a link that went down.
type DownReason uint8

// NoDown is the reason of a link that has not gone down.
const NoDown DownReason = 0

// String returns the cause.
func (r DownReason) String() string { return nameOf(downReasons, r) }

var downReasons = map[DownReason]string{
	0: "none", 1: "unknown", 2: "high error rate", 3: "block lock lost", 4: "lane alignment lost", 5: "FEC synchronisation lost",
	6: "PLL lock lost", 7: "FIFO overflow", 8: "false SKIP", 9: "minor error threshold exceeded", 10: "PLR timeout",
	11: "heartbeat errors", 12: "credit watchdog", 13: "link integrity threshold exceeded", 14: "buffer overrun",
	15: "command from outside", 16: "command from outside, high error rate", 17: "command in band",
	18: "command in band, high error rate", 19: "verification gateway", 20: "remote fault", 21: "peer restarted training (TS1)",
	22: "management command", 23: "cable unplugged", 24: "cable not readable", 25: "module overheated", 26: "overcurrent",
	27: "power budget", 28: "fast recovery, raw error rate", 29: "fast recovery, effective error rate",
	30: "fast recovery, symbol error rate", 31: "fast recovery, credit watchdog", 32: "peer asleep", 33: "peer disabled",
	34: "peer disabled and locked", 35: "peer overheated", 36: "peer forced down", 37: "peer reset", 38: "reset",
	39: "fast recovery, PLR", 40: "forced by hardware",
}
