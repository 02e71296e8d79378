//go:build kubernetes

package kubernetes

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestManifests validates all manifests against the API server, which creates no object.
func TestManifests(t *testing.T) {
	for _, name := range []string{"base", "device-plugin", "host-network", "exporter"} {
		t.Run(name, func(t *testing.T) {
			kubernetes.must(t, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-k", "../../packaging/kubernetes/"+name)
		})
	}
}

// TestExporter runs the exporter on all nodes and reads its metrics.
func TestExporter(t *testing.T) {
	kubernetes.must(t, "apply", "--server-side", "--validate=strict", "-k", "../../packaging/kubernetes/exporter")
	kubernetes.must(t, "rollout", "status", "--timeout=5m", "daemonset/ibkit-exporter")
	reply, err := http.Get("http://10.77.0.64:9315/metrics") // of host00064
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK || !strings.Contains(string(text), "\nibkit_") {
		t.Errorf("got %s, %v, %.500q, want metrics of ibkit", reply.Status, err, text)
	}
}
