// Package gpu describes the PCI Express paths between the GPUs and the RDMA devices of a
// host, and problems with them. It reads sysfs.
package gpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/pcie"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/report"
)

// Schema identifies the version of the JSON encoding of a [Topology]. The file
// schema/devinfo-topology.json describes it.
const Schema = "ibkit/devinfo-topology/2"

// A Topology describes the PCI Express connections between the GPUs and the RDMA devices of
// a host. Its JSON encoding is the output of ibkit devinfo --topology --json.
type Topology struct {
	report.Head
	GPUs     []*GPU     `json:"gpus"`
	Adapters []*Adapter `json:"adapters"`
	Bridges  []*Bridge  `json:"bridges"` // above GPUs and adapters, by address

	// Restricted is true if the settings in configuration spaces were not readable: they
	// require root.
	Restricted bool              `json:"restricted"`
	Window     *float64          `json:"window_seconds"` // of [Topology.Sample] in seconds; nil: one reading
	Problems   []devinfo.Problem `json:"-"`              // the failures, with advice
}

// A Position is the position of a PCI function. Pointers are nil for values that are not
// readable.
type Position struct {
	Address    string   `json:"address"`
	NUMANode   *int     `json:"numa_node"`   // -1 if the firmware does not report it
	HostBridge string   `json:"host_bridge"` // for example "pci0000:80"
	Path       []string `json:"path"`        // addresses of bridges, from the root port to the parent
	pcie.Link
	Settings
	Errors
	BAR uint64          `json:"bar"`        // size of the largest memory region in bytes; 0 without a region
	P2P *pcie.P2PMemory `json:"p2p_memory"` // that the driver offers other functions, or nil

	function *pcie.Function
}

// Settings are a function's settings in its configuration space; nil if they are not readable
// or if the function does not have them.
type Settings struct {
	MaxPayload      *int  `json:"max_payload"`      // in bytes
	MaxReadRequest  *int  `json:"max_read_request"` // in bytes
	RelaxedOrdering *bool `json:"relaxed_ordering"`
	ATS             *bool `json:"ats"` // address translation services are enabled
}

// Errors are a function's error totals; nil if it does not report errors.
type Errors struct {
	AER      *pcie.AER `json:"aer"`
	Increase *pcie.AER `json:"aer_increase"` // within the window; nil: one reading
}

// A GPU is a GPU or another accelerator.
type GPU struct {
	Name   string `json:"name"`   // "GPU0", by address
	Vendor string `json:"vendor"` // "NVIDIA"
	Device string `json:"device"` // PCI vendor and device ID, for example "10de:2330"
	Position

	Distances map[string]pcie.Distance `json:"distances"` // by adapter
	Nearest   []string                 `json:"nearest"`   // adapters at the smallest distance
	Direct    []string                 `json:"direct"`    // adapters with transfers that do not pass the CPU
}

// best returns the smallest distance to an adapter.
func (g *GPU) best() pcie.Distance { return g.Distances[g.Nearest[0]] }

// An Adapter is an RDMA device with a PCI function.
type Adapter struct {
	Name   string `json:"name"`
	Active bool   `json:"active"` // a port is active
	Position
}

// A Bridge is a PCI Express port above a GPU or an adapter.
type Bridge struct {
	Address string `json:"address"`
	Type    string `json:"type"` // "root port", "switch upstream port" and so on; "" if not readable
	pcie.Link
	ACSRedirect *bool    `json:"acs_redirect"` // sends transfers between functions through the root complex
	Below       []string `json:"below"`        // GPUs and adapters
	Errors
}

// name returns the GPUs and adapters below the bridge.
func (b *Bridge) name() string { return strings.Join(b.Below, ", ") }

// smallBAR is the region that GPUs have without Resizable BAR.
const smallBAR = 256 << 20

