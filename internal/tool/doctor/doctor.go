// Package doctor checks whether a host is ready for RDMA: kernel modules, device
// nodes, resource limits, PCI Express slots, addresses and the subnet manager. Each
// problem comes with its effect and, if there is one, the command that fixes it.
// The package does not change the host.
//
// Checks read files below a root directory, which may hold another host's files. Checks
// that need a running kernel (opening device nodes, querying the subnet manager or network
// devices) report Unknown for any root but "/".
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/tool/roce"
	"github.com/ibkit/ibkit/report"
)

// Options select the host and the checks. The zero value runs all checks on this
// host.
type Options struct {
	Root string // root directory for the host's files; default "/"

	Only []string // check names to run; nil for all
	Skip []string // check names to leave out

	// Devices, if not nil, are the host's devices, which are not read again.
	Devices *devinfo.Result

	// Window is the time between two readings of RoCE counters; 0: they are not judged.
	Window time.Duration

	// RoCE has the queries of network devices. Root sets its Sysfs.
	RoCE roce.Host

	// Timeout limits each of at most two attempts to query a subnet manager or
	// a peer port; 0 for 500 ms.
	Timeout time.Duration
}

// defaultTimeout is many times an idle subnet manager's response time.
const defaultTimeout = 500 * time.Millisecond

// A Verdict rates a check's result.
type Verdict string

// Verdicts.
const (
	OK      Verdict = "ok"
	Note    Verdict = "note"    // works, could be better
	Warning Verdict = "warning" // slow, or fails for some programs
	Error   Verdict = "error"   // does not work
	Unknown Verdict = "unknown" // could not be checked
	Skipped Verdict = "skipped" // does not apply to this host
)

