package verbstest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/test/guest"
)

// hostChecks are the checks of doctor about an adapter. Kernel modules and limits are not part of
// the guest's adapter.
const hostChecks = "devices,nodes,ports,links,sm,pkeys,names,gids,routes,mtu,lossless,traffic,pcie,iommu,numa"

// CheckHost checks that devinfo names the adapter, with the begin of its model, and that
// doctor and check node find no problem with the files and attributes of the driver.
func CheckHost(t *testing.T, g *guest.Guest, model string) {
	t.Helper()
	var r devinfo.Result
	parse(t, g.Must(t, "ibkit", "devinfo", "--json"), &r)
	if got := r.Devices[0].Model; got == nil || !strings.HasPrefix(*got, model) {
		t.Errorf("got model %v, want %s", got, model)
	}
	for _, command := range []string{"doctor --json --window 100ms --only " + hostChecks, "check node --json --window 100ms"} {
		result := g.MustRun(t, append([]string{"ibkit"}, strings.Fields(command)...)...)
		var head report.Head
		parse(t, result.Stdout, &head)
		if result.Code != 0 || head.Partial || head.HasProblem() {
			t.Errorf("ibkit %s: got exit code %d, findings %+v, want none", command, result.Code, head.Findings)
		}
	}
}

// parse decodes a JSON document.
func parse(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}
