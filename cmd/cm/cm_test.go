package cm

import (
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/cm"
	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/verbs"
)

var program = cmdtest.Native(New)

func TestCM_Usage(t *testing.T) {
	for line, want := range map[string]string{
		"cm":                          "no target given",
		"cm :7471":                    "invalid target",
		"cm a:b":                      `invalid port "b"`,
		"cm a:70000":                  `invalid port "70000"`,
		"cm a:1:2":                    "invalid address",
		"cm --count 0 a":              "invalid --count 0",
		"cm --parallel -1 a":          "invalid --parallel -1",
		"cm --rate 0 a":               "invalid --rate 0",
		"cm --step-timeout 0s a":      "invalid --step-timeout 0s",
		"cm --max 5 a":                "--serve",
		"cm --serve --max 0":          "invalid --max 0",
		"cm --serve --count 5":        "--count) has no effect with --serve",
		"cm --json --histogram a":     "are mutually exclusive",
		"cm a b":                      "got 2, want at most 1",
		"cm --bind 1:2:3:4:5:6:7:x a": "invalid address",
	} {
		t.Run(line, func(t *testing.T) {
			code, out, err := program.Run(t, nil, strings.Fields(line)...)
			if code != cmdutil.ExitUsage || out != "" || !strings.Contains(err, want) {
				t.Errorf("got exit code %d, output %q, error output %q, want exit code 2 and %q", code, out, err, want)
			}
		})
	}
}

func TestOpenHint(t *testing.T) {
	efa, mlx5 := verbs.Device{Driver: verbs.DriverEFA}, verbs.Device{Driver: verbs.DriverMLX5}
	for _, test := range []struct {
		name    string
		err     error
		devices []verbs.Device
		want    string
	}{
		{"no module", fs.ErrNotExist, []verbs.Device{efa, mlx5}, "load the kernel module: modprobe rdma_ucm"},
		{"no device", fs.ErrNotExist, nil, "load the kernel module: modprobe rdma_ucm"},
		{"EFA", fs.ErrNotExist, []verbs.Device{efa, efa}, "EFA has no connection manager: ibkit perf HOST --transport srd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := &fs.PathError{Op: "open", Path: "/dev/infiniband/rdma_cm", Err: test.err}
			if got := openHint(err, func() ([]verbs.Device, error) { return test.devices, nil }); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWithPort(t *testing.T) {
	for address, want := range map[string]string{
		"host": "host:7471", "host:1": "host:1", "10.0.0.1": "10.0.0.1:7471", "fe80::1%eth0": "[fe80::1%eth0]:7471",
		"[::1]": "[::1]:7471", "[::1]:2": "[::1]:2", ":5": ":5", "": ":7471",
	} {
		t.Run(address, func(t *testing.T) {
			if got, err := withPort(address, 7471); got != want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
}

// results are results of a host: a connection, one that fails, and many.
func results() map[string]*cm.Result {
	ns := func(v int64) *int64 { return &v }
	steps := func(completed int, failed rdmacm.Step) (all []cm.StepResult) {
		for i, s := range rdmacm.Steps() {
			r := cm.StepResult{Step: s, Histogram: []cm.Bar{}}
			if i < completed {
				low := int64(1024) << i
				r.Count, r.Min, r.Median, r.P99, r.Max = 1, ns(low), ns(low), ns(low+5), ns(low+9)
				r.Histogram = []cm.Bar{{From: low, To: 2 * low, Count: 1}}
			} else if s == failed {
				r.Failed = 1
			}
			all = append(all, r)
		}
		return all
	}
	roce := &cm.Path{
		Device: "rxe0", Port: 1, Local: "10.0.0.1:40000", LocalGID: ib.GID{10: 0xff, 11: 0xff, 12: 10, 15: 1},
		PeerGID: ib.GID{10: 0xff, 11: 0xff, 12: 10, 15: 2}, ServiceID: 0x1061d2f, MTU: new(1024), SL: new(uint8(0)), PKey: new(uint16(0xffff)),
	}
	infiniband := *roce
	infiniband.DLID = new(ib.LID(7))
	base := cm.Result{Head: report.NewHead(cm.Schema, time.Now()), Target: "node02", Address: "10.0.0.2:7471", Connections: 1, Failed: []cm.FailedStep{}}
	one, failed, many, early := base, base, base, base
	one.Path, one.Established, one.Seconds, one.Steps = roce, 1, 0.5, steps(6, 0)
	failed.Path, failed.Steps = &infiniband, steps(3, rdmacm.StepConnect)
	failed.Failed = []cm.FailedStep{{
		Step: rdmacm.StepConnect, Cause: cm.CauseRefused, Count: 1, PrivateData: []byte("busy\x1b"),
		Error: "connect to 10.0.0.2:7471: rejected by the peer: consumer defined",
	}}
	many.Path, many.Connections, many.Established, many.Seconds, many.Steps = roce, 2, 1, 0.5, steps(6, 0)
	many.Failed = []cm.FailedStep{{Step: rdmacm.StepConnect, Cause: cm.CauseNoReply, Count: 1, Error: "connect to 10.0.0.2:7471: no reply within 10s"}}
	early.Steps = steps(0, rdmacm.StepAddress)
	early.Failed = []cm.FailedStep{{Step: rdmacm.StepAddress, Cause: cm.CauseNoDevice, Count: 1, Error: "resolve address 10.0.0.2:7471: address not resolved: no such device"}}
	return map[string]*cm.Result{"one": &one, "failed": &failed, "many": &many, "early": &early}
}

func TestView(t *testing.T) {
	for name, r := range results() {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			out := render.NewOutput(&text)
			v := &view{out: out, palette: render.NewPalette(&text, func(string) string { return "" }), histogram: name == "many"}
			if err := v.print(r); err != nil {
				t.Fatal(err)
			}
			if err := out.Flush(); err != nil {
				t.Fatal(err)
			}
			cmdtest.Golden(t, name+".txt", text.String())
		})
	}
}

func TestJSON(t *testing.T) {
	documents := map[string]any{"cm-serve": &cm.ServeCounts{Head: report.NewHead(cm.ServeSchema, time.Now()), Accepted: 3}}
	for name, r := range results() {
		documents["cm "+name] = r
	}
	for name, v := range documents {
		t.Run(name, func(t *testing.T) {
			file, _, _ := strings.Cut(name, " ")
			var into any = new(cm.ServeCounts)
			if file == "cm" {
				into = new(cm.Result)
			}
			cmdtest.CheckDocument(t, "../../schema/"+file+".json", string(render.MustMarshal(v)), into)
		})
	}
}

// TestAdvice: each cause but the unknown one has advice.
func TestAdvice(t *testing.T) {
	for name, r := range results() {
		for _, f := range r.Failed {
			if len(advice(r, f)) == 0 {
				t.Errorf("%s: got no advice for %q", name, f.Cause)
			}
		}
	}
}
