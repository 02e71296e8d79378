package exporter

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// The metrics from registers have the demo's faults, and each series once, also if two
// switches have the same GUID.
func TestRegisters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, e := simulated(t, "demo", Options{PHY: true})
		f.Node("leaf4").Info.NodeGUID = f.Node("leaf3").Info.NodeGUID
		text := sweepNow(t, e)
		parse(t, text)
		const (
			leaf1  = `guid="0x0002c90000800200",`
			spine2 = `guid="0x0002c90000800100",`
		)
		for _, want := range []string{
			`mlxlink_raw_physical_ber{` + leaf1 + `node="leaf1",port="1"} 6.000000000000001e-05`,
			`mlxlink_effective_physical_ber{` + leaf1 + `node="leaf1",port="2"} 0`,
			`mlxlink_link_down_total{` + leaf1 + `node="leaf1",port="1"} 2`,
			`mlxlink_module_temperature_celsius{` + spine2 + `node="spine2",port="3"} 78.5`,
			`ibkit_module_temperature_limit_celsius{` + spine2 + `node="spine2",port="3"} 75`,
			`mlxlink_module_rx_power_dbm{` + leaf1 + `lane="0",node="leaf1",port="1"} -11.67`,
			`ibkit_phy_finding{` + leaf1 + `kind="dirty-fibre",node="leaf1",peer="spine1",peer_port="1",port="1"} 1`,
			`ibkit_phy_finding{` + spine2 + `kind="fan-failed",node="spine2",peer="",peer_port="",port=""} 1`,
			`ibkit_phy_findings{kind="hot-module"} 1`,
			`infiniband_switch_fan_rpm{fan="3",guid="0x0002c90000800100"} 0`,
			`infiniband_switch_fan_status_info{guid="0x0002c90000800100",status="ERROR"} 1`,
			`infiniband_switch_power_supply_dc_power_status_info{guid="0x0002c90000800100",psu="1",status="OK"} 1`,
			`infiniband_switch_power_supply_fan_status_info{guid="0x0002c90000800100",psu="1",status="OK"} 1`,
			`infiniband_switch_power_supply_watts{guid="0x0002c90000800100",psu="1"} 210`,
			`infiniband_switch_power_supply_watts{guid="0x0002c90000800100",psu="0"} 210`,
		} {
			if !strings.Contains(text, want+"\n") {
				t.Errorf("got no series %s", want)
			}
		}
		if got := series(text, "mlxlink_module_rx_power_dbm.*port=\"5\""); len(got) != 4 {
			t.Errorf("got %d lanes at ports 5, want 4: leaf2 has an active cable there, the others copper", len(got))
		}
	})
}

// Without the option, no request goes to the vendor class and there are no such metrics. A
// fabric without registers has none of their series, and the sweep is complete.
func TestRegisters_Absent(t *testing.T) {
	for name, test := range map[string]struct {
		fabric string
		phy    bool
	}{"not requested": {"optics", false}, "no registers": {"single-switch:hosts=2", true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, e := simulated(t, test.fabric, Options{})
				requests := 0
				tamper := &umadtest.Tamper{Lose: func(m *umad.Message) bool {
					if m.MAD.Class() == mad.ClassMlnx {
						requests++
					}
					return false
				}}
				o := e.opts
				o.PHY, o.Fabric.Source.OpenPort = test.phy, tamper.Opener(f.Open)
				e = New(o)
				text := sweepNow(t, e)
				families := parse(t, text)
				for _, name := range []string{"mlxlink_module_info", "infiniband_switch_fan_rpm"} {
					if len(families[name].GetMetric()) > 0 {
						t.Errorf("got series of %s", name)
					}
				}
				if (requests > 0) != test.phy || e.Partial() {
					t.Errorf("got %d requests, partial %v", requests, e.Partial())
				}
				if test.phy && !slices.Contains(series(text, "ibkit_phy_devices_unavailable"), "ibkit_phy_devices_unavailable 3") {
					t.Error("got no number of devices without registers")
				}
			})
		})
	}
}
