//go:build oracle

package oracle

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestPingMesh_Hosts lets two hosts on Debian's ibsim ping each other by their tables. After the
// cable of a host is pulled, each loses the other.
func TestPingMesh_Hosts(t *testing.T) {
	t.Parallel()
	f := newPingFabric(t, "ibsim")
	tables := filepath.Join(t.TempDir(), "routes.tables")
	f.MustRun(t, f.client, ibkit(), "check", "routes", "--save", tables)
	mesh := func(host, timeout string) ibsimtest.Result {
		return f.MustRun(t, host, ibkit(), "ping", "--mesh", "--from", tables, "--rate", "200", "-w", "500ms", "-t", timeout)
	}
	other := map[string]string{f.client: f.server, f.server: f.client}
	for host, peer := range other {
		r := mesh(host, "20000")
		for _, want := range []string{"2 pairs of 2 host ports cover 1 of 1 pair of leaf switches and 2 of 2 directed links that routing uses", host + " pings 1 target"} {
			if !strings.Contains(r.Stderr, want) {
				t.Errorf("%s: got %q, want %q", host, r.Stderr, want)
			}
		}
		if r.Code != 0 || !strings.Contains(r.Stdout, "  0 lost\n") {
			t.Errorf("%s: got exit code %d, %s, want replies of %s", host, r.Code, r.Stdout, peer)
		}
	}
	f.MustCommand(t, fmt.Sprintf("Unlink %q[1]", f.server))
	for host, peer := range other {
		if r := mesh(host, "200"); r.Code != 3 || !strings.Contains(r.Stdout, "\n  "+peer+": ") {
			t.Errorf("%s: got exit code %d, %s%s, want lost probes to %s", host, r.Code, r.Stdout, r.Stderr, peer)
		}
	}
}

// TestPingMesh_Prometheus lets the hosts of a served fabric probe each other. After the cable of a
// host is pulled, Prometheus has the finding about this host, and a pending alert.
func TestPingMesh_Prometheus(t *testing.T) {
	t.Parallel()
	const fabric, lost = "fat-tree:radix=4,pods=4", "host00005"
	dir, name := t.TempDir(), fmt.Sprintf("pingmesh-%d", os.Getpid())
	at, prometheusAt := fmt.Sprintf("127.0.0.1:%d", freePort(t)), fmt.Sprintf("127.0.0.1:%d", freePort(t))
	control := func(command string) error {
		return exec.Command(native(), "sim", "ctl", "--name", name, command).Run()
	}
	start := func(host string, args ...string) func() string {
		return startServer(t, "env", append([]string{"IBSIM_SOCKNAME=" + name, "IBKIT_SIM=ibsim", "SIM_HOST=" + host, native()}, args...)...)
	}
	serveLog := startServer(t, native(), "sim", "serve", "--name", name, fabric)
	await(t, "the fabric", serveLog, func() bool { return control("dump "+lost) == nil })
	for i := range 8 {
		host := fmt.Sprintf("host%05d", i+1)
		start(host, "ping", "--mesh", "--rate", "50", "--window", "2s", "-t", "300", "--results", filepath.Join(dir, host+".json"))
	}
	rules, err := filepath.Abs(filepath.Join(monitoring, "ibkit-alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"hosts": at + "\n",
		"prometheus.yml": fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s]\n"+
			"scrape_configs: [{job_name: ibkit, static_configs: [{targets: [%q]}]}]\n", rules, at),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exporterLog := start("host00001", "exporter", "--interval", "2s", "--listen", at, "--pings", filepath.Join(dir, "host*.json"), "--ping-hosts", filepath.Join(dir, "hosts"))
	log := startServer(t, "prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", prometheusAt, "--log.level", "warn")
	url := "http://" + prometheusAt
	await(t, "round trips of all hosts", exporterLog, func() bool {
		return instant(t, url, "count(count by (source) (ibkit_ping_rtt_seconds_count > 0))") == "8"
	})
	await(t, "the recorded quantile", log, func() bool {
		return instant(t, url, `ibkit:ping_rtt_seconds:p99_5m{class="other-leaf"}`) != ""
	})
	if err := control("unlink " + lost + "[1]"); err != nil {
		t.Fatal(err)
	}
	finding := func(more string) string { return instant(t, url, "count(ibkit_mesh_finding"+more+")") }
	await(t, "the finding", exporterLog, func() bool { return finding(`{kind="hung",subject="`+lost+`"}`) == "1" })
	await(t, "the alert", log, func() bool {
		return instant(t, url, `count(ALERTS{alertname="IbkitMeshFinding",alertstate="pending",subject="`+lost+`"})`) == "1"
	})
	if text := log(); strings.Contains(text, "level=error") || strings.Contains(text, "duplicate") {
		t.Error(text)
	}
}
