package ibvdevinfo

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/verbs"
)

var program = cmdtest.Classic(New)

func TestRun_NoDevices(t *testing.T) {
	env := map[string]string{"IBKIT_SYSFS": t.TempDir()}
	for _, test := range []struct {
		line, out, err string
		code           int
	}{
		{"ibv_devinfo", "", "Failed to get IB devices list: Function not implemented\n", 255},
	} {
		t.Run(test.line, func(t *testing.T) {
			code, out, err := program.Run(t, env, strings.Fields(test.line)...)
			if code != test.code || out != test.out || err != test.err {
				t.Errorf("got exit code %d, output %q, error output %q, want %d, %q, %q", code, out, err, test.code, test.out, test.err)
			}
		})
	}
}

// TestView_Verbose checks the lines of ibv_devinfo -v that rdma-core 65 has and 44 does not
// (libibverbs/examples/devinfo.c).
func TestView_Verbose(t *testing.T) {
	const tabs = "\t\t\t\t\t"
	d := &devinfo.Device{
		Name: "mlx5_0", NodeType: new("CA"), CompCounters: &verbs.CompCounterCaps{MaxCounters: 4, MaxValue: 5, AttachOps: 0x41},
		Attr: &verbs.DeviceAttr{
			PhysPortCount: 1, MaxPKeys: 1, LocalCAAckDelay: 15, CapsEx: new(verbs.DeviceCapsEx(1<<41 | 1<<40)),
			ODP: &verbs.ODPCaps{RC: 0x1c1}, PacketPacing: &verbs.PacketPacingCaps{Min: 1, Max: 2, QPTypes: 1<<verbs.QPTypeRC | 1<<verbs.QPTypeUC},
			TSO: &verbs.TSOCaps{Max: 1, QPTypes: 1 << verbs.QPTypeRC},
		},
		Ports: []*devinfo.Port{{Number: 1, Attr: &verbs.PortAttr{ActiveSpeed: ib.NDR}, Effective: new(uint64(4005))}},
	}
	var out bytes.Buffer
	v := view{out: render.NewOutput(&out), verbose: true}
	if code := v.showDevice(d); code != 0 || v.out.Flush() != nil {
		t.Fatalf("got exit code %d", code)
	}
	for _, want := range []string{
		"\tmax_pkeys:\t\t\t1\n\tmax_comp_cntr:\t\t\t4\n\tcomp_cntr_caps:\n" + tabs + "QP_ATTACH_SEND\n\tlocal_ca_ack_delay:\t\t15\n",
		"\trc_odp_caps:\n" + tabs + "SUPPORT_SEND\n" + tabs + "SUPPORT_FLUSH\n" + tabs + "SUPPORT_ATOMIC_WRITE\n" + tabs + "Unknown flags: 0x100\n\tuc_odp_caps:\n",
		"\tdevice_cap_flags_ex:\t\t0x30000000000\n" + tabs + "CC_DMA_BOUNCE\n" + tabs + "Unknown flags: 0x10000000000\n",
		"\t\tqp_rate_limit_max:\t2kbps\n\t\tsupported_qp:\n" + tabs + "SUPPORT_RC\n" + tabs + "Unknown flags: 0x8\n",
		"\t\tmax_tso:\t\t\t1\n\t\tsupported_qp:\n" + tabs + "Unknown flags: 0x4\n",
		"\t\t\tactive_speed:\t\t100.0 Gbps (128)\n\t\t\teffective_speed:\t400.5 Gbps\n\t\t\tphys_state:",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got no %q in\n%s", want, &out)
		}
	}
}
