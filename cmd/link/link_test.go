package link

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/tool/softdevice"
)

var program = cmdtest.Native(New)

func TestLink_Usage(t *testing.T) {
	for _, test := range []struct {
		env        map[string]string
		line, want string
		code       int
	}{
		{nil, "link add", "no device name given", cmdutil.ExitUsage},
		{nil, "link add a b", "got 2", cmdutil.ExitUsage},
		{nil, "link add rxe0 type rxe netdev nosuchnetdev --dry-run", "find network device nosuchnetdev", cmdutil.ExitFailed},
		{nil, "link add rxe0 netdev nosuchnetdev type siw --dry-run", "find network device nosuchnetdev", cmdutil.ExitFailed},
		{nil, "link add rxe0 type rxe --netdev nosuchnetdev --dry-run", "find network device nosuchnetdev", cmdutil.ExitFailed},
		{nil, "link add rxe0 type mlx5 netdev lo", `invalid type "mlx5": want one of rxe, siw`, cmdutil.ExitUsage},
		{nil, "link add rxe0 type rxe --type siw netdev lo", "type is given twice", cmdutil.ExitUsage},
		{nil, "link add rxe0 type rxe type siw netdev lo", "type is given twice", cmdutil.ExitUsage},
		{nil, "link add rxe0 kind rxe netdev lo", "hint: for example: ibkit link add rxe0 --type rxe --netdev eth0", cmdutil.ExitUsage},
		{nil, "link delete rxe0 type rxe", "got 3, want 1", cmdutil.ExitUsage},
		{nil, "link add rxe0", "--type", cmdutil.ExitUsage},
		{nil, "link add rxe0 --type rxe", "--netdev", cmdutil.ExitUsage},
		{nil, "link add rxe0 --type mlx5 --netdev lo", "want one of rxe, siw", cmdutil.ExitUsage},
		{nil, "link add rxe0 --type rxe --netdev lo --wait -1s", "invalid --wait", cmdutil.ExitUsage},
		{nil, "link add rxe0 --type rxe --netdev lo --dry-run --yes", "are mutually exclusive", cmdutil.ExitUsage},
		{nil, "link delete", "no device name given", cmdutil.ExitUsage},
		{nil, "link delete rxe0 --force now", "want one of in-use", cmdutil.ExitUsage},
		{map[string]string{"IBKIT_SIM": "demo"}, "link delete rxe0", "devices of this host and IBKIT_SIM are mutually exclusive", cmdutil.ExitUsage},
		{map[string]string{"IBKIT_SYSFS": "/tmp"}, "link delete rxe0", "IBKIT_SYSFS", cmdutil.ExitFailed},
		{nil, "link add rxe0 --type rxe --netdev nosuchnetdev --dry-run", "find network device nosuchnetdev", cmdutil.ExitFailed},
		{nil, "link delete nosuchdevice --dry-run", "no such device", cmdutil.ExitFailed},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, test.env, strings.Fields(test.line)...)
			if code != test.code || out != "" || !strings.Contains(err, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and %q", code, out, err, test.code, test.want)
			}
		})
	}
}

// plans are changes, with the results that they may have.
func plans() []*softdevice.Plan {
	return []*softdevice.Plan{
		{Change: softdevice.Change{Action: softdevice.Add, Device: "rxe0", Type: "rxe", Netdev: "eth0"}, NetdevUp: true},
		{Change: softdevice.Change{Action: softdevice.Add, Device: "siw0", Type: "siw", Netdev: "eth1"}},
		{Change: softdevice.Change{Action: softdevice.Add, Device: "rxe0", Type: "rxe", Netdev: "eth0"}, NetdevUp: true, Needless: true},
		{Change: softdevice.Change{Action: softdevice.Delete, Device: "rxe0", Type: "rxe", Netdev: "eth0"}},
		{Change: softdevice.Change{Action: softdevice.Delete, Device: "rxe0", Type: "rxe", Netdev: "eth0"}, Users: []softdevice.User{
			{Owner: devinfo.Owner{PID: new(uint32(412)), Process: new("app")}, Contexts: 1, QPs: 2},
			{Owner: devinfo.Owner{Kernel: new("rpcrdma")}, CMIDs: 1},
		}},
	}
}

var ports = []softdevice.Port{{Active: true, GID: "fe80::1"}, {}, {Active: true}}

func TestLink_Output(t *testing.T) {
	var out, errOut bytes.Buffer
	c := command{env: &cmdutil.Env{Out: &out, ErrOut: &errOut}}
	for _, p := range plans() {
		c.showPlan(p)
		if err := c.refuse(p); err != nil {
			out.WriteString(err.Error() + "\nhint: " + cmdutil.Hint(err) + "\n")
		}
		for _, port := range ports {
			c.showResult(p.ReportResult(port, nil))
		}
		out.WriteString("\n")
	}
	cmdtest.Golden(t, "output.golden", out.String())
}

func TestLink_JSON(t *testing.T) {
	var out bytes.Buffer
	c := command{env: &cmdutil.Env{Out: &out}, json: true}
	for _, p := range plans() {
		for _, r := range []*softdevice.Report{p.Report(), p.ReportResult(ports[0], nil), p.ReportResult(ports[1], nil), p.ReportResult(ports[1], errors.New("no"))} {
			out.Reset()
			c.showJSON(r)
			cmdtest.CheckDocument(t, "../../schema/link.json", out.String(), new(softdevice.Report))
		}
	}
}
