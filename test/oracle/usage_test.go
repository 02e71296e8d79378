package oracle

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// deviceTools are tools that require an RDMA device, which simulated fabrics do not have,
// with options that require an argument.
var deviceTools = map[string]string{
	"cmtime": "-c", "mckey": "-m", "ucmatose": "-C", "udaddy": "-C", "udpong": "-s",
	"rdma_client": "-s", "rdma_server": "-p", "rdma_xclient": "-c", "rdma_xserver": "-p",
	"ibv_rc_pingpong": "-m", "ibv_uc_pingpong": "-s", "ibv_ud_pingpong": "-r", "ibv_srq_pingpong": "-q", "ibv_xsrq_pingpong": "-c",
}

// TestUsage_DeviceTools compares the results of command lines for which no device is
// necessary: unknown options, missing values and too many arguments.
func TestUsage_DeviceTools(t *testing.T) {
	s := serveFabric(t, "single-switch:hosts=1")
	for _, tool := range slices.Sorted(maps.Keys(deviceTools)) {
		lines := []string{"-Z", "-h", deviceTools[tool], "--nosuch"}
		if strings.HasPrefix(tool, "ibv_") {
			lines = append(lines, "a b", "-p 99999999")
		}
		for _, line := range lines {
			t.Run(tool+" "+line, func(t *testing.T) {
				want := theirTools(t, s, "")(tool, strings.Fields(line)...)
				got := ourTools(t, s, "")(tool, strings.Fields(line)...)
				// The ibv_ud_pingpong size is 1024.
				want.Stdout = strings.Replace(want.Stdout, "(default 2048)", "(default 1024)", 1)
				if d := cmp.Diff(want.Stdout, got.Stdout); d != "" || got.Code != want.Code || want.Code == 0 {
					t.Errorf("got exit code %d, want %d; C tool (-), ibkit (+)\n%s", got.Code, want.Code, d)
				}
				if d := cmp.Diff(want.Stderr, got.Stderr); d != "" {
					t.Errorf("error output: C tool (-), ibkit (+)\n%s", d)
				}
			})
		}
	}
}
