//go:build oracle

package oracle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// TestTopology_Page opens pages in headless Chromium, finds a node by name, and checks
// that the page makes no network request.
func TestTopology_Page(t *testing.T) {
	t.Parallel()
	const interactive = 60_000 // ms; 2,000 on a quiet machine
	for _, test := range ibsimtest.Share([]struct{ fabric, node, want string }{
		{"demo", "leaf1", "narrow: 2X, but both ends have 4X enabled"},
		{"fat-tree:radix=36,pods=36,hosts=18", "host00648", "leaf036"},
		{"dragonfly", "group03-switch02", "group03-host005"},
		{"fat-tree:levels=3,radix=48,pods=18", "host10000", "pod18-leaf009"},
		{"torus", "switch-1-2-0", "host-1-2-0-1"},
	}, 0, 2) {
		t.Run(test.fabric, func(t *testing.T) {
			dir := t.TempDir()
			page := filepath.Join(dir, "fabric.html")
			out, err := ibsimtest.Command(t, native(), "topology", "--sim", test.fabric, "--format", "html").Output()
			if len(out) == 0 {
				t.Fatal(err) // the exit code is 0 with link findings
			}
			if err := os.WriteFile(page, out, 0o600); err != nil {
				t.Fatal(err)
			}
			netLog := filepath.Join(dir, "net.json")
			browser := ibsimtest.Command(t, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
				"--disable-component-update", "--no-first-run", "--user-data-dir="+filepath.Join(dir, "profile"),
				"--log-net-log="+netLog, "--timeout=180000", "--dump-dom", "file://"+page+"#"+test.node)
			browser.Env = append(os.Environ(), "HOME="+dir)
			dom, err := browser.Output()
			if err != nil {
				t.Fatalf("run chromium: %v", err)
			}
			text := string(dom)
			_, panel, ok := strings.Cut(text, "<aside>")
			if !ok || !strings.Contains(panel, "<h2>"+test.node+"</h2>") || !strings.Contains(panel, test.want) {
				t.Errorf("got the panel %.300q, want %s with %s", panel, test.node, test.want)
			}
			if strings.Contains(test.want, "narrow") != strings.Contains(text, "slower than possible or planned</div>") {
				t.Error("the legend does not have the colour of the finding")
			}
			ready := regexp.MustCompile(`data-ready="(\d+)"`).FindStringSubmatch(text)
			if ready == nil {
				t.Fatal("the script did not end")
			}
			if ms, _ := strconv.Atoi(ready[1]); ms > interactive {
				t.Errorf("interactive after %d ms, want at most %d", ms, interactive)
			} else {
				t.Logf("%d bytes, interactive after %d ms", len(out), ms)
			}
			for _, url := range requests(t, netLog) {
				t.Errorf("got a request of %s", url)
			}
		})
	}
}

// TestTopology_Graphviz checks that dot reads the graph, with all nodes and cables.
func TestTopology_Graphviz(t *testing.T) {
	for _, fabric := range []string{"demo", "net:../nets/odd-descriptions.net"} {
		t.Run(filepath.Base(fabric), func(t *testing.T) {
			graph, err := ibsimtest.Command(t, native(), "topology", "--sim", fabric, "--format", "dot").Output()
			if err != nil {
				t.Fatal(err)
			}
			dot := ibsimtest.Command(t, "dot", "-Tplain")
			dot.Stdin = strings.NewReader(string(graph))
			out, err := dot.CombinedOutput()
			if err != nil {
				t.Fatalf("run dot: %v\n%s", err, out)
			}
			text := "\n" + string(out)
			if got, want := strings.Count(text, "\nnode "), strings.Count(string(graph), "shape="); got != want || want < 2 {
				t.Errorf("got %d nodes, want %d", got, want)
			}
			if got, want := strings.Count(text, "\nedge "), strings.Count(string(graph), " -- "); got != want || want < 1 {
				t.Errorf("got %d edges, want %d", got, want)
			}
		})
	}
}

// requests returns the addresses that a page requested, without the browser's own requests.
func requests(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Events []struct {
			Params struct {
				URL       string `json:"url"`
				Initiator string `json:"initiator"`
			} `json:"params"`
		} `json:"events"`
	}
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, e := range log.Events {
		if strings.HasPrefix(e.Params.URL, "http") && strings.HasPrefix(e.Params.Initiator, "file") {
			urls = append(urls, e.Params.URL)
		}
	}
	return urls
}
