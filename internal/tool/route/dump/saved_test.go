package dump

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// build makes a simulated fabric.
func build(t testing.TB, description string) *sim.Fabric {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// open returns a client at a fabric's first adapter.
func open(t testing.TB, f *sim.Fabric) *umad.Client {
	t.Helper()
	port, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { port.Close() })
	return umad.NewClient(port, umad.ClientOptions{})
}

// check analyses a simulated fabric's routing.
func check(t *testing.T, f *sim.Fabric) *route.Analysis {
	t.Helper()
	a, err := route.Check(t.Context(), route.Options{Source: fabric.Source{OpenPort: f.Opener("")}, SMKey: 1})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// analyze returns the details of a routing's findings, each on its own line.
func analyze(t testing.TB, r *route.Routing) string {
	t.Helper()
	a, err := route.Analyze(context.Background(), r, route.AnalyzeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return details(a)
}

func details(a *route.Analysis) string {
	var b strings.Builder
	for _, f := range a.Findings(nil) {
		b.WriteString(f.Detail + "\n")
	}
	return b.String()
}

// again saves a routing and loads it.
func again(t *testing.T, r *route.Routing) *route.Routing {
	t.Helper()
	var b bytes.Buffer
	if err := Save(&b, r); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "routing")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return mustLoad(t, path)
}

func TestSave_Members(t *testing.T) {
	a := check(t, build(t, "broken-multicast"))
	loaded := again(t, a.Routing)
	if got, want := loaded.CountMembers(), a.Routing.CountMembers(); got != want {
		t.Errorf("got %d members, want %d", got, want)
	}
	if got, want := analyze(t, loaded), details(a); got != want {
		t.Errorf("got findings\n%swant\n%s", got, want)
	}
}

// A file has no adaptive routing groups.
func TestSave_Adaptive(t *testing.T) {
	a := check(t, build(t, "fat-tree:levels=2,radix=8,pods=4,ar=on"))
	loaded, err := route.Check(t.Context(), route.Options{Loaded: again(t, a.Routing)})
	if err != nil || loaded.Adaptive.Static != 8 {
		t.Errorf("got %+v, error %v, want a static view", loaded.Adaptive, err)
	}
}

func TestSave_Partial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := build(t, "fat-tree:radix=4,pods=2,spines=2")
		f.Node("spine002").Silent = true
		a := check(t, f)
		if !a.Partial() || !again(t, a.Routing).Partial() {
			t.Error("got a complete routing, want a partial one")
		}
	})
}