// Read reads the PCI Express connections of a host's RDMA devices. The topology of a host
// without GPUs has no GPUs. dir is the mount point of sysfs.
func Read(dir string, devices []*devinfo.Device) *Topology {
	t := &Topology{Head: report.NewHead(Schema, time.Now()), GPUs: []*GPU{}, Adapters: []*Adapter{}, Bridges: []*Bridge{}}
	var problems []error
	tree := pcie.Read(sysfs.FS(cmp.Or(dir, string(sysfs.Default))), &problems)
	r := topologyReader{t: t, bridges: map[*pcie.Function]*Bridge{}}
	for i, f := range tree.GPUs() {
		name := fmt.Sprintf("GPU%d", i)
		g := &GPU{
			Name: name, Vendor: f.VendorName(), Device: fmt.Sprintf("%04x:%04x", f.Vendor, f.Device),
			Position: r.position(name, f), Distances: map[string]pcie.Distance{}, Nearest: []string{}, Direct: []string{},
		}
		t.GPUs = append(t.GPUs, g)
	}
	for _, d := range devices {
		r.addAdapter(d, tree)
	}
	slices.SortFunc(t.Bridges, func(a, b *Bridge) int { return cmp.Compare(a.Address, b.Address) })
	r.judge()
	t.addProblems(problems)
	return t
}

// addProblems adds sources that could not be read.
func (t *Topology) addProblems(errs []error) {
	for _, err := range errs {
		t.Problems = append(t.Problems, devinfo.Problem{Err: err})
		t.Fail(report.Failure{Error: err.Error()})
	}
}

// A topologyReader collects a topology.
type topologyReader struct {
	t       *Topology
	bridges map[*pcie.Function]*Bridge
}

// position returns the position of a function, and adds the bridges above it.
func (r *topologyReader) position(name string, f *pcie.Function) Position {
	p := Position{Address: f.Address, NUMANode: f.NUMANode, HostBridge: f.HostBridge, Path: []string{}, Link: f.Link, Errors: Errors{AER: f.AER}, BAR: f.BAR, P2P: f.P2P, function: f}
	for _, b := range f.Bridges {
		p.Path = append(p.Path, b.Address)
		r.bridge(b).Below = append(r.bridges[b].Below, name)
	}
	if c := f.Config; c != nil {
		r.t.Restricted = r.t.Restricted || c.Restricted
		p.Settings = Settings{c.MaxPayload, c.MaxReadRequest, c.RelaxedOrdering, c.ATS}
	}
	return p
}

// bridge returns a bridge, and adds it to the topology if it is new.
func (r *topologyReader) bridge(f *pcie.Function) *Bridge {
	if b := r.bridges[f]; b != nil {
		return b
	}
	b := &Bridge{Address: f.Address, Link: f.Link, Errors: Errors{AER: f.AER}}
	if c := f.Config; c != nil {
		if c.PortType != nil {
			b.Type = c.PortType.String()
		}
		if c.ACS != nil {
			b.ACSRedirect = new(c.ACS.Redirects())
		}
	}
	r.bridges[f] = b
	r.t.Bridges = append(r.t.Bridges, b)
	return b
}

// addAdapter adds an RDMA device with a PCI function, and its distances.
func (r *topologyReader) addAdapter(d *devinfo.Device, tree *pcie.Tree) {
	if d.PCI == nil {
		return
	}
	f := tree.Find(d.PCI.Address)
	if f == nil {
		return
	}
	active := slices.ContainsFunc(d.Ports, (*devinfo.Port).Active)
	r.t.Adapters = append(r.t.Adapters, &Adapter{Name: d.Name, Active: active, Position: r.position(d.Name, f)})
	for _, g := range r.t.GPUs {
		distance := pcie.Between(g.function, f)
		if len(g.Nearest) == 0 || distance.Compare(g.best()) < 0 {
			g.Nearest = nil
		}
		if g.Distances[d.Name] = distance; len(g.Nearest) == 0 || distance == g.best() {
			g.Nearest = append(g.Nearest, d.Name)
		}
		if distance.Compare(pcie.PXB) <= 0 && !slices.ContainsFunc(pcie.PathBetween(g.function, f), redirects) {
			g.Direct = append(g.Direct, d.Name)
		}
	}
}

