package version

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/testenv"
)

var program = cmdtest.Native(New)

func TestVersionReport(t *testing.T) {
	for _, name := range testenv.Hosts(t) {
		env := map[string]string{"IBKIT_SYSFS": testenv.Host(t, name)}
		code, out, stderr := program.Run(t, env, "version", "--json")
		if code != cmdutil.ExitOK || stderr != "" {
			t.Errorf("%s: exit code %d, error output %q", name, code, stderr)
		}
		cmdtest.CheckDocument(t, "../../schema/version.json", out, new(devinfo.ReportVersion))
	}
	env := map[string]string{"IBKIT_SYSFS": testenv.Host(t, "mlx5-ib")}
	if _, out, _ := program.Run(t, env, "version"); !strings.Contains(out, "mlx5_0, firmware ") {
		t.Errorf("version says nothing of the device: %s", out)
	}
}
