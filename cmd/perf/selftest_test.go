package perf

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/tool/perf/selftest"
	"github.com/ibkit/ibkit/report"
)

// selfTestReport has a case of each outcome.
func selfTestReport() *selftest.Report {
	failed, unsupported, kind := "completion: got success,\nwant remote access error", "the device has no atomics", "RoCE v2"
	index := 3
	return &selftest.Report{
		Head: report.NewHead(selftest.Schema, time.Now()), Program: "ibkit 1.0.0", Seconds: 1.5,
		System: selftest.System{Kernel: "6.1.0", Architecture: "amd64", CPUs: 2, PageSize: 4096},
		Device: selftest.Device{
			Name: "mlx5_0", Driver: "mlx5", Firmware: "20.38.1002", VendorID: 0x2c9, VendorPartID: 4123, Port: 1, Ports: 1, Link: "Ethernet", MTU: 4096,
			GIDType: &kind, GIDIndex: &index,
		},
		Cases: []selftest.Case{
			{Transport: "rc", Name: "send", Outcome: selftest.Pass, Sizes: []int{0, 1}, Seconds: 1},
			{Transport: "rc", Name: "error: write, wrong rkey", Outcome: selftest.Fail, Reason: &failed, Sizes: []int{}},
			{Transport: "rc", Name: "fetch and add", Outcome: selftest.Unsupported, Reason: &unsupported, Sizes: []int{8}},
		},
	}
}

func TestSelfTest_table(t *testing.T) {
	var out bytes.Buffer
	c := &command{env: &cmdutil.Env{Out: &out}}
	if err := c.self.show(c, selfTestReport()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"self-test of mlx5_0 port 1 by ibkit 1.0.0\n",
		"device: driver mlx5, firmware 20.38.1002, vendor 0x02c9, part 4123, hardware version 0, board -\n",
		"port: 1 of 1, Ethernet, -, MTU 4096, GID 3, RoCE v2\n",
		"system: Linux 6.1.0, amd64, 2 processors, pages of 4096 bytes\n",
		"FAIL", "completion: got success,; want remote access error\n", "unsupported",
		"3 cases in 1.5 s: 1 passed, 1 failed, 1 unsupported\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got no %q in\n%s", want, out.String())
		}
	}
}

func TestSelfTest_json(t *testing.T) {
	var out bytes.Buffer
	c := &command{env: &cmdutil.Env{Out: &out}}
	c.view.json = true
	if err := c.self.show(c, selfTestReport()); err != nil {
		t.Fatal(err)
	}
	cmdtest.CheckDocument(t, "../../schema/perf-self-test.json", out.String(), new(selftest.Report))
}

// TestSelfTest_outcome checks the exit codes: without a supported case it fails.
func TestSelfTest_outcome(t *testing.T) {
	r := selfTestReport()
	r.Cases = r.Cases[2:]
	const none = "test mlx5_0: the device supports none of 1 case"
	if err := outcome(r); err == nil || err.Error() != none {
		t.Errorf("got %v, want %s", err, none)
	}
	r.Cases = append(r.Cases, selftest.Case{Outcome: selftest.Pass})
	if err := outcome(r); err != nil {
		t.Errorf("got %v, want success with a passed case", err)
	}
}

// TestSelfTest_noDevice checks that no report is printed without a device.
func TestSelfTest_noDevice(t *testing.T) {
	code, out, stderr := program.Run(t, nil, "perf", "--self-test", "mlx5_99")
	if code != cmdutil.ExitFailed || out != "" || !strings.Contains(stderr, "no RDMA device of this name") {
		t.Errorf("got exit code %d, output %q and %q, want %d and an error", code, out, stderr, cmdutil.ExitFailed)
	}
}
