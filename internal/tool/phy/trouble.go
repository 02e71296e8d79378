package phy

import (
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/report"
)

// nextSteps are the next steps for links that are down, by reason.
var nextSteps = map[string]string{
	"closed by command":                "enable the port: ibkit port {node} {port} enable",
	"negotiation failed":               "check that both ends enable a common speed and width: ibkit linkinfo --all-ports --node {node}",
	"training failed":                  "clean and reseat the cable at both ends, then replace it",
	"the ends have different settings": "compare speeds, widths and FEC at both ends: ibkit phy --down --details --node {node}",
	"remote fault":                     "read the port at the other end of the cable, which has the cause",
	"bad signal":                       "clean and reseat the cable at both ends, then replace it",
	"cable compliance":                 "use a cable that the device supports at this speed",
	"degraded speed":                   "clean and reseat the cable at both ends, then replace it",
	"no signal":                        "check that the cable is plugged in at the other end, and that the port there is enabled",
	"no partner":                       "check that the device at the other end has power",
	"in progress":                      "read the port again in a minute",
	"not available":                    "read the port again; then update the firmware of {node}",
	"cable unplugged":                  "plug in a cable, unless the port is not in use",
	"I2C bus stuck":                    "unplug the modules of {node} one after another, then restart it",
	"module EEPROM not readable":       "reseat the module, then replace it",
	"module not supported":             "use a module that the firmware of {node} supports",
	"module too hot":                   "check air flow and fans: ibkit phy --devices --node {node}",
	"short circuit in the cable":       "unplug and replace the cable",
	"power budget":                     "use a module of a lower power class, or another port",
	"disabled by management":           "enable the module on {node}",
	"module fault":                     "reseat the module, then replace it",
	"laser fault":                      "replace the module",
}

// reportTrouble returns the reason why a link is down, nil if it is unknown or the link is up.
func (e *End) reportTrouble() *ReportTrouble {
	t := e.Trouble
	if t == nil || t.Opcode == register.NoTrouble {
		return nil
	}
	reason := t.Opcode.String()
	next := report.Finding{}.At(e.Port.Node.GUID, int(e.Port.Number)).WithHint(nextSteps[reason]).Hint
	return &ReportTrouble{uint16(t.Opcode), reason, register.Clean(t.Message[:]), next}
}
