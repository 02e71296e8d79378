//go:build oracle

package oracle

import (
	"encoding/json"
	"html"
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
			text := browse(t, page+"#"+test.node, "--log-net-log="+netLog)
			_, panel, ok := strings.Cut(text, "<aside>")
			if !ok || !strings.Contains(panel, "<h2>"+test.node+"</h2>") || !strings.Contains(panel, test.want) {
				t.Errorf("got the panel %.300q, want %s with %s", panel, test.node, test.want)
			}
			if strings.Contains(test.want, "narrow") != strings.Contains(text, "slower than possible or planned</span>") {
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

// browse opens a page in headless Chromium and returns its elements.
func browse(t *testing.T, page string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	browser := ibsimtest.Command(t, "chromium", append([]string{
		"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
		"--no-first-run", "--user-data-dir=" + filepath.Join(dir, "profile"), "--timeout=180000", "--window-size=1400,900", "--dump-dom", "file://" + page,
	}, args...)...)
	browser.Env = append(os.Environ(), "HOME="+dir)
	dom, err := browser.Output()
	if err != nil {
		t.Fatalf("run chromium: %v", err)
	}
	return string(dom)
}

// inputSteps are the first lines of test scripts in a page.
const inputSteps = `
const log = [], title = () => document.querySelector("aside h2").textContent + " " + location.hash;
canvas.setPointerCapture = () => {}; // requires a real pointer
const pointer = (type, x, y) => {
  const r = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new PointerEvent(type, {pointerId: 1, clientX: r.left + x, clientY: r.top + y}));
};
const click = (x, y) => { pointer("pointerdown", x, y); pointer("pointerup", x, y); };
const boxOf = text => view.drawing.boxes.find(b => b.thing.name === text || b.thing.title === text);
const middle = text => { const b = boxOf(text); return toScreen(b.x, b.y); };
const link = (a, b) => { const l = view.drawing.links.find(l => l.cables.some(c => c.a.name === a && c.b.name === b)); return toScreen(...point(l.curve, 0.3)); };
`

// TestTopology_PageInput clicks and points at parts of a page.
func TestTopology_PageInput(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, fabric, hash, script, want string }{
		{"problem", "demo", "", `document.querySelector("aside li button").click(); log.push(title());`, "leaf3[4] – node10[1] #leaf3/4"},
		{"problems", "demo", "", `log.push(...[...document.querySelectorAll("aside li button")].map(b => b.textContent));`,
			"leaf3[4] – node10[1]|leaf1[1] – spine1[1]|leaf2[5] – node07[1]"},
		{"cable", "demo", "", `click(...link("spine2", "leaf3")); log.push(title());`, "spine2[3] – leaf3[2] #spine2/3"},
		{"node", "demo", "", `click(...middle("node07")); log.push(title());`, "node07 #node07"},
		{"nothing", "demo", "#leaf1", `click(5, 5); log.push(title());`, "3 problems "},
		{"port", "demo", "#leaf1/1", `log.push(title(), document.querySelector("tr.chosen").textContent);`,
			"leaf1 #leaf1/1|1spine112X NDR▲ narrow: 2X, but both ends have 4X enabled"},
		{"legend", "demo", "", `const ink = document.querySelector("#legend canvas").getContext("2d");
			log.push(Math.round(ink.getImageData(10, 7, 1, 1).data[3] / 25.5) / 10, lineAlpha());`, "0.7|0.7"},
		{"hover", "demo", "", `pointer("pointermove", ...middle("node07")); log.push(document.getElementById("hover").textContent.split("\n").pop());
			pointer("pointermove", ...link("spine2", "leaf3")); log.push(document.getElementById("hover").textContent);`,
			"leaf2[5] – node07[1] slow: HDR, but both ends have NDR enabled|spine2[3] – leaf3[2] 4X NDR"},
		{"pod", "fat-tree:levels=3,radix=16,pods=16", "", `click(...middle("pod03")); log.push(title(), document.getElementById("place").textContent, boxOf("pod03-leaf008").thing.name);
			document.querySelector("#place button").click(); log.push(String(view.drawing === whole));`, "pod03 #pod03|Fabric › pod03|pod03-leaf008|true"},
		{"labels", "dragonfly", "", `for (let room = 5; room < 120; room += 5) {
				const labels = ["01", "02", "03", "04"].map(i => label(boxOf("group01-switch" + i).thing, room)).filter(t => t);
				if (new Set(labels).size !== labels.length) log.push(labels);
			}
			log.push(label(boxOf("group01-switch02").thing, 60), label(boxOf("group01-switch02").thing, 200));`, "switch02|group01-switch02"},
		{"panel", "torus", "#switch-0-0-0", `fit(); const b = boxOf("switch-0-3-0");
			log.push(String(toScreen(b.x + b.w / 2, b.y)[0] < document.querySelector("aside").getBoundingClientRect().left));`, "true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := ibsimtest.Command(t, native(), "topology", "--sim", test.fabric, "--format", "html").Output()
			if len(out) == 0 {
				t.Fatal(err) // the exit code is 0 with link findings
			}
			text := regexp.MustCompile(`<meta http-equiv[^>]*>`).ReplaceAllString(string(out), "") // it permits no other script
			text = strings.Replace(text, "</body>", "<script>"+inputSteps+test.script+"\ndocument.body.dataset.log = log.join('|');</script></body>", 1)
			page := filepath.Join(t.TempDir(), "fabric.html")
			if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			got := regexp.MustCompile(`data-log="([^"]*)"`).FindStringSubmatch(browse(t, page+test.hash))
			if got == nil || html.UnescapeString(got[1]) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
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
