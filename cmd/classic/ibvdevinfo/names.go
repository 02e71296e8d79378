package ibvdevinfo

import (
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// Names in ibv_devinfo, its misspelling included.

func portState(s ib.PortState) string {
	switch s {
	case ib.PortDown:
		return "PORT_DOWN"
	case ib.PortInit:
		return "PORT_INIT"
	case ib.PortArmed:
		return "PORT_ARMED"
	case ib.PortActive:
		return "PORT_ACTIVE"
	}
	return "invalid state"
}

func physState(s ib.PhysState) string {
	switch s {
	case ib.PhysSleep:
		return "SLEEP"
	case ib.PhysPolling:
		return "POLLING"
	case ib.PhysDisabled:
		return "DISABLED"
	case ib.PhysTraining:
		return "PORT_CONFIGURATION TRAINNING"
	case ib.PhysLinkUp:
		return "LINK_UP"
	case ib.PhysLinkErrorRecovery:
		return "LINK_ERROR_RECOVERY"
	case ib.PhysTest:
		return "PHY TEST"
	}
	return "invalid physical state"
}

func mtu(m ib.MTU) string {
	if !m.Defined() {
		return "invalid MTU"
	}
	return m.String()
}

func virtualLanes(v ib.VLCap) string {
	if !v.Defined() {
		return "invalid value"
	}
	return strconv.Itoa(v.Lanes())
}

func linkWidth(w ib.LinkWidth) string {
	if !w.Single() {
		return "invalid widthX"
	}
	return w.String()
}

func linkSpeed(s ib.Speed) string {
	if !s.Single() {
		return "invalid speed"
	}
	return strconv.FormatFloat(s.NominalGbps(), 'f', 1, 64) + " Gbps"
}

func linkLayer(l ib.LinkLayer) string {
	if !l.Defined() {
		return "Unknown"
	}
	return l.String()
}
