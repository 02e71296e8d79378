//go:build oracle

package oracle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/ibsimtest"
)

const monitoring = "../../packaging/monitoring"

// startServer starts a program until the test ends.
func startServer(t *testing.T, program string, args ...string) (output func() string) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	server := ibsimtest.Command(t, program, args...)
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		_ = log.Close()
	})
	return func() string {
		text, _ := os.ReadFile(log.Name())
		return string(text)
	}
}

// await repeats a check until it returns true.
func await(t *testing.T, what string, log func() string, check func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for !check() {
		select {
		case <-ctx.Done():
			t.Fatalf("%s did not happen: %s", what, log())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// fetch returns a response body, or "".
func fetch(url string) string {
	response, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return ""
	}
	return string(text)
}

// An alert is a Prometheus alert.
type alert struct {
	Labels map[string]string `json:"labels"`
	State  string            `json:"state"`
}

// firing returns the alerts that fire.
func firing(t *testing.T, url string) (all []alert) {
	t.Helper()
	var answer struct {
		Data struct {
			Alerts []alert `json:"alerts"`
		} `json:"data"`
	}
	if text := fetch(url + "/api/v1/alerts"); text != "" {
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range answer.Data.Alerts {
		if a.State == "firing" {
			all = append(all, a)
		}
	}
	return all
}

// instant returns the only value for a query.
func instant(t *testing.T, url, query string) string {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any } `json:"result"`
		} `json:"data"`
	}
	text := fetch(url + "/api/v1/query?query=" + strings.NewReplacer("{", "%7B", "}", "%7D", `"`, "%22", " ", "%20").Replace(query))
	if text == "" {
		return ""
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Data.Result) != 1 {
		return ""
	}
	return fmt.Sprint(answer.Data.Result[0].Value[1])
}

// TestExporter_Prometheus lets Prometheus scrape a fabric in which a cable degrades: our
// alert fires for that cable's port only.
func TestExporter_Prometheus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at, prometheusAt := fmt.Sprintf("127.0.0.1:%d", freePort(t)), fmt.Sprintf("127.0.0.1:%d", freePort(t))
	rules, err := filepath.Abs(filepath.Join(monitoring, "ibkit-alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"events": "3s rate pod01-leaf002[3] SymbolErrorCounter 40\n",
		"prometheus.yml": fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s]\n"+
			"scrape_configs: [{job_name: ibkit, static_configs: [{targets: [%q]}]}]\n", rules, at),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exporterLog := startServer(t, native(), "exporter", "--sim", "fat-tree:levels=3,radix=8,pods=2", "--sim-events", filepath.Join(dir, "events"),
		"--interval", "1s", "--listen", at)
	await(t, "the first sweep", exporterLog, func() bool { return strings.Contains(fetch("http://"+at+"/metrics"), "ibkit_sweep_nodes") })
	log := startServer(t, "prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", prometheusAt, "--log.level", "warn")
	url := "http://" + prometheusAt
	await(t, "an alert", log, func() bool { return len(firing(t, url)) > 0 })
	scrapes := func() string { return instant(t, url, "count_over_time(up[10m])") }
	first := scrapes()
	await(t, "another scrape", log, func() bool { return scrapes() != first })
	for _, a := range firing(t, url) {
		if a.Labels["alertname"] != "IbkitSymbolErrors" || a.Labels["switch"] != "pod01-leaf002" || a.Labels["port"] != "3" {
			t.Errorf("got the alert %v, want one of port 3 of pod01-leaf002", a.Labels)
		}
	}
	if got := instant(t, url, "up"); got != "1" {
		t.Errorf("up: got %s, want 1: %s", got, log())
	}
	if got, want := instant(t, url, "count(infiniband_hca_up == 1)"), "32"; got != want {
		t.Errorf("got %s adapters, want %s", got, want)
	}
	t.Logf("scrape: %s s, %s series", instant(t, url, "scrape_duration_seconds"), instant(t, url, "scrape_samples_scraped"))
	if text := log(); strings.Contains(text, "level=error") || strings.Contains(text, "duplicate") {
		t.Error(text)
	}
}

// promtool runs promtool with an input.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	tool := ibsimtest.Command(t, "promtool", args...)
	tool.Stdin = strings.NewReader(input)
	if out, err := tool.CombinedOutput(); err != nil || bytes.Contains(out, []byte("metric name should")) {
		t.Errorf("promtool %q: %v\n%s", args, err, out)
	}
}

