//go:build oracle

package oracle

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// A liveSite is an exporter that sweeps a served fabric.
type liveSite struct {
	name, address string
	log           func() string
}

// serveLiveSite serves a fabric and its pages, with a sweep every two seconds.
func serveLiveSite(t *testing.T, fabric string) *liveSite {
	t.Helper()
	s := &liveSite{name: fmt.Sprintf("pages-%d", os.Getpid()), address: fmt.Sprintf("127.0.0.1:%d", freePort(t))}
	serveLog := startServer(t, native(), "sim", "serve", "--name", s.name, fabric)
	await(t, "the fabric", serveLog, func() bool { return s.try("dump node01") == nil })
	s.log = startServer(t, "env", "IBSIM_SOCKNAME="+s.name, "SIM_HOST=node01", native(),
		"exporter", "--sim", "ibsim", "--interval", "2s", "--listen", s.address)
	await(t, "the second sweep", s.log, func() bool { return strings.Contains(fetch(s.url("")), `"links?sort=errors">1<`) })
	return s
}

func (s *liveSite) url(path string) string { return "http://" + s.address + "/" + path }

// try changes the fabric.
func (s *liveSite) try(command string) error {
	if out, err := exec.Command(native(), "sim", "ctl", "--name", s.name, command).CombinedOutput(); err != nil {
		return fmt.Errorf("sim ctl %s: %w: %s", command, err, out)
	}
	return nil
}

// A browser is a tab of headless Chromium with the requests and the complaints of pages.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	requests   []string
	complaints []string
}

// openBrowser starts Chromium until the test ends.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	dir := t.TempDir()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.UserDataDir(filepath.Join(dir, "profile")), chromedp.Env("HOME="+dir), chromedp.CombinedOutput(io.Discard))
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, end := chromedp.NewContext(allocated)
	t.Cleanup(end)
	b := &browser{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // starts the browser
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	return b
}

// call sends a command of the protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

// note keeps requests, and errors in the console: refusals by the policy are among them.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			b.complaints = append(b.complaints, e.Entry.Text)
		}
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	}
}

// do runs actions without a value.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%v at %s", err, b.requests[len(b.requests)-1])
	}
}

// text returns the value of an expression as text.
func (b *browser) text(expression string) string {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// await waits until an expression is true. The page may change meanwhile, so errors do not
// matter.
func (b *browser) await(expression string) {
	b.t.Helper()
	await(b.t, expression, func() string { return "" }, func() bool {
		value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String(!!("+expression+"))"))
		return err == nil && value == "true"
	})
}

func (b *browser) want(expression, want string) {
	b.t.Helper()
	if got := b.text(expression); got != want {
		b.t.Errorf("%s: got %q, want %q", expression, got, want)
	}
}

// tab presses the tabulator.
var tab = chromedp.KeyEvent("\t")

// TestExporter_Pages uses the pages of a live fabric in Chromium as a reader does.
func TestExporter_Pages(t *testing.T) {
	t.Parallel()
	s, b := serveLiveSite(t, "demo"), openBrowser(t)
	b.do(chromedp.Navigate(s.url("")))
	b.await(`document.body.dataset.live`)
	b.want(`/^\d+ problems$/.test(document.querySelector("h1").textContent)`, "true")
	b.want(`document.body.textContent.includes("2X, but both ends have 4X enabled")`, "true")

	if *pictures {
		b.picture("../../docs/pictures/page.png")
	}

	b.do(tab)
	b.want(`document.activeElement.textContent`, "Skip to content")

	// A fault appears on the open page, which is not loaded again.
	before := b.text(`document.getElementById("status").dataset.at`)
	b.text(`window.same = true`)
	began := time.Now()
	if err := s.try("unlink node06[1]"); err != nil {
		t.Fatal(err)
	}
	b.await(`document.getElementById("missing")?.parentElement.textContent.includes("node06")`)
	t.Logf("the fault appeared after %v, with a sweep every 2 s", time.Since(began))
	b.want(`window.same && document.getElementById("status").dataset.at > `+before, "true")

	b.do(chromedp.SendKeys(chromedp.CSS(`header input[name=q]`), "spine1\r"))
	b.await(`location.search === "?q=spine1" && document.querySelector("h1").textContent === "4 links"`)
	b.want(`document.querySelectorAll("main tbody tr").length`, "4")

	b.do(chromedp.Navigate(s.url("links")), chromedp.Click(chromedp.CSS(`thead th a`)))
	b.await(`location.search.includes("sort=name") && document.querySelector("th[aria-sort=ascending]")`)
	b.want(`document.querySelector("th[aria-sort=ascending]").textContent`, "Link")
	b.want(`document.querySelector("main tbody th").textContent`, "leaf1[1] – spine1[1]")
	b.do(chromedp.Click(chromedp.CSS(`main tbody th a`)))
	b.await(`location.pathname === "/link" && document.querySelector("h1")`)
	b.want(`document.querySelector("h1").textContent`, "leaf1[1] – spine1[1]")
	b.want(`document.querySelectorAll("svg.spark polyline").length > 0`, "true")

	b.do(chromedp.Navigate(s.url("routes?from=node02&to=node07")))
	b.want(`[...document.querySelectorAll("h2")].map(h => h.textContent.replace(/LID \d+/, "LID")).slice(0, 2).join("|")`,
		"Forward: node02 to node07, LID, 4 links|Reverse: node07 to node02, LID, 4 links")

	b.do(chromedp.Navigate(s.url("picture#leaf1")))
	b.await(`document.body.dataset.ready && document.getElementById("live").textContent.endsWith(" s ago")`)
	b.want(`document.querySelector("aside h2").textContent`, "leaf1")
	b.want(`document.querySelector("aside").textContent.includes("narrow: 2X, but both ends have 4X enabled")`, "true")
	b.want(`document.querySelector("aside nav a").getAttribute("href").startsWith("node?node=0x")`, "true")
	b.text(`window.same = true`)
	if err := s.try("unlink node08[1]"); err != nil {
		t.Fatal(err)
	}
	b.await(`problems.some(p => p.a && cableName(p).includes("node08") && p.rate === "no link")`)
	b.want(`window.same && document.querySelector("aside h2").textContent`, "leaf1")
	b.do(chromedp.Click(chromedp.CSS(`#colours a[href="picture?colour=utilization"]`)))
	b.await(`document.body.dataset.ready && location.search === "?colour=utilization"`)
	b.want(`document.querySelector("aside h2").textContent + document.querySelector("#colours [aria-current]").textContent`, "leaf1utilization")

	b.checkScreens(s)
	b.checkWithoutScript(s)
	b.checkHosts(s)
}

// picture writes a picture of the page.
func (b *browser) picture(path string) {
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1100, Height: 560, DeviceScaleFactor: 1})
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(path, picture, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
}

