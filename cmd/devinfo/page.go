package devinfo

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
)

// page prints all attributes of a device.
func (v *view) page(d *devinfo.Device) error {
	fmt.Fprintln(v.out, d.Name)
	if d.SMI {
		v.fields(1, [][2]string{{"subnet management", "of " + render.Show(d.Parent) + " only"}})
	}
	v.fields(1, [][2]string{
		{"description", render.Show(d.NodeDesc)},
		{"node GUID", render.Show(d.NodeGUID)},
		{"system image GUID", render.Show(d.SysImageGUID)},
		{"driver", driver(d) + " (verbs: " + render.Show(d.DriverID) + ")"},
		{"firmware", render.Show(d.Firmware)},
		{"model", render.Show(d.Model)},
		{"hardware", render.Show(d.HCAType) + " rev " + render.Show(d.HWRev)},
		{"board", render.Show(d.BoardID)},
		{"PCI", pciAddress(d.PCI) + " " + pciLink(d.PCI)},
		{"NUMA node", render.Show(d.NUMANode)},
		{"device node", render.Show(d.UVerbs)},
		{"completion vectors", render.Show(d.CompVectors)},
		{"capabilities", list(d.Caps)},
	})
	v.numbers(1, "limits", d.Limits)
	v.numbers(1, "hardware counters", d.HWCounts)
	v.extended(d.Extended)
	for _, name := range slices.Sorted(maps.Keys(d.Parameters)) {
		v.fields(1, [][2]string{{"parameter " + name, d.Parameters[name]}})
	}
	for _, p := range d.Ports {
		if err := v.portPage(p); err != nil {
			return err
		}
	}
	return nil
}

// extended prints the known offloads and extensions.
func (v *view) extended(e *devinfo.Extended) {
	if e == nil {
		return
	}
	var fields [][2]string
	add := func(name, format string, args ...any) {
		fields = append(fields, [2]string{name, fmt.Sprintf(format, args...)})
	}
	if o := e.ODP; o != nil {
		add("on-demand paging", "%s; RC: %s; UC: %s; UD: %s; XRC: %s", list(o.General), list(o.RC), list(o.UC), list(o.UD), list(o.XRC))
	}
	if e.TimestampMask != nil {
		add("timestamps", "mask 0x%016x", *e.TimestampMask)
	}
	if e.CoreClock != nil {
		add("core clock", "%d kHz", *e.CoreClock)
	}
	if r := e.RSS; r != nil {
		add("RSS", "%s; %d indirection tables of %d", list(r.QPTypes), r.MaxTables, r.MaxTableSize)
	}
	if e.RawPacket != nil {
		add("raw packets", "%s", list(e.RawPacket))
	}
	if t := e.TSO; t != nil {
		add("TSO", "%d bytes; %s", t.Max, list(t.QPTypes))
	}
	if p := e.PacketPacing; p != nil {
		add("packet pacing", "%d to %d kbit/s; %s", p.Min, p.Max, list(p.QPTypes))
	}
	if t := e.TagMatching; t != nil {
		add("tag matching", "%d tags, %d operations; %s", t.MaxNumTags, t.MaxOps, list(t.Flags))
	}
	if m := e.CQModeration; m != nil {
		add("CQ moderation", "%d completions, %d µs", m.MaxCount, m.MaxPeriod)
	}
	if c := e.CompCounters; c != nil {
		add("completion counters", "%d up to %d; %s", c.MaxCounters, c.MaxValue, list(c.AttachOps))
	}
	if e.MaxDMSize != nil {
		add("device memory", "%d bytes", *e.MaxDMSize)
	}
	if e.DMABuf != nil {
		add("dma-buf", "%s", map[bool]string{true: "yes", false: "no: it cannot register GPU memory this way"}[*e.DMABuf])
	}
	v.fields(1, fields)
}

func (v *view) portPage(p *devinfo.Port) error {
	fmt.Fprintf(v.out, "  port %d\n", p.Number)
	v.fields(2, [][2]string{
		{"state", render.Show(p.State) + ", " + render.Show(p.PhysState)},
		{"link layer", render.Show(p.LinkLayer)},
		{"rate", render.Show(p.Rate) + effective(p)},
		{"MTU", render.Show(p.MTU) + " of " + render.Show(p.MaxMTU)},
		{"LID", render.Show(p.LID) + ", LMC " + render.Show(p.LMC)},
		{"subnet manager", "LID " + render.Show(p.SMLID) + ", SL " + render.Show(p.SMSL)},
		{"network device", render.Show(p.Netdev) + ", MTU " + render.Show(p.NetdevMTU)},
		{"MAD device nodes", render.Show(p.UMAD) + ", " + render.Show(p.ISSM)},
		{"P_Keys", pkeys(p)},
	})
	v.numbers(2, "counters", p.Counters)
	v.numbers(2, "hardware counters", p.HWCounts)
	if len(p.GIDs) == 0 {
		return nil
	}
	var rows [][]string
	for _, g := range p.GIDs {
		ip := render.Absent
		if g.GID.Is4In6() {
			ip = g.GID.Unmap().String()
		}
		rows = append(rows, []string{"    " + strconv.Itoa(int(g.Index)), g.GID.String(), ip, render.Show(g.Type), render.Show(g.Netdev)})
	}
	return render.Table(v.out, []string{"    INDEX", "GID", "IPV4", "TYPE", "NETDEV"}, rows)
}

// effective returns the rate of all lanes together, empty if it is not known.
func effective(p *devinfo.Port) string {
	if p.Effective == nil {
		return ""
	}
	return fmt.Sprintf(", effective %g Gb/sec", float64(*p.Effective)/10)
}

// fields prints names and values.
func (v *view) fields(indent int, fields [][2]string) {
	for _, f := range fields {
		fmt.Fprintf(v.out, "%s%-22s %s\n", strings.Repeat("  ", indent), f[0], f[1])
	}
}

// numbers prints a list of numbers with a title, unless the list is empty.
func (v *view) numbers(indent int, title string, numbers map[string]uint64) {
	if len(numbers) == 0 {
		return
	}
	fmt.Fprintf(v.out, "%s%s\n", strings.Repeat("  ", indent), title)
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		fmt.Fprintf(v.out, "%s%-36s %d\n", strings.Repeat("  ", indent+1), name, numbers[name])
	}
}

func pkeys(p *devinfo.Port) string {
	var all []string
	for _, k := range p.PKeys {
		all = append(all, fmt.Sprintf("%d: 0x%04x", k.Index, k.Key))
	}
	return list(all)
}

func list(all []string) string { return render.OrAbsent(strings.Join(all, ", ")) }
