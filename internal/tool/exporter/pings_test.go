package exporter

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/counters"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/standing"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/sim"
)

// writeWindows writes a window of each host of a fabric: of the probes to and from a host, a
// share is lost.
func writeWindows(t *testing.T, f *sim.Fabric, lossy string, age time.Duration) (dir string) {
	t.Helper()
	r, err := route.Scan(t.Context(), route.Options{Source: fabric.Source{OpenPort: f.Opener("")}})
	if err != nil {
		t.Fatal(err)
	}
	plan := mesh.NewWiring(r, nil).PlanProbes(2, nil)
	dir = t.TempDir()
	for _, n := range r.Nodes {
		name, peers, err := plan.Of(n.GUID.String())
		if err != nil {
			continue // a switch
		}
		start := time.Now().Add(-time.Minute - age)
		rec := standing.New(standing.Options{Source: name, Peers: peers, Window: time.Minute, Rate: 10, Start: start})
		for i := range 100 * len(peers) {
			outcome, peer := ping.Received, i%len(peers)
			if (name == lossy || peers[peer].Name == lossy) && i/len(peers)%10 == 0 {
				outcome = ping.Lost
			}
			rec.Add(peer, outcome, 30*time.Microsecond, start.Add(time.Second))
		}
		text, err := json.Marshal(rec.End(start.Add(time.Minute)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sweptText returns the metrics after a sweep.
func sweptText(t *testing.T, e *Exporter) string {
	t.Helper()
	if err := e.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := e.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The exporter of a host serves its windows; that of a management host judges all of them by
// the tables of its sweep.
func TestExporter_Pings(t *testing.T) {
	f, err := sim.Build("fat-tree:radix=8,pods=4")
	if err != nil {
		t.Fatal(err)
	}
	dir := writeWindows(t, f, "host00009", 0)
	host := New(Options{Names: Node, Pings: []string{filepath.Join(dir, "*.json")}})
	server := httptest.NewServer(host.handler())
	defer server.Close()
	hosts := filepath.Join(dir, "hosts")
	if err := os.WriteFile(hosts, fmt.Appendf(nil, "# exporters\n%s\n127.0.0.1:1\n", strings.TrimPrefix(server.URL, "http://")), 0o600); err != nil {
		t.Fatal(err)
	}
	var observed *FabricSweep
	e := New(Options{
		Fabric: counters.Options{Source: fabric.Source{OpenPort: f.Opener("")}}, PingHosts: hosts, TextOnly: true,
		Observe: func(s *FabricSweep) { observed = s },
	})
	got := sweptText(t, e)
	if observed == nil || len(observed.Probes) != 1 || observed.Probes[0].Subject != "host00009" {
		t.Errorf("got %+v, want the finding for pages", observed)
	}
	for _, want := range []string{
		`ibkit_mesh_finding{guid="0x0002c90000100a00",kind="packet-loss",port="",subject="host00009"} 1`,
		`ibkit_mesh_findings{kind="packet-loss"} 1`, `ibkit_mesh_findings{kind="missing"} 0`,
		"ibkit_mesh_flows 50", "ibkit_ping_hosts 2", "ibkit_ping_hosts_unavailable 1",
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(got) {
			if strings.Contains(line, "ping") || strings.Contains(line, "mesh") {
				t.Log(line)
			}
		}
	}
}

// The totals of a host's probes are histograms and counters, and peers that lost probes have
// series of their own.
func TestExporter_PingTotals(t *testing.T) {
	f, err := sim.Build("fat-tree:radix=8,pods=4")
	if err != nil {
		t.Fatal(err)
	}
	dir := writeWindows(t, f, "host00001", 0)
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte(`{"schema":"ibkit/ping-mesh/1","classes":[{}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	e := New(Options{Fabric: counters.Options{Source: fabric.Source{OpenPort: f.Opener("")}}, Pings: []string{filepath.Join(dir, "host00001.json"), filepath.Join(dir, "b*.json")}, TextOnly: true})
	got := sweptText(t, e)
	for _, want := range []string{
		`ibkit_ping_rtt_seconds_bucket{class="same-leaf",source="host00001",le="2e-05"} 0`,
		`ibkit_ping_rtt_seconds_bucket{class="same-leaf",source="host00001",le="5e-05"} 90`,
		`ibkit_ping_rtt_seconds_count{class="other-leaf",source="host00001"} 270`,
		`ibkit_ping_sent_total{class="other-leaf",source="host00001"} 300`,
		`ibkit_ping_lost_total{class="same-leaf",source="host00001"} 10`,
		`ibkit_ping_peer_loss_ratio{peer="host00002",source="host00001"} 0.1`,
		`ibkit_ping_rate_limit{source="host00001"} 10`,
		`ibkit_ping_unreadable_files 1`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// Old windows are not judged: the probe of the host has ended.
func TestExporter_PingsOld(t *testing.T) {
	f, err := sim.Build("fat-tree:radix=8,pods=4")
	if err != nil {
		t.Fatal(err)
	}
	dir := writeWindows(t, f, "host00009", 10*time.Minute)
	server := httptest.NewServer(New(Options{Names: Node, Pings: []string{filepath.Join(dir, "*.json")}}).handler())
	defer server.Close()
	hosts := filepath.Join(dir, "hosts")
	if err := os.WriteFile(hosts, []byte(server.URL+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := New(Options{Fabric: counters.Options{Source: fabric.Source{OpenPort: f.Opener("")}}, PingHosts: hosts, TextOnly: true})
	if got := sweptText(t, e); !strings.Contains(got, "ibkit_ping_hosts_unavailable 1\n") || strings.Contains(got, "ibkit_mesh_") {
		t.Error("got metrics with findings of old windows, want a host without a recent window")
	}
}

// A list of hosts that cannot be read any more does not end the sweep.
func TestExporter_PingHostsGone(t *testing.T) {
	f, err := sim.Build("single-switch:hosts=2")
	if err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "hosts")
	if err := CheckPings(nil, missing); err == nil {
		t.Error("got no error at the start")
	}
	e := New(Options{Fabric: counters.Options{Source: fabric.Source{OpenPort: f.Opener("")}}, PingHosts: missing, TextOnly: true})
	if got := sweptText(t, e); !strings.Contains(got, "ibkit_sweep_nodes 3\n") || strings.Contains(got, "ibkit_ping_hosts") {
		t.Errorf("got %s, want the sweep without probes", got)
	}
}
