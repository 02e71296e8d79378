//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A dashboard is the parts of a Grafana dashboard that have expressions.
type dashboard struct {
	Panels []struct {
		Title   string                  `json:"title"`
		Targets []struct{ Expr string } `json:"targets"`
	} `json:"panels"`
}

// results returns the number of series that a query results in.
func results(t *testing.T, at, query string) int {
	t.Helper()
	var answer struct {
		Data struct {
			Result []json.RawMessage `json:"result"`
		} `json:"data"`
	}
	text := fetch(at + "/api/v1/query?query=" + url.QueryEscape(query))
	if text == "" {
		return 0
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	return len(answer.Data.Result)
}

// waitless are the alert parts that only a long time or a state that the simulator does
// not have makes true, and replacement parts that are true at once.
var waitless = map[string][2]string{
	"IbkitSweepStale":     {"> 600", ">= 0"},
	"IbkitExporterAbsent": {"ibkit_sweep_timestamp_seconds", "ibkit_no_such_metric"},
	"IbkitFabricShrunk":   {"0.75 *", "1.5 *"},
	"IbkitFabricConflict": {"> 0", ">= 0"},
	"IbkitBitErrorRate":   {"> 10", ">= 0"},
}

// TestExporter_Dashboard lets Prometheus scrape fabrics with faults, and a fabric that
// cannot be swept: each dashboard expression and each alert has a result.
func TestExporter_Dashboard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules, err := filepath.Abs(filepath.Join(monitoring, "ibkit-alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	events := filepath.Join(dir, "events")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(events, "1s rate node01[1] SymbolErrorCounter 40\n")
	blind := filepath.Join(dir, "blind")
	write(blind, "2s unlink leaf2[4]\n6s unlink leaf1[3]\n")
	// A standing probe loses packets, another has ended.
	live, old, hosts := filepath.Join(dir, "live*.json"), filepath.Join(dir, "old.json"), filepath.Join(dir, "hosts")
	write(old, `{"schema":"ibkit/ping-mesh/1","began":"2026-01-01T00:00:00Z","source":"node02","seconds":60,"probes_per_second":10}`)
	for node, loss := range map[string]string{"node01": "0.1", "node03": "0", "node04": "0", "node06": "0"} {
		window := filepath.Join(dir, "live-"+node+".json")
		log := startServer(t, "env", "SIM_HOST="+node, native(), "ping", "--mesh", "--sim", "demo", "--sim-model", "loss="+loss,
			"--rate", "100", "--window", "1s", "-t", "200", "--results", window)
		await(t, "a window", log, func() bool { _, err := os.Stat(window); return err == nil })
	}
	var targets []string
	for _, args := range [][]string{
		{"--sim", "demo", "--sim-events", events, "--phy"}, {"--sim", "demo", "--sim-events", blind}, {"--sim", "faults"}, {"--sim", "ibsim"},
		{"--sim", "demo", "--pings", live, "--ping-hosts", hosts}, {"--sim", "demo", "--pings", old},
	} {
		host := ""
		if slices.Contains(args, blind) {
			host = "node01" // also without a link
		}
		at := fmt.Sprintf("127.0.0.1:%d", freePort(t))
		targets = append(targets, fmt.Sprintf("%q", at))
		if slices.Contains(args, hosts) {
			write(hosts, at+"\n")
		}
		// There is no ibsim for the last fabric.
		env := []string{"SIM_HOST=" + host, "IBSIM_SOCKNAME=none-" + filepath.Base(dir), native()}
		log := startServer(t, "env", append(append(env, "exporter", "--interval", "1s", "--listen", at), args...)...)
		await(t, "a sweep", log, func() bool { return strings.Contains(fetch("http://"+at+"/metrics"), "ibkit_sweeps_total") })
	}
	write(filepath.Join(dir, "prometheus.yml"), fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1h}\nrule_files: [%s]\n"+
		"scrape_configs: [{job_name: ibkit, static_configs: [{targets: [%s]}]}]\n", rules, strings.Join(targets, ",")))
	at := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	log := startServer(t, "prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", at, "--log.level", "warn")
	at = "http://" + at
	await(t, "data of all targets", log, func() bool { return results(t, at, "up == 1") == len(targets) })

	text, err := os.ReadFile(filepath.Join(monitoring, "ibkit-dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board dashboard
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if text := fetch(at + "/api/v1/label/switch/values?match[]=infiniband_switch_info"); !strings.Contains(text, `"leaf1"`) {
		t.Errorf("variable switch: got %s", text)
	}
	for _, p := range board.Panels {
		for i, target := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "1m", "$switch", ".*").Replace(target.Expr)
			t.Run(fmt.Sprintf("%s %d", p.Title, i), func(t *testing.T) {
				await(t, expr, log, func() bool { return results(t, at, expr) > 0 })
			})
		}
	}
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Query string } `json:"rules"`
			} `json:"groups"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(fetch(at+"/api/v1/rules")), &answer); err != nil {
		t.Fatal(err)
	}
	alerts := 0
	for _, g := range answer.Data.Groups {
		for _, r := range g.Rules {
			alerts++
			t.Run(r.Name, func(t *testing.T) {
				expr := r.Query
				if parts, ok := waitless[r.Name]; ok {
					expr = strings.Replace(expr, parts[0], parts[1], 1)
				}
				await(t, expr, log, func() bool { return results(t, at, expr) > 0 })
			})
		}
	}
	if alerts < 10 {
		t.Errorf("got %d alerts", alerts)
	}
}