// TestExporter_Promtool checks metrics, rules and the dashboard with promtool.
func TestExporter_Promtool(t *testing.T) {
	t.Parallel()
	once := func(env []string, args ...string) string {
		tool := ibsimtest.Command(t, native(), append([]string{"exporter", "--once"}, args...)...)
		tool.Env = append(os.Environ(), env...)
		out, err := tool.Output()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 4) {
			t.Fatal(err)
		}
		return string(out)
	}
	faults, demo := once(nil, "--sim", "faults", "--detail-counters", "fec,errors,discards"), once(nil, "--sim", "demo", "--phy")
	windows := filepath.Join(t.TempDir(), "pings.json")
	probe := ibsimtest.Command(t, native(), "ping", "--mesh", "--sim", "demo", "--rate", "500", "-w", "100ms", "--quiet", "--results", windows)
	if out, err := probe.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pings := once(nil, "--sim", "demo", "--pings", windows)
	all := faults + demo + pings
	for _, metrics := range []string{
		faults, demo, pings, once(nil, "--sim", "mixed"), once(nil, "--sim", "demo", "--names", "guilbaults", "--detail-counters", "errors,discards"),
		once([]string{"IBKIT_SYSFS=" + testenv.Host(t, "mlx5-ib")}, "--local"),
	} {
		promtool(t, metrics, "check", "metrics")
	}
	promtool(t, "", "check", "rules", filepath.Join(monitoring, "ibkit-alerts.yml"))
	promtool(t, "", "test", "rules", filepath.Join(monitoring, "ibkit-alerts_test.yml"))

	text, err := os.ReadFile(filepath.Join(monitoring, "ibkit-dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string                  `json:"title"`
			Targets []struct{ Expr string } `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	metric := regexp.MustCompile(`\b(infiniband|ibkit)_[a-z0-9_]+`)
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			for _, name := range metric.FindAllString(target.Expr, -1) {
				if !strings.Contains(all, "\n# TYPE "+name+" ") && !windowed[name] {
					t.Errorf("%s: got no metric %s", p.Title, name)
				}
			}
			expr := strings.NewReplacer("$__rate_interval", "5m", "$switch", ".*").Replace(target.Expr)
			fmt.Fprintf(&rules, "  - {record: 'x:x', expr: %q, labels: {n: '%d'}}\n", expr, rules.Len())
		}
	}
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", path)
	alerts, err := os.ReadFile(filepath.Join(monitoring, "ibkit-alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range regexp.MustCompile(`(?m)^ +(?:expr:|increase|or increase).*$`).FindAllString(string(alerts), -1) {
		for _, name := range metric.FindAllString(line, -1) {
			if !strings.Contains(all, "\n# TYPE "+name+" ") && !windowed[name] {
				t.Errorf("alerts: got no metric %s", name)
			}
		}
	}
}

// windowed are the metrics that only a second sweep or several hosts have, or a histogram.
var windowed = map[string]bool{"ibkit_mesh_finding": true, "ibkit_ping_rtt_seconds_bucket": true, "ibkit_error_finding": true, "ibkit_port_lost_bandwidth_ratio": true, "ibkit_missing_node": true}

// The port counter files: kernel counters (drivers/infiniband/core/sysfs.c), and mlx5
// counters (drivers/infiniband/hw/mlx5/counters.c).
const (
	portCounters = "VL15_dropped excessive_buffer_overrun_errors link_downed link_error_recovery local_link_integrity_errors " +
		"multicast_rcv_packets multicast_xmit_packets port_rcv_constraint_errors port_rcv_data port_rcv_errors port_rcv_packets " +
		"port_rcv_remote_physical_errors port_rcv_switch_relay_errors port_rcv_discards port_xmit_constraint_errors port_xmit_data " +
		"port_xmit_discards port_xmit_packets port_xmit_wait symbol_error unicast_rcv_packets unicast_xmit_packets"
	hwCounters = "duplicate_request implied_nak_seq_err lifespan local_ack_timeout_err np_cnp_sent np_ecn_marked_roce_packets out_of_buffer " +
		"out_of_sequence packet_seq_err req_cqe_error req_cqe_flush_error req_remote_access_errors req_remote_invalid_request " +
		"resp_cqe_error resp_cqe_flush_error resp_local_length_error resp_remote_access_errors rnr_nak_retry_err roce_adp_retrans " +
		"roce_adp_retrans_to roce_slow_restart roce_slow_restart_cnps roce_slow_restart_trans rp_cnp_handled rp_cnp_ignored " +
		"rx_atomic_requests rx_dct_connect rx_icrc_encapsulated rx_read_requests rx_write_requests"
)

// TestExporter_NodeExporter compares the metrics for a host that has all counters with
// Debian's node_exporter.
func TestExporter_NodeExporter(t *testing.T) {
	t.Parallel()
	sysfs := testenv.Host(t, "mlx5-ib")
	ports, err := filepath.Glob(filepath.Join(sysfs, "class/infiniband/*/ports/*"))
	if err != nil || len(ports) == 0 {
		t.Fatalf("got no ports: %v", err)
	}
	value := 1000
	for _, port := range ports {
		for dir, names := range map[string]string{"counters": portCounters, "hw_counters": hwCounters} {
			if err := os.MkdirAll(filepath.Join(port, dir), 0o700); err != nil {
				t.Fatal(err)
			}
			for name := range strings.FieldsSeq(names) {
				value += 1017
				if err := os.WriteFile(filepath.Join(port, dir, name), fmt.Appendln(nil, value), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := os.WriteFile(filepath.Join(ports[0], "counters/port_rcv_data"), []byte("18446744073709551615\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ours := ibsimtest.Command(t, native(), "exporter", "--local", "--once")
	ours.Env = append(os.Environ(), "IBKIT_SYSFS="+sysfs)
	out, err := ours.Output()
	if err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	log := startServer(t, "prometheus-node-exporter", "--path.sysfs", sysfs, "--collector.disable-defaults", "--collector.infiniband", "--web.listen-address", at)
	var theirs string
	await(t, "a scrape of node_exporter", log, func() bool {
		theirs = fetch("http://" + at + "/metrics")
		return theirs != ""
	})
	want := regexp.MustCompile("(?m)^node_infiniband_.*$").FindAllString(theirs, -1)
	if len(want) < 50 {
		t.Fatalf("node_exporter has %d metrics: %s", len(want), log())
	}
	got := strings.Split(string(out), "\n")
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("got no %s", line)
		}
	}
}
