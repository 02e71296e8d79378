package roce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/dcbnl"
	"github.com/ibkit/ibkit/report"
)

// handOver are the commands that end the exchange of DCB settings by an adapter's firmware, by
// network driver (ethtool.rst of ice and i40e in Documentation/networking/device_drivers); ""
// if the driver has none.
var handOver = map[string]string{
	"ice":     "ethtool --set-priv-flags %s fw-lldp-agent off",
	"i40e":    "ethtool --set-priv-flags %s disable-fw-lldp on",
	"bnxt_en": "",
}

const (
	hintAgent = "or set PFC and DSCP on the switch, which sends them to the adapter"
	hintUEFI  = "disable DCBX and LLDP of the adapter in its UEFI menu (Device Level Configuration) and restart the host, " + hintAgent
)

// byFirmware reports whether the driver refuses the commands of dcb, because the firmware
// exchanges the settings with the switch (ice_dcbnl_setpfc, bnxt_dcbnl_ieee_setpfc).
func (s *NetdevSettings) byFirmware() bool {
	if _, known := handOver[s.driver]; !known || s.bridging.DCBX == nil {
		return false
	}
	return *s.bridging.DCBX&dcbnl.ByFirmware != 0 || *s.bridging.DCBX&dcbnl.ByHost == 0
}

// agent adds a mismatch before the mismatches from an index on, if the driver refuses their
// commands. It is as severe as the worst of these.
func (j *judge) agent(l *NetdevSettings, from int) {
	var severity report.Severity
	for _, m := range j.all[from:] {
		isRefused := slices.ContainsFunc(m.Fix, func(c string) bool { return strings.HasPrefix(c, "dcb ") })
		if isRefused && severity != report.Warning {
			severity = m.Severity
		}
	}
	if severity == "" || !l.byFirmware() {
		return
	}
	m := Mismatch{
		Kind: report.RoCEDCBX, Severity: severity, Found: fmt.Sprintf("the firmware of the adapter has the DCB settings (DCBX %v)", *l.bridging.DCBX),
		Why: "the driver refuses the commands of dcb (Invalid argument)", Hint: hintUEFI,
	}
	if command := handOver[l.driver]; command != "" {
		m.Fix, m.Hint = []string{fmt.Sprintf(command, word(l))}, hintAgent
	}
	all := j.all
	j.all = nil
	j.add(l, m)
	j.all = slices.Insert(all, from, j.all...)
}

// queuesFirst returns the commands before that which enables PFC: bnxt_en refuses PFC until
// queues are set (bnxt_hwrm_queue_pfc_cfg).
func (s *NetdevSettings) queuesFirst() []string {
	if e := s.bridging.ETS; s.driver != "bnxt_en" || e != nil && e.Share != [dcbnl.Priorities]uint8{} {
		return nil
	}
	return []string{fmt.Sprintf("dcb ets set dev %s tc-tsa 0:ets 1:ets tc-bw 0:50 1:50 prio-tc all:0 3:1", word(s))}
}
