package page

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/exporter"
)

// TestPage_Registers checks that modules, light and error rates are on the pages, with their
// findings.
func TestPage_Registers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, "demo", func(o *exporter.Options) { o.PHY = true })
		leaf1, spine2 := s.guidOf("leaf1"), s.guidOf("spine2")
		for path, want := range map[string][]string{
			"/":                 {">dirty-fibre</b> receives lane 0 -11.7 dBm", ">hot-module</b> 78.5 °C", ">fan-failed</b>", "clean the connectors of the fibre at port 1 of leaf1"},
			"/links?problems=1": {"dirty-fibre: receives lane 0", "hot-module: 78.5 °C"},
			"/link?port=1&node=" + leaf1: {
				">Modules and light</h2>", ">Temperature</th><td>46.8 °C (at most 75)<", "-11.7, -11.2, -11.4, -11.9 dBm (at least -8.0)", ">BER before correction</th><td>6e-05</td><td>3e-09</td>",
				">Symbol BER</th><td>2e-12</td>", ">Last down</th><td>high error rate, blamed on the local end</td>", "</b> receives lane 0 -11.7 dBm", "SIM-",
			},
			"/link?port=5&node=" + leaf1: {">Module</th><td>passive copper 1 m</td>"},
			"/node?node=" + spine2:       {">fan-failed</b>", ">hot-module</b>"},
			"/picture":                   {"hot-module: 78.5 °C", `"others":[[3,"fan-failed: `, `["spine1","","0x0002c90000800000",1,1,-1,-1],["spine2",`},
		} {
			body := s.body(path)
			for _, w := range want {
				if !strings.Contains(body, w) {
					t.Errorf("%s: got no %q in\n%s", path, w, body)
				}
			}
		}
		text := s.body("/api/port?port=1&node=" + leaf1)
		testenv.CheckSchema(t, "../../../schema/top.json", text)
		if !strings.Contains(text, `"rx_dbm_lowest":-11.94`) || !strings.Contains(text, `"findings":["dirty-fibre"`) {
			t.Errorf("got %s", text)
		}
	})
}