// An Item is a check's result for a single subject.
type Item struct {
	Check   string  `json:"check"`   // check name
	Subject string  `json:"subject"` // for example "mlx5_0/1" or "/dev/infiniband/umad0"; "" for the host
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`

	// The fields below are empty if the verdict is OK or Skipped.

	Why     string   `json:"why"`     // the problem's effect
	Fix     []string `json:"fix"`     // commands for a root shell that fix the problem
	Persist []string `json:"persist"` // commands that make the fix survive a reboot
	Hint    string   `json:"hint"`    // advice that no command covers

	Kind report.Kind `json:"-"` // of the finding; "": the check's kind
}

// Schema identifies the version of a Result's JSON encoding. The file schema/doctor.json
// describes it.
const Schema = "ibkit/doctor/3"

// A Result holds all checks' items, in Checks order, and the findings that follow from
// them. Its JSON encoding is the output from ibkit doctor --json.
type Result struct {
	report.Head
	Items []Item `json:"items"`
}

// Verdicts returns how many items have the given verdict.
func (r *Result) Verdicts(v Verdict) int {
	n := 0
	for _, i := range r.Items {
		if i.Verdict == v {
			n++
		}
	}
	return n
}

// A Check is a check kind.
type Check struct {
	Name  string
	Kind  report.Kind // of its findings
	About string      // subject of the check, as a noun phrase

	requires    string // file without which the check cannot run; may be ""
	needsDevice bool
	run         func(context.Context, *host) []Item
}

const (
	sysClass  = "sys/class"
	sysModule = "sys/module"
)

// Checks returns all checks in the order in which problems are best fixed: a later problem
// is often a consequence of an earlier problem.
func Checks() []Check { return slices.Clone(checks) }

var checks = []Check{
	{"modules", report.MissingModule, "kernel modules for RDMA and for the installed adapters", sysModule, false, checkModules},
	{"devices", report.UnreadableDevice, "RDMA devices and their firmware", sysClass, false, checkDevices},
	{"netns", report.NetworkNamespace, "sharing of RDMA devices between network namespaces", sysModule, false, checkNetns},
	{"nodes", report.DeviceNode, "device nodes in /dev/infiniband and your access to them", sysClass, false, checkNodes},
	{"memlock", report.LockedMemory, "limit on locked memory, which bounds registered memory", "", false, checkMemlock},
	{"nofile", report.OpenFiles, "limit on open files", "", false, checkNofile},
	{"cgroup", report.CgroupLimit, "limits of the container or service on RDMA objects", "", false, checkCgroup},
	{"ports", report.PortDown, "port states", sysClass, true, checkPorts},
	{"links", report.LocalLink, "speed and width of InfiniBand links, compared at both ends", sysClass, true, checkLinks},
	{"sm", report.LocalManager, "subnet manager of each InfiniBand port", sysClass, true, checkSM},
	{"pkeys", report.LocalPKeys, "partition membership of InfiniBand ports", sysClass, true, checkPKeys},
	{"names", report.LocalName, "node descriptions of InfiniBand devices", sysClass, true, checkNames},
	{"gids", report.NoIPv4GID, "RoCE v2 GIDs over IPv4", sysClass, true, checkGIDs},
	{"routes", report.IPRoutes, "IP routes and ARP settings for RoCE", sysClass, true, checkRoutes},
	{"mtu", report.LowMTU, "MTU of ports and of their network devices", sysClass, true, checkMTU},
	{"lossless", report.Lossless, "flow control and congestion marking for RoCE (PFC, ECN)", sysClass, true, checkLossless},
	{"traffic", report.RoCELoss, "losses, congestion and errors of RoCE and EFA within --window", sysClass, true, checkTraffic},
	{"pcie", report.PCIeSlow, "width and speed of PCI Express links", sysClass, true, checkPCIe},
	{"gpus", report.GPUDistance, "PCI Express paths between GPUs and RDMA devices", sysClass, true, checkGPUs},
	{"iommu", report.IOMMU, "address translation by the IOMMU", sysClass, true, checkIOMMU},
	{"numa", report.NUMA, "NUMA distance between devices and CPUs", sysClass, true, checkNUMA},
	{"governor", report.Governor, "CPU frequency governors", "sys/devices", false, checkGovernor},
	{"clock", report.Clock, "clock source of the kernel", "", false, checkClock},
	{"hugepages", report.HugePages, "huge pages", "", false, checkHugepages},
}

// runOn runs the check unless its prerequisites are missing.
func (c *Check) runOn(ctx context.Context, h *host) []Item {
	if _, err := os.Stat(h.path(c.requires)); err != nil {
		return []Item{unreadable("", err)}
	}
	if c.needsDevice && len(h.devices.Devices) == 0 {
		return []Item{h.noDevice()}
	}
	return c.run(ctx, h)
}

// Run runs the selected checks. A check that fails is an Item with the verdict Unknown. Run
// returns an error if no check can run, if the context ends, or if the options contain a
// name that is not a check's name.
func Run(ctx context.Context, o Options) (*Result, error) {
	for _, name := range slices.Concat(o.Only, o.Skip) {
		if !slices.ContainsFunc(checks, func(c Check) bool { return c.Name == name }) {
			return nil, fmt.Errorf("unknown check %q", name)
		}
	}
	began := time.Now()
	h, err := newHost(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Head: report.NewHead(Schema, began), Items: []Item{}}
	for _, c := range checks {
		if !o.selects(c.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, i := range c.runOn(ctx, h) {
			i.Check = c.Name
			i.Fix, i.Persist = orEmpty(i.Fix), orEmpty(i.Persist)
			r.Items = append(r.Items, i)
			if severity, bad := severities[i.Verdict]; bad {
				r.Add(h.report(c.Kind, severity, i))
				r.Partial = r.Partial || severity == report.Unknown
			}
		}
	}
	return r, nil
}

// severities are the severities for verdicts that are findings.
var severities = map[Verdict]report.Severity{Error: report.Error, Warning: report.Warning, Unknown: report.Unknown, Note: report.Info}

// verdictOf returns the verdict for a finding's severity.
func verdictOf(s report.Severity) Verdict {
	for v, severity := range severities {
		if severity == s {
			return v
		}
	}
	return Unknown
}

// report returns an item as a finding. The hint has the commands, too.
func (h *host) report(kind report.Kind, severity report.Severity, i Item) report.Finding {
	f := report.New(cmp.Or(i.Kind, kind), i.Subject, i.Found)
	f.Severity = severity
	f.Hint = strings.Join(i.Fix, "; ")
	if i.Hint != "" {
		f.Hint = strings.TrimPrefix(f.Hint+"; "+i.Hint, "; ")
	}
	for _, d := range h.devices.Devices {
		if d.Name == i.Subject {
			f.NodeGUID = d.NodeGUID
		}
		for _, p := range d.Ports {
			if portName(d, p) == i.Subject {
				f.NodeGUID, f.Port = d.NodeGUID, &p.Number
			}
		}
	}
	return f
}

func (o *Options) selects(check string) bool {
	return (o.Only == nil || slices.Contains(o.Only, check)) && !slices.Contains(o.Skip, check)
}

// orEmpty replaces nil, which JSON encodes as null, by an empty list.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func newHost(ctx context.Context, o Options) (*host, error) {
	h := &host{root: cmp.Or(o.Root, "/"), timeout: cmp.Or(o.Timeout, defaultTimeout), selects: o.selects, window: o.Window, queries: o.RoCE}
	h.live, h.queries.Sysfs = h.root == "/", h.path("sys")
	h.devices = o.Devices
	if h.devices == nil {
		r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: h.path("sys"), Dev: h.path("dev/infiniband")})
		if err != nil {
			return nil, err
		}
		h.devices = r
	}
	h.user = h.readUser()
	return h, nil
}
