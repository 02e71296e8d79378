package devinfo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/lldp"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// runRoCE shows the settings of RoCE ports.
func (c *command) runRoCE(ctx context.Context, device string) error {
	devices, err := devinfo.Run(ctx, devinfo.Options{Sysfs: c.env.Sysfs(), Device: device, NoOpen: true})
	if err != nil {
		return withHint(err, device)
	}
	h := roce.Host{Sysfs: c.env.Sysfs()}
	problems := c.listen(ctx, &h, devices.Devices)
	o := h.Read(devices.Devices)
	for _, err := range problems {
		o.Problems = append(o.Problems, devinfo.Problem{Err: err})
		o.Fail(report.Failure{Error: err.Error()})
	}
	out := render.NewOutput(c.env.Out)
	v := &view{out: out, palette: render.NewPalette(c.env.Out, c.env.Getenv)}
	switch {
	case c.json:
		render.WriteDocument(out, o)
	case len(o.Ports) == 0:
		err = cmdutil.WithHint(errors.New("this host has no RoCE port"), "list all ports: ibkit devinfo")
	case c.check:
		v.problems(&o.Head)
	default:
		for _, p := range o.Ports {
			v.roce(p)
		}
		v.findings(&o.Head)
	}
	c.printProblems(o.Problems)
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	return cmdutil.ResultError(o.Partial, c.check && o.HasProblem())
}

// listen waits for the LLDP peers with --window, and returns the reasons why it could not.
func (c *command) listen(ctx context.Context, h *roce.Host, devices []*devinfo.Device) (problems []error) {
	if c.window <= 0 {
		return nil
	}
	if err := c.env.CheckRunningKernel("LLDP frames come from"); err != nil {
		return []error{err}
	}
	bar := render.NewProgress(c.env.ErrOut)
	defer bar.Close()
	bar.Wait(fmt.Sprintf("waiting up to %v for LLDP", c.window))
	ctx, cancel := context.WithTimeout(ctx, c.window)
	defer cancel()
	h.Neighbours, problems = h.Listen(ctx, devices)
	return problems
}

// peer describes the LLDP peer.
func peer(n *lldp.Neighbour) string {
	if n == nil {
		return render.Absent
	}
	name := n.Chassis
	if n.System != nil {
		name = *n.System
	}
	text := name + " port " + n.Port
	if n.PortDescription != nil && *n.PortDescription != n.Port {
		text += " (" + *n.PortDescription + ")"
	}
	if n.MaxFrame != nil {
		text += fmt.Sprintf(", frames up to %d bytes", *n.MaxFrame)
	}
	return cmdutil.Visible(text)
}

// roce prints the settings of a port.
func (v *view) roce(p *roce.PortSettings) {
	fmt.Fprintln(v.out, p.Name())
	v.fields(1, [][2]string{
		{"traffic class", orUnset(p.TrafficClass)},
		{"rdma_cm", "ToS " + orUnset(p.ToS) + ", " + orUnset(p.Version)},
		{"network device", render.Show(p.Netdev)},
	})
	if len(p.Optional) > 0 {
		v.fields(1, [][2]string{{"optional counters", optional(p.Optional)}})
	}
	for _, l := range p.Links {
		v.netdev(l)
	}
	if len(p.Parameters) > 0 {
		fmt.Fprintln(v.out, "  congestion control")
		for _, name := range slices.Sorted(maps.Keys(p.Parameters)) {
			fmt.Fprintf(v.out, "    %-36s %s\n", name, p.Parameters[name])
		}
	}
	if p.Restricted {
		fmt.Fprintln(v.out, "  further settings are readable for root only")
	}
}

// netdev prints the settings of a network device.
func (v *view) netdev(l *roce.NetdevSettings) {
	fmt.Fprintf(v.out, "  %s\n", l.Netdev)
	switch {
	case l.Unsupported:
		v.fields(2, [][2]string{{"priorities", "not supported by the driver (no DCB)"}})
	case l.Error != nil:
		v.fields(2, [][2]string{{"priorities", "unknown: " + *l.Error}})
	}
	v.fields(2, [][2]string{
		{"trust", render.Show(l.Trust)},
		{"DSCP to priority", dscps(l.DSCP)},
		{"default priority", render.Show(l.Default)},
		{"PFC", numbers(l.PFC)},
		{"PFC of the peer", numbers(l.PeerPFC)},
		{"LLDP peer", peer(l.LLDP)},
		{"ECN", "receiver " + numbers(l.Notify) + ", sender " + numbers(l.React)},
		{"DCBX", render.Show(l.DCBX)},
		{"global pause", pauses(l.Pause)},
	})
	for _, b := range l.Buffers {
		v.fields(2, [][2]string{{fmt.Sprintf("buffer %d", b.Number), fmt.Sprintf("%d bytes, priority %s", b.Size, numbers(b.Priorities))}})
	}
	for _, t := range l.Classes {
		text := t.Algorithm
		if text == "ets" {
			text += fmt.Sprintf(" %d %%", t.Share)
		}
		v.fields(2, [][2]string{{fmt.Sprintf("queue %d", t.Number), fmt.Sprintf("%s, priority %s", text, numbers(t.Priorities))}})
	}
	for _, m := range l.Markings {
		fmt.Fprintf(v.out, "    %v\n", m)
	}
}

// optional formats optional counters with their status.
func optional(counters map[string]bool) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		enabled := counters[name]
		parts = append(parts, name+" "+onOff(&enabled))
	}
	return strings.Join(parts, ", ")
}

// orUnset formats a setting that the kernel or the program chooses if it is nil.
func orUnset[T any](p *T) string {
	if p == nil {
		return "not set"
	}
	return fmt.Sprint(*p)
}

// numbers formats priorities; nil if they are not known.
func numbers(all []int) string {
	switch {
	case all == nil:
		return render.Absent
	case len(all) == 0:
		return "none"
	}
	return strings.Trim(fmt.Sprint(all), "[]")
}

// dscps formats code points by priority.
func dscps(priorities map[string]uint8) string {
	codes := map[uint8][]int{}
	for code := range 64 {
		if p, mapped := priorities[fmt.Sprint(code)]; mapped {
			codes[p] = append(codes[p], code)
		}
	}
	var parts []string
	for _, p := range slices.Sorted(maps.Keys(codes)) {
		parts = append(parts, fmt.Sprintf("%s to %d", numbers(codes[p]), p))
	}
	return render.OrAbsent(strings.Join(parts, ", "))
}

func pauses(p *roce.GlobalPause) string {
	if p == nil {
		return render.Absent
	}
	return "receive " + onOff(&p.Receive) + ", transmit " + onOff(&p.Transmit)
}
