package linkinfo

import (
	"io"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// BenchmarkViews prints the links of 10,368 adapters, each of which has a finding: the
// fabric has no subnet manager.
func BenchmarkViews(b *testing.B) {
	simulated, err := sim.Build("fat-tree:levels=3,radix=36,pods=32,sm=off")
	if err != nil {
		b.Fatal(err)
	}
	port, err := simulated.Open("")
	if err != nil {
		b.Fatal(err)
	}
	defer port.Close()
	f, err := fabric.Discover(b.Context(), umad.NewClient(port, umad.ClientOptions{}), fabric.DiscoverOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for _, view := range []struct {
		name string
		set  func(*command)
	}{
		{"table", func(*command) {}},
		{"problems", func(c *command) { c.links.problems = true }},
		{"csv", func(c *command) { c.csv = true }},
		{"json", func(c *command) { c.json = true }},
	} {
		b.Run(view.name, func(b *testing.B) {
			c := &command{env: &cmdutil.Env{Out: io.Discard, Getenv: func(string) string { return "" }}}
			view.set(c)
			r := &linkinfo.Result{Fabric: f}
			b.ReportAllocs()
			for b.Loop() {
				out := render.NewOutput(io.Discard)
				_ = c.print(out, r, f.Nodes, nil, nil)
				_ = out.Flush()
			}
		})
	}
}
