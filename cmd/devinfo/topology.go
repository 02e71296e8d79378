package devinfo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/pcie"
	"github.com/ibkit/ibkit/internal/tool/gpu"
)

// runTopology shows the connections between GPUs and RDMA devices.
func (c *command) runTopology(ctx context.Context) error {
	devices, err := devinfo.Run(ctx, devinfo.Options{Sysfs: c.env.Sysfs(), SysfsOnly: true})
	if err != nil {
		return err
	}
	t := gpu.Read(c.env.Sysfs(), devices.Devices)
	if c.window > 0 {
		bar := render.NewProgress(c.env.ErrOut)
		defer bar.Close()
		bar.Wait(fmt.Sprintf("reading links for %v", c.window))
		if err := t.Sample(ctx, c.env.Sysfs(), c.window); err != nil {
			return err
		}
		bar.Close()
	}
	out := render.NewOutput(c.env.Out)
	v := &view{out: out, palette: render.NewPalette(c.env.Out, c.env.Getenv)}
	switch {
	case c.json:
		render.WriteDocument(out, t)
	case len(t.GPUs) == 0 || len(t.Adapters) == 0:
		err = errNoPair(t)
	case c.svg:
		err = t.WriteSVG(out)
	case c.check:
		v.problems(&t.Head)
	default:
		err = v.topology(t)
	}
	c.printProblems(t.Problems)
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	return cmdutil.ResultError(t.Partial, c.check && t.HasProblem())
}

// errNoPair returns the error for a host without a pair of devices.
func errNoPair(t *gpu.Topology) error {
	what := "GPU"
	if len(t.GPUs) > 0 {
		what = "RDMA device in a PCI slot"
	}
	return cmdutil.WithHint(fmt.Errorf("this host has no %s", what), "list PCI devices: lspci")
}

// topology prints the matrix, and below it the bridges and the settings.
func (v *view) topology(t *gpu.Topology) error {
	header := []string{"GPU", "PCI", "NUMA"}
	for _, a := range t.Adapters {
		header = append(header, a.Name)
	}
	header = append(header, "NEAREST")
	var rows [][]string
	for _, g := range t.GPUs {
		row := []string{g.Name, g.Address, render.Show(g.NUMANode)}
		for _, a := range t.Adapters {
			row = append(row, v.distance(g, a.Name))
		}
		rows = append(rows, append(row, strings.Join(g.Nearest, " ")))
	}
	if err := render.Table(v.out, header, rows); err != nil {
		return err
	}
	fmt.Fprintln(v.out, "\nPIX: at most one PCIe switch; PXB: several switches; PHB: the CPU;")
	fmt.Fprintln(v.out, "NODE: several host bridges of a NUMA node; SYS: several NUMA nodes")
	fmt.Fprintln(v.out)
	if err := v.places(t); err != nil {
		return err
	}
	for _, g := range t.GPUs {
		v.p2p(g.Name, g.P2P)
	}
	for _, a := range t.Adapters {
		v.p2p(a.Name, a.P2P)
	}
	if t.Restricted {
		fmt.Fprintln(v.out, "\nMaxPayload, MaxReadReq, ATS and ACS are readable for root only")
	}
	if len(t.Findings) > 0 {
		fmt.Fprintln(v.out)
	}
	v.findings(&t.Head)
	return nil
}

// p2p prints the memory that a function offers others.
func (v *view) p2p(name string, m *pcie.P2PMemory) {
	if m == nil {
		return
	}
	state := "not published"
	if m.Published {
		state = "published"
	}
	fmt.Fprintf(v.out, "\n%s offers %s for transfers between functions (p2pmem), %s available, %s\n", name, size(m.Size), size(m.Available), state)
}

// distance returns a cell of the matrix: good for the nearest adapters.
func (v *view) distance(g *gpu.GPU, adapter string) string {
	d := g.Distances[adapter]
	switch {
	case slices.Contains(g.Nearest, adapter) && d.Compare(pcie.PXB) <= 0:
		return v.palette.Good(string(d))
	case slices.Contains(g.Nearest, adapter):
		return v.palette.Warn(string(d))
	}
	return string(d)
}

// places prints the links and settings of GPUs, adapters and the bridges above them.
func (v *view) places(t *gpu.Topology) error {
	var rows [][]string
	add := func(name string, p gpu.Position) {
		rows = append(rows, []string{
			name, p.Address, p.Link.String(), render.Show(p.MaxPayload), render.Show(p.MaxReadRequest), onOff(p.RelaxedOrdering), onOff(p.ATS), render.Absent,
			size(p.BAR), aer(p.Errors),
		})
	}
	for _, g := range t.GPUs {
		add(g.Name, g.Position)
	}
	for _, a := range t.Adapters {
		add(a.Name, a.Position)
	}
	for _, b := range t.Bridges {
		rows = append(rows, []string{
			render.OrAbsent(b.Type), b.Address, b.Link.String(), render.Absent, render.Absent, render.Absent, render.Absent, onOff(b.ACSRedirect),
			render.Absent, aer(b.Errors),
		})
	}
	return render.Table(v.out, []string{"FUNCTION", "PCI", "LINK", "MAXPAYLOAD", "MAXREADREQ", "RELAXED", "ATS", "ACS", "BAR", "ERRORS"}, rows)
}

func onOff(b *bool) string {
	switch {
	case b == nil:
		return render.Absent
	case *b:
		return "on"
	}
	return "off"
}

// size formats the size of a memory region.
func size(bytes uint64) string {
	switch {
	case bytes == 0:
		return render.Absent
	case bytes >= 1<<30:
		return fmt.Sprintf("%d GiB", bytes>>30)
	case bytes >= 1<<20:
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%d KiB", bytes>>10)
}

// aer formats error totals, with the increases within the window.
func aer(e gpu.Errors) string {
	if e.AER == nil {
		return render.Absent
	}
	total := e.AER.Correctable + e.AER.NonFatal + e.AER.Fatal
	if i := e.Increase; i != nil {
		return fmt.Sprintf("%d +%d", total, i.Correctable+i.NonFatal+i.Fatal)
	}
	return fmt.Sprint(total)
}
