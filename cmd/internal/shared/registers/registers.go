// Package registers reads the registers of link ends for commands about links, and
// has the texts of their values.
package registers

import (
	"context"
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
)

// A Reader has the registers of link ends.
type Reader struct{ Result *phy.Result }

// Read reads the registers at both ends of some nodes' links in a known fabric.
func Read(ctx context.Context, source fabric.Source, key mad.Key, names *fabric.NameMap, f *fabric.Fabric, nodes []*fabric.Node) (*Reader, error) {
	wanted := map[*fabric.Node]bool{}
	for _, n := range nodes {
		wanted[n] = true
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil {
				wanted[p.Peer.Node] = true
			}
		}
	}
	source.Stored, source.Progress = f, nil
	r, err := phy.Run(ctx, phy.Options{Source: source, Key: key, Names: names, Selected: func(n *fabric.Node) bool { return wanted[n] }})
	if err != nil {
		return nil, err
	}
	return &Reader{r}, nil
}

// End returns the document on a port, without values if it was not read.
func (r *Reader) End(p *fabric.Port) phy.ReportEnd {
	if p == nil || r.Result.End(p) == nil {
		return phy.ReportEnd{}
	}
	return r.Result.ReportEnd(r.Result.End(p))
}

// Report returns the values of a port for the documents of other commands, nil if it was not
// read.
func (r *Reader) Report(p *fabric.Port) *linkinfo.ReportPHY {
	if p == nil || r.Result.End(p) == nil {
		return nil
	}
	return r.Result.ReportLink(r.Result.End(p))
}

// PrintFailures prints the requests without a valid reply, and reports whether there are
// any, or no device has registers.
func (r *Reader) PrintFailures(env *cmdutil.Env, names *fabric.NameMap, verbose bool) bool {
	failures := cmdutil.NewFailures(env, "warning", verbose)
	if n := len(r.Result.Devices); n > 0 && r.Result.Readable() == 0 {
		failures.Print(fmt.Errorf("read registers: none of %s has them: %w", plural.Count(n, "device", "devices"), r.Result.Devices[0].Missing))
	}
	for p, g := range r.Result.Unread() {
		failures.Print(fmt.Errorf("%s: %s: %w", names.PortName(p), g.Register, g.Err))
	}
	return failures.Close() > 0
}
