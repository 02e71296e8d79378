package devinfo

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/report"
)

// resources are the objects of a host whose kernel lists no SRQs.
func resources() *devinfo.Resources {
	app := devinfo.Owner{PID: new(uint32(412)), Process: new("app")}
	kernel := devinfo.Owner{Kernel: new("ib_core")}
	unsupported := errors.New("list SRQs: not supported by the kernel")
	r := &devinfo.Resources{
		Head: report.NewHead(devinfo.ResourcesSchema, time.Now()), Keys: true,
		Devices: []*devinfo.DeviceResources{
			{
				Name: "mlx5_0", Index: 1,
				Contexts: []devinfo.ContextObject{{Number: new(uint32(2)), Owner: app}},
				PDs:      []devinfo.PDObject{{Number: new(uint32(1)), Users: new(uint64(3)), LocalDMALKey: new(uint32(0)), Owner: kernel}},
				MRs:      []devinfo.MRObject{{Number: new(uint32(5)), Length: new(uint64(4096)), LKey: new(uint32(0x1f01)), RKey: new(uint32(0x1f01)), Owner: app}},
				CQs:      []devinfo.CQObject{{Number: new(uint32(9)), Entries: new(uint32(255)), PollContext: new("WORKQUEUE"), Moderation: new(true), Owner: kernel}},
				QPs: []devinfo.QPObject{
					{Number: new(uint32(1)), Port: new(uint32(1)), Type: new("GSI"), State: new("RTS"), Owner: kernel},
					{Number: new(uint32(312)), Port: new(uint32(1)), Type: new("RC"), State: new("RTS"), RemoteQPN: new(uint32(7)), RQPSN: new(uint32(8)), SQPSN: new(uint32(9)), PathMigration: new("MIGRATED"), PD: new(uint32(4)), Owner: app},
				},
				CMIDs: []devinfo.CMIDObject{{Number: new(uint32(3)), State: new("LISTEN"), PortSpace: new("TCP"), Source: new("10.0.0.1:7471"), Owner: app}},
				Statistics: []devinfo.Statistic{
					{Port: new(uint32(1)), QPs: []string{}, Counters: map[string]uint64{"sent_pkts": 12, "rcvd_pkts": 13}},
					{Port: new(uint32(1)), Counter: new(uint32(4)), Mode: new("auto"), QPType: new("RC"), QPs: []string{"312", "320-330"}, Counters: map[string]uint64{"rx_write_requests": 5}},
					{MR: new(uint32(5)), QPs: []string{}, Counters: map[string]uint64{"page_faults": 1}},
				},
			},
			{
				Name: "mlx5_1", Index: 2, Contexts: []devinfo.ContextObject{}, PDs: []devinfo.PDObject{}, MRs: []devinfo.MRObject{}, CQs: []devinfo.CQObject{},
				SRQs: []devinfo.SRQObject{{Number: new(uint32(1)), Type: new("XRC"), QPs: []string{"5", "7-9"}}}, QPs: []devinfo.QPObject{}, CMIDs: []devinfo.CMIDObject{},
			},
		},
		Problems: []devinfo.Problem{{Device: "mlx5_0", Err: unsupported, Advice: "Linux lists SRQs since release 5.14"}},
	}
	r.Fail(report.Failure{Subject: "mlx5_0", Error: unsupported.Error()})
	return r
}

func TestResources_Output(t *testing.T) {
	var all strings.Builder
	for _, c := range []command{{}, {wide: true}} {
		var out, errOut bytes.Buffer
		c.env = &cmdutil.Env{Out: &out, ErrOut: &errOut, Getenv: func(string) string { return "" }}
		err := c.showResources(resources())
		if code := cmdutil.ExitCode(c.env, "devinfo", err); code != cmdutil.ExitPartial {
			t.Errorf("got exit code %d, want %d", code, cmdutil.ExitPartial)
		}
		all.WriteString(out.String() + errOut.String() + "\n")
	}
	cmdtest.Golden(t, "resources.golden", all.String())
}

func TestResources_JSON(t *testing.T) {
	var out bytes.Buffer
	c := command{env: &cmdutil.Env{Out: &out, ErrOut: &bytes.Buffer{}}, json: true}
	_ = c.showResources(resources()) // the exit code is for a partial result
	var r devinfo.Resources
	cmdtest.CheckDocument(t, "../../schema/devinfo-resources.json", out.String(), &r)
}

func TestResources_Usage(t *testing.T) {
	for _, test := range []struct {
		env        map[string]string
		line, want string
		code       int
	}{
		{nil, "devinfo --resources --watch", "are mutually exclusive", cmdutil.ExitUsage},
		{nil, "devinfo --resources --problems", "are mutually exclusive", cmdutil.ExitUsage},
		{nil, "devinfo --statistics", "--resources", cmdutil.ExitUsage},
		{nil, "devinfo --resources --sim demo", "are mutually exclusive", cmdutil.ExitUsage},
		{map[string]string{"IBKIT_SIM": "demo"}, "devinfo --resources", "exclude IBKIT_SIM", cmdutil.ExitUsage},
		{map[string]string{"IBKIT_SYSFS": "/tmp"}, "devinfo --resources", "IBKIT_SYSFS", cmdutil.ExitFailed},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, test.env, strings.Fields(test.line)...)
			if code != test.code || out != "" || !strings.Contains(err, test.want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code %d and %q", code, out, err, test.code, test.want)
			}
		})
	}
}