// redirects reports whether a bridge sends transfers between functions below it through the
// root complex.
func redirects(b *pcie.Function) bool { return b.Config != nil && b.Config.ACS.Redirects() }

// judge adds the findings.
func (r *topologyReader) judge() {
	if len(r.t.Adapters) > 0 {
		r.judgeDistances()
	}
	for _, g := range r.t.GPUs {
		r.judgeACS(g)
		if g.BAR > 0 && g.BAR <= smallBAR {
			r.add(report.SmallBAR, g.Name, "the largest memory region (BAR) has %d MiB", g.BAR>>20)
		}
	}
	r.judgeLinks()
}

func (r *topologyReader) add(kind report.Kind, subject, format string, args ...any) {
	f := report.New(kind, subject, fmt.Sprintf(format, args...))
	f.Hint = kind.HintFor(f)
	r.t.Add(f)
}

// judgeDistances reports GPUs that are farther from an adapter than most GPUs of the host.
func (r *topologyReader) judgeDistances() {
	counts := map[pcie.Distance]int{}
	for _, g := range r.t.GPUs {
		counts[g.best()]++
	}
	for d, n := range counts {
		if 2*n <= len(r.t.GPUs) {
			continue
		}
		for _, g := range r.t.GPUs {
			if g.best().Compare(d) > 0 {
				r.add(report.GPUDistance, g.Name, "%s is the distance of the nearest adapter (%s), %s on most GPUs of the host", g.best(), strings.Join(g.Nearest, ", "), d)
			}
		}
	}
}

// judgeACS reports the bridges between a GPU and its nearest adapters that send transfers
// through the root complex.
func (r *topologyReader) judgeACS(g *GPU) {
	var redirecting, adapters []string
	for _, a := range r.t.Adapters {
		if !slices.Contains(g.Nearest, a.Name) || g.best().Compare(pcie.PXB) > 0 {
			continue
		}
		for _, b := range pcie.PathBetween(g.function, a.function) {
			if redirects(b) {
				redirecting, adapters = append(redirecting, b.Address), append(adapters, a.Name)
			}
		}
	}
	if redirecting == nil {
		return
	}
	slices.Sort(redirecting)
	r.add(report.ACSRedirect, g.Name, "ACS at %s sends transfers between %s and %s through the CPU",
		strings.Join(slices.Compact(redirecting), ", "), g.Name, strings.Join(slices.Compact(adapters), ", "))
}

// judgeLinks reports links on the paths that are below the capability of both of their ends.
func (r *topologyReader) judgeLinks() {
	judged := map[*pcie.Function]bool{}
	for _, g := range r.t.GPUs {
		r.judgePath(g.Name, g.function, judged)
	}
	for _, a := range r.t.Adapters {
		r.judgePath(a.Name, a.function, judged)
	}
}

// judgePath judges the links between a function and the root complex.
func (r *topologyReader) judgePath(name string, f *pcie.Function, judged map[*pcie.Function]bool) {
	path := append(slices.Clone(f.Bridges), f)
	for i := 1; i < len(path); i++ {
		parent, child := path[i-1], path[i]
		if below := linkBelow(parent, child); below != nil && !judged[child] {
			subject := name
			if b := r.bridges[child]; b != nil {
				subject = b.name()
			}
			r.add(report.PCIeSlow, subject, "PCIe link from %s to %s runs at %s", parent.Address, child.Address, strings.Join(below, ", "))
		}
		judged[child] = true
	}
}

// linkBelow describes how the link between two functions is below the capability of both. The
// ports of a switch have no link between them. A GPU lowers its link's speed while it is idle,
// so only the width counts there.
func linkBelow(parent, child *pcie.Function) []string {
	if c := parent.Config; c != nil && c.PortType != nil && *c.PortType == pcie.UpstreamPort {
		return nil
	}
	link := child.Link
	if child.IsGPU() {
		link.Speed = nil
	}
	return link.BelowMaximum(parent.Link)
}
