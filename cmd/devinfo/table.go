package devinfo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/pcie"
	"github.com/ibkit/ibkit/report"
)

// view prints devices in the native format.
type view struct {
	out     *render.Output
	palette *render.Palette
}

// table prints one line per port.
func (v *view) table(r *devinfo.Result, wide bool) error {
	header := []string{
		"DEVICE", "PORT", "LAYER", "STATE", "PHYSICAL", "RATE", "LINK", "MTU", "LID/GID", "NETDEV",
		"PCI", "NUMA", "FIRMWARE", "DRIVER",
	}
	if wide {
		header = append(header, "NODE GUID", "BOARD", "MODEL", "PCIE", "UVERBS", "UMAD", "ISSM", "DESCRIPTION")
	}
	var rows [][]string
	for _, d := range r.Devices {
		ports := d.Ports
		if len(ports) == 0 {
			ports = []*devinfo.Port{nil}
		}
		for _, p := range ports {
			row := append(v.portCells(d, p), pciAddress(d.PCI), render.Show(d.NUMANode), render.Show(d.Firmware), driver(d))
			if wide {
				umad, issm := render.Absent, render.Absent
				if p != nil {
					umad, issm = render.Show(p.UMAD), render.Show(p.ISSM)
				}
				row = append(row, render.Show(d.NodeGUID), render.Show(d.BoardID), render.Show(d.Model), pciLink(d.PCI), render.Show(d.UVerbs), umad, issm, render.Show(d.NodeDesc))
			}
			rows = append(rows, row)
		}
	}
	return render.Table(v.out, header, rows)
}

func (v *view) portCells(d *devinfo.Device, p *devinfo.Port) []string {
	if p == nil {
		return append([]string{d.Name}, slices.Repeat([]string{render.Absent}, 9)...)
	}
	state := render.Show(p.State)
	switch {
	case p.State == nil:
	case p.Active():
		state = v.palette.Good(state)
	default:
		state = v.palette.Bad(state)
	}
	rate, link := rateParts(p.Rate)
	mtu := render.Show(p.MTU)
	return []string{
		d.Name, strconv.Itoa(p.Number), render.Show(p.LinkLayer), state, render.Show(p.PhysState), rate, link, mtu, address(p), render.Show(p.Netdev),
	}
}

// rateParts splits "100 Gb/sec (4X EDR)".
func rateParts(rate *string) (gbps, link string) {
	if rate == nil || *rate == "" {
		return render.Absent, render.Absent
	}
	gbps, link, _ = strings.Cut(*rate, " (")
	if link = strings.TrimSuffix(link, ")"); link == "" {
		link = render.Absent
	}
	return strings.TrimSuffix(gbps, " Gb/sec") + " Gb/s", link
}

// address returns the LID of an InfiniBand port. For other ports, it returns the GID
// that suits most programs.
func address(p *devinfo.Port) string {
	if !p.Ethernet() && p.LID != nil && *p.LID != 0 {
		return strconv.Itoa(int(*p.LID))
	}
	if g, ok := p.RoutableGID(); ok {
		return g.GID.Unmap().String()
	}
	if len(p.GIDs) > 0 {
		return p.GIDs[0].GID.String()
	}
	return render.Absent
}

func driver(d *devinfo.Device) string {
	if d.Driver != nil {
		return *d.Driver
	}
	return render.Show(d.DriverID)
}

func pciAddress(p *devinfo.PCI) string {
	if p == nil {
		return render.Absent
	}
	return p.Address
}

func pciLink(p *devinfo.PCI) string {
	if p == nil {
		return render.Absent
	}
	return pcie.Link{Width: p.Width, MaxWidth: p.MaxWidth, Speed: p.Speed}.String()
}

// problems prints problems and hints, or that there are none.
func (v *view) problems(r *report.Head) {
	if !r.HasProblem() && !r.Partial {
		fmt.Fprintln(v.out, v.palette.Good("no problems found"))
		return
	}
	v.print(slices.DeleteFunc(slices.Clone(r.Findings), func(f report.Finding) bool { return f.Severity == report.Info }))
}

// findings prints findings and hints.
func (v *view) findings(r *report.Head) { v.print(r.Findings) }

func (v *view) print(findings []report.Finding) {
	for _, f := range findings {
		where := f.Subject
		if where != "" {
			where += ": "
		}
		fmt.Fprintf(v.out, "%s%s %s\n", where, v.palette.Warn(f.Detail), v.palette.Faint("("+f.Hint+")"))
	}
}

// uapi prints the uverbs methods that the kernel supports.
func (v *view) uapi(r *devinfo.Result) error {
	header := []string{"OBJECT", "METHOD"}
	for _, d := range r.Devices {
		header = append(header, d.Name)
	}
	var rows [][]string
	for _, d := range r.Devices {
		if d.UAPI == nil {
			continue
		}
		for i, m := range d.UAPI {
			row := []string{m.Object, m.Name}
			for _, e := range r.Devices {
				switch {
				case i >= len(e.UAPI):
					row = append(row, render.Absent)
				case e.UAPI[i].Known:
					row = append(row, v.palette.Good("yes"))
				default:
					row = append(row, "no")
				}
			}
			rows = append(rows, row)
		}
		break // the methods are the same for all devices
	}
	return render.Table(v.out, header, rows)
}