// checkScreens checks each page on a wide and on a narrow screen, in dark mode.
func (b *browser) checkScreens(s *liveSite) {
	b.do(chromedp.Navigate(s.url("links")))
	link := b.text(`document.querySelector("main tbody th a").getAttribute("href")`)
	paths := []string{
		"", "links", link, "paths?" + strings.TrimPrefix(link, "link?"), "nodes", "node?" + strings.Split(strings.TrimPrefix(link, "link?"), "&")[0],
		"events", "routes?from=node02&to=node07", "plan", "picture#leaf1", "picture?colour=errors",
	}
	visit := func(path string) {
		b.do(chromedp.Navigate(s.url(path)))
		if strings.HasPrefix(path, "picture") {
			b.await(`document.body.dataset.ready`)
		}
		if got := b.text(audit); got != "" {
			b.t.Errorf("%s: got\n%s", path, got)
		}
	}
	for _, path := range paths {
		visit(path)
		b.checkFocus()
	}
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 375, Height: 800, DeviceScaleFactor: 2, Mobile: true})
	for _, path := range paths {
		visit(path)
		b.want(`document.documentElement.scrollWidth`, "375")
		if !strings.HasPrefix(path, "picture") {
			b.want(`getComputedStyle(document.body).backgroundColor`, "rgb(13, 19, 32)")
		}
	}
	b.do(chromedp.Navigate(s.url("links")))
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
	b.want(`getComputedStyle(document.body).backgroundColor`, "rgb(255, 255, 255)")
}

// checkWithoutScript reads a page and follows its links without JavaScript.
func (b *browser) checkWithoutScript(s *liveSite) {
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.do(chromedp.Navigate(s.url("links?sort=name")), chromedp.Click(chromedp.CSS(`main tbody th a`)), chromedp.WaitVisible(chromedp.CSS("#counters")))
	b.do(chromedp.Navigate(s.url("picture?colour=errors")), chromedp.WaitVisible(chromedp.CSS("#still img")))
	b.want(`document.querySelector("#still img").getBoundingClientRect().width > innerWidth / 2`, "true")
	b.want(`document.querySelector("#search input").getClientRects().length`, "0")
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
}

// checkHosts checks that all requests were for the exporter, and that the browser refused no
// part of a page.
func (b *browser) checkHosts(s *liveSite) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) < 20 {
		b.t.Errorf("got %d requests, want those of all pages", len(b.requests))
	}
	for _, r := range b.requests {
		if u, err := url.Parse(r); err != nil || u.Host != s.address {
			b.t.Errorf("got a request for %s", r)
		}
	}
	for _, c := range b.complaints {
		b.t.Errorf("got %s", c)
	}
}
