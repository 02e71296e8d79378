package check

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/report"
)

// host returns a root directory with a host's sysfs, in which files were replaced.
func host(t *testing.T, name string, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Symlink(testenv.Host(t, name), filepath.Join(root, "sys")); err != nil {
		t.Fatal(err)
	}
	change(t, root, files)
	return root
}

// change replaces files below sys/class. An empty text removes the directory or file.
func change(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, "sys/class", name)
		if text == "" {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// manifest returns a host's manifest.
func manifest(t *testing.T, root string) *Manifest {
	t.Helper()
	r, err := Devices(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := ManifestOf(r.Devices, nil).Write(&text); err != nil {
		t.Fatal(err)
	}
	m, err := ParseManifest([]byte(text.String()), "manifest.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, text.String())
	}
	return m
}

// A written manifest describes the host.
func TestNode_WrittenManifest(t *testing.T) {
	for _, name := range testenv.Hosts(t) {
		t.Run(name, func(t *testing.T) {
			root := host(t, name, nil)
			r, err := Node(t.Context(), NodeOptions{Root: root, Expect: manifest(t, root), Limits: DefaultLimits()})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				if slices.Contains([]string{"devices", "ports", "rates", "pcie", "firmware"}, StageOf(f)) && f.Severity != report.Unknown && f.Kind != report.UnreadableDevice {
					t.Errorf("got %+v, want no finding of the manifest", f)
				}
			}
		})
	}
}

const (
	ibPort = "infiniband/mlx5_0/ports/1/"
)

func TestNode_Faults(t *testing.T) {
	tested := map[string]bool{"devices/device": true, "counters/increased": true, "flaps/flapping": true} // by other tests
	for _, test := range []struct {
		kind, host string
		files      map[string]string
		expect     string // manifest; "": the host's before the change; "-": none
		subject    string
	}{
		{kind: "devices/missing-device", host: "mlx5-ib", files: map[string]string{"infiniband/mlx5_0": ""}, subject: "mlx5_0"},
		{kind: "devices/unexpected-device", host: "mlx5-ib", expect: "devices: {mlx5_9: {}}", subject: "mlx5_0"},
		{kind: "devices/device-differs", host: "mlx5-ib", files: map[string]string{"infiniband/mlx5_0/hca_type": "MT1"}, subject: "mlx5_0"},
		{kind: "devices/zero-guid", host: "mlx5-ib", files: map[string]string{"infiniband/mlx5_0/node_guid": "0000:0000:0000:0000"}, subject: "mlx5_0"},
		{kind: "ports/missing-port", host: "mlx5-ib", expect: "devices: {mlx5_0: {ports: {7: {}}}}", subject: "mlx5_0/7"},
		{kind: "ports/port-state", host: "mlx5-ib", files: map[string]string{ibPort + "state": "1: DOWN", ibPort + "phys_state": "2: Polling"}, subject: "mlx5_0/1"},
		{kind: "rates/rate-below", host: "mlx5-ib", files: map[string]string{ibPort + "rate": "10 Gb/sec (4X SDR)"}, subject: "mlx5_0/1"},
		{kind: "rates/width-below", host: "mlx5-ib", files: map[string]string{ibPort + "rate": "50 Gb/sec (1X HDR)"}, subject: "mlx5_0/1"},
		{kind: "rates/speed-below", host: "mlx5-ib", files: map[string]string{ibPort + "rate": "10 Gb/sec (4X SDR)"}, subject: "mlx5_0/1"},
		{kind: "pcie/pcie-below", host: "mlx5-ib", files: map[string]string{"infiniband/mlx5_0/device/current_link_width": "4"}, subject: "mlx5_0"},
		{kind: "pcie/pcie-slow", host: "mlx5-ib", expect: "-", files: map[string]string{"infiniband/mlx5_0/device/current_link_width": "4"}, subject: "mlx5_0"},
		{kind: "firmware/firmware-differs", host: "mlx5-ib", files: map[string]string{"infiniband/mlx5_0/fw_ver": "1.2.3"}, subject: "mlx5_0"},
		{kind: "gids/missing-gid", host: "mlx5-roce", expect: `devices: {mlx5_bond_0: {ports: {1: {gids: ["RoCE v3"]}}}}`, subject: "mlx5_bond_0/1"},
		{kind: "gids/no-ipv4-gid", host: "mlx5-roce", expect: "-", files: map[string]string{"infiniband/mlx5_bond_0/ports/1/gids/3": "0000:0000:0000:0000:0000:0000:0000:0000"}, subject: "mlx5_bond_0/1"},
		{kind: "counters/exceeded", host: "mlx5-ib", files: map[string]string{ibPort + "counters/symbol_error": "4321"}, subject: "mlx5_0/1"},
	} {
		tested[test.kind] = true
		t.Run(test.kind, func(t *testing.T) {
			root := host(t, test.host, nil)
			o := NodeOptions{Root: root, Limits: DefaultLimits()}
			switch test.expect {
			case "":
				o.Expect = manifest(t, root)
			case "-":
			default:
				var err error
				if o.Expect, err = ParseManifest([]byte(test.expect), "manifest"); err != nil {
					t.Fatal(err)
				}
			}
			change(t, root, test.files)
			r, err := Node(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				if f.Hint == "" || f.Detail == "" {
					t.Errorf("got %+v, want a detail and a next step", f)
				}
				if Name(f) == test.kind && f.Subject == test.subject {
					return
				}
			}
			t.Errorf("got %+v, want %s of %s", r.Findings, test.kind, test.subject)
		})
	}
	for _, k := range roceKinds {
		tested["roce/"+string(k)] = true // by TestNode_RoCE
	}
	for _, k := range trafficKinds {
		tested["traffic/"+string(k)] = true // by TestNode_Traffic
	}
	for _, s := range NodeStages() {
		for _, k := range s.Kinds {
			if name := s.Name + "/" + string(k); !tested[name] {
				t.Errorf("no test has a host with %s", name)
			}
		}
	}
}

func TestNode_NoDevice(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "sys/class"), 0o750); err != nil {
		t.Fatal(err)
	}
	r, err := Node(t.Context(), NodeOptions{Root: root, Limits: DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	if kinds := foundIn(r); !slices.Contains(kinds, "devices/device") {
		t.Errorf("got %v, want devices/device", kinds)
	}
	for _, s := range r.Stages { // the others have no device to judge
		if passed := s.Status != Skipped; passed != (s.Name == "devices") {
			t.Errorf("%s: got %s", s.Name, s.Status)
		}
	}
	for only, want := range map[string]bool{"roce,traffic": true, "devices,roce": false} {
		r, err := Node(t.Context(), NodeOptions{Root: root, Limits: DefaultLimits(), Only: strings.Split(only, ",")})
		if err != nil || r.Partial != want {
			t.Errorf("only %s: got partial %v, error %v, want %v", only, r.Partial, err, want)
		}
	}
	var text strings.Builder
	if err := ManifestOf(nil, nil).Write(&text); !errors.Is(err, ErrEmptyManifest) || text.String() != "" {
		t.Errorf("write manifest: got %q and error %v, want %v", text.String(), err, ErrEmptyManifest)
	}
}

// foundIn returns the finding kinds.
func foundIn(r *Report) []string { return slices.Sorted(maps.Keys(found(r))) }

// A check sequence with a state: the port flaps, errors increase, the device is renamed,
// and the findings end with the window.
func TestNode_State(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	root := host(t, "mlx5-ib", map[string]string{ibPort + "counters/link_downed": "7", ibPort + "counters/symbol_error": "5"})
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	run := func(after time.Duration, files map[string]string, want ...string) {
		t.Helper()
		now = now.Add(after)
		change(t, root, files)
		s, err := ReadState(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Node(t.Context(), NodeOptions{
			Root: root, State: s, Limits: DefaultLimits(), Only: []string{"counters", "flaps"}, Now: func() time.Time { return now },
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(); err != nil {
			t.Fatal(err)
		}
		if got := foundIn(r); !slices.Equal(got, want) {
			t.Errorf("at %v: got %v, want %v", now, got, want)
		}
	}
	counter := func(name, value string) map[string]string {
		return map[string]string{ibPort + "counters/" + name: value}
	}
	run(0, nil)
	run(time.Minute, counter("link_downed", "8"))
	run(time.Hour, counter("link_downed", "9"), "flaps/flapping")
	run(time.Hour, nil, "flaps/flapping") // not only once
	run(time.Minute, counter("symbol_error", "500"), "counters/increased", "flaps/flapping")
	run(time.Minute, nil, "flaps/flapping")
	if err := os.Rename(filepath.Join(root, "sys/class/infiniband/mlx5_0"), filepath.Join(root, "sys/class/infiniband/ibp59s0")); err != nil {
		t.Fatal(err)
	}
	run(time.Minute, nil, "flaps/flapping") // remembered under the new name
	run(4*time.Hour, nil)                   // the first down is older than the window
	// A driver that was loaded again has cleared the counters.
	change(t, root, map[string]string{"infiniband/ibp59s0/ports/1/counters/link_downed": "0"})
	run(time.Minute, nil)
	run(-48*time.Hour, nil) // the clock was set back
}

func TestNode_Ignore(t *testing.T) {
	root := host(t, "mlx5-ib", map[string]string{ibPort + "state": "1: DOWN"})
	r, err := Node(t.Context(), NodeOptions{Root: root, Ignore: []string{"mlx5_*"}, Expect: &Manifest{}, Limits: DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) > 0 {
		t.Errorf("got %+v, want no finding", r.Findings)
	}
}

// Ethernet ports flap with their network device's carrier.
func TestNode_CarrierFlaps(t *testing.T) {
	root := host(t, "mlx5-roce", nil)
	r, err := Devices(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	netdev := *r.Devices[0].Ports[0].Netdev
	s := &State{Ports: map[string]PortState{}}
	for _, count := range []string{"1", "5"} {
		change(t, root, map[string]string{"net/" + netdev + "/carrier_down_count": count})
		r, err := Node(t.Context(), NodeOptions{Root: root, State: s, Limits: DefaultLimits(), Only: []string{"flaps"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(r.Findings); got != map[string]int{"1": 0, "5": 1}[count] {
			t.Errorf("carrier_down_count %s: got %+v", count, r.Findings)
		}
	}
}

// InfiniBand ports flap with their link: the carrier of the IPoIB device, which follows it,
// does not count again.
func TestNode_IPoIBCarrier(t *testing.T) {
	root := host(t, "mlx5-ib", map[string]string{"net/ib0/type": "32", "net/ib0/dev_port": "0"})
	if err := os.Symlink("../../infiniband/mlx5_0/device", filepath.Join(root, "sys/class/net/ib0/device")); err != nil {
		t.Fatal(err)
	}
	s := &State{Ports: map[string]PortState{}}
	for _, count := range []string{"1", "5"} {
		change(t, root, map[string]string{"net/ib0/carrier_down_count": count})
		r, err := Node(t.Context(), NodeOptions{Root: root, State: s, Limits: DefaultLimits(), Only: []string{"flaps"}})
		if err != nil || len(r.Findings) > 0 {
			t.Errorf("carrier_down_count %s: got %+v, error %v, want no finding", count, r, err)
		}
	}
}

// BenchmarkNode checks a host with eight adapters.
func BenchmarkNode(b *testing.B) {
	root := b.TempDir()
	one := testenv.Host(b, "mlx5-ib")
	for i := range 8 {
		to := filepath.Join(root, "sys/class/infiniband", "mlx5_"+string(rune('0'+i)))
		if err := os.CopyFS(to, os.DirFS(filepath.Join(one, "class/infiniband/mlx5_0"))); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := Node(b.Context(), NodeOptions{Root: root, Limits: DefaultLimits()}); err != nil {
			b.Fatal(err)
		}
	}
}
