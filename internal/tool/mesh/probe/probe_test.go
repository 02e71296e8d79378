package probe

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/stats"
)

// port returns the sysfs files of a port.
func port(device string, number int, state string) map[string]string {
	dir := fmt.Sprintf("class/infiniband/%s/ports/%d/", device, number)
	return map[string]string{
		dir + "state": state, dir + "phys_state": "5: LinkUp", dir + "lid": "0x1f", dir + "lid_mask_count": "0", dir + "sm_lid": "0x2",
		dir + "sm_sl": "0", dir + "rate": "100 Gb/sec (4X EDR)", dir + "gids/0": "fe80:0000:0000:0000:b859:9f03:0001:e2d4",
	}
}

func TestFindRails(t *testing.T) {
	files := map[string]string{"class/infiniband/rxe0/parent": "eth0"}
	for _, p := range []map[string]string{
		port("mlx5_0", 1, "4: ACTIVE"), port("mlx5_0", 2, "4: ACTIVE"), port("mlx5_1", 1, "1: DOWN"), port("rxe0", 1, "4: ACTIVE"),
	} {
		maps.Copy(files, p)
	}
	tree, empty := sysfs.FS(testenv.WriteTree(t, files)), sysfs.FS(testenv.WriteTree(t, map[string]string{"x": ""}))
	for name, test := range map[string]struct {
		fs     sysfs.FS
		list   []string
		want   []string
		failed string
	}{
		"all":       {tree, nil, []string{"mlx5_0/1 100", "mlx5_0/2 100", "rxe0/1 0"}, "open mlx5_1: no active port"},
		"port":      {tree, []string{"mlx5_0/2"}, []string{"mlx5_0/2 100"}, ""},
		"device":    {tree, []string{"rxe0"}, []string{"rxe0/1 0"}, ""},
		"no port":   {tree, []string{"mlx5_0/3"}, nil, "open mlx5_0/3: no active port"},
		"no device": {tree, []string{"mlx5_7"}, nil, "open device mlx5_7: no RDMA device of this name"},
		"empty":     {empty, nil, nil, "this host has no RDMA device"},
	} {
		t.Run(name, func(t *testing.T) {
			rails, failed := findRails(test.fs, test.list)
			var got []string
			for _, r := range rails {
				got = append(got, fmt.Sprintf("%s/%d %v", r.Device, r.Port, r.Gbps))
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
			if err := errors.Join(failed...); err == nil && test.failed != "" || err != nil && err.Error() != test.failed {
				t.Errorf("got %v, want %q", err, test.failed)
			}
		})
	}
}

// TestFigures checks units, and the counters of both sides that explain a bad figure.
func TestFigures(t *testing.T) {
	latency := perf.Measurement{Test: perf.NewTest(perf.Send, perf.Latency, perf.RC, 8), Latency: stats.NewSamples()}
	for range 3 {
		latency.Latency.Add(4000) // ns, there and back
	}
	bandwidth := perf.Measurement{
		Test: perf.NewTest(perf.Send, perf.Bandwidth, perf.RC, 1<<10), Sent: &perf.Throughput{Bytes: 3e9, Elapsed: time.Second},
		Received: &perf.Throughput{Bytes: 5e9, Elapsed: 2 * time.Second},
	}
	bandwidth.ClientSide.Counters = host.Counters{"completer_retry_err": 2, "sent_pkts": 100}
	bandwidth.ServerSide.Counters = host.Counters{"out_of_seq_request": 7}
	got := figures(&perf.Result{Measurements: []perf.Measurement{latency, bandwidth}}, nil)
	want := crew.Figures{Gbps: new(20.0), Latency: new(2.0), Signs: []crew.Sign{{Text: "retries 2"}, {Receiver: true, Text: "requests out of sequence 7"}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	failed := bandwidth
	failed.Err = &perf.PeerError{Peer: "server", Text: "message 3: payload is corrupt"}
	got = figures(&perf.Result{Measurements: []perf.Measurement{failed}}, &perf.TestsError{Failed: []perf.FailedTest{{Test: failed.Test, Err: failed.Err}}})
	if got.Gbps != nil || !got.Corrupt || got.Error != "measure send bw rc 1024 B: server: message 3: payload is corrupt" {
		t.Errorf("got %+v, want a corrupt payload", got)
	}
}

// TestProbe_Measure checks that a rail that one end does not have is an error.
func TestProbe_Measure(t *testing.T) {
	p := &Probe{}
	if f := p.Measure(t.Context(), nil, crew.Send{Rail: 0}); f.Error != "no rail at one of the ends" {
		t.Errorf("got %+v, want an error", f)
	}
}
