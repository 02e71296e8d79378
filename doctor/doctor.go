// Package doctor looks at what RDMA needs of a host: modules, device nodes,
// limits, slots, addresses, the subnet manager. It says what is right, what is
// wrong, and the command that mends it. It changes nothing.
//
// Each check reads files below a root, which need not be that of this machine.
// What is asked of a running kernel instead (device nodes that are opened, a
// subnet manager, network devices) is unknown for another root.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/internal/dcbnl"
)

// Options say what to look at. The zero value is this machine, and all checks.
type Options struct {
	Root string // of the file system, default /

	// Only names the checks to do, nil: all; Skip those to leave out.
	Only, Skip []string

	// Timeout is how long a subnet manager may take for an answer, of which it
	// is asked for twice at most; 0: half a second.
	Timeout time.Duration
}

// defaultTimeout is many times what an idle subnet manager takes.
const defaultTimeout = 500 * time.Millisecond

// A Verdict says how a thing was found.
type Verdict string

// Verdicts, from good to bad; Unknown is none of them.
const (
	OK      Verdict = "ok"
	Note    Verdict = "note"    // works, and could be better
	Warning Verdict = "warning" // slow, or works for some programs only
	Error   Verdict = "error"   // does not work
	Unknown Verdict = "unknown" // could not be looked at
)

// An Item is one thing that a check looked at.
type Item struct {
	Check   string  `json:"check"`
	Subject string  `json:"subject"` // such as "mlx5_0/1" or "/dev/infiniband/umad0"; "": the host
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`

	// What follows is empty where all is well.
	Why    string   `json:"why"`    // it matters
	Mend   []string `json:"mend"`   // commands for a shell of root
	Keep   []string `json:"keep"`   // commands that keep it so after a restart
	Advice string   `json:"advice"` // what no command does
}

// A Result is what all checks found.
type Result struct {
	Items []Item `json:"items"`
}

// Count returns how many items have a verdict.
func (r *Result) Count(v Verdict) int {
	n := 0
	for _, i := range r.Items {
		if i.Verdict == v {
			n++
		}
	}
	return n
}

// A Check is a kind of thing to look at.
type Check struct {
	Name  string
	About string

	needs string // what has to be there, lest all seem missing
	run   func(context.Context, *host) []Item
}

const (
	sysClass  = "sys/class"
	sysModule = "sys/module"
)

// Checks are all there are, in the order in which they are best mended.
var Checks = []Check{
	{"modules", "kernel modules, of RDMA and of the cards that are plugged in", sysModule, checkModules},
	{"devices", "RDMA devices, and what their drivers tell", sysClass, checkDevices},
	{"netns", "whether network namespaces share devices", sysModule, checkNetns},
	{"nodes", "device nodes, and what you may do with them", sysClass, checkNodes},
	{"memlock", "how much memory you may lock, and so register", "", checkMemlock},
	{"nofile", "how many files you may open", "", checkNofile},
	{"cgroup", "limits of the container or service on RDMA objects", "", checkCgroup},
	{"ports", "whether ports are up", sysClass, checkPorts},
	{"links", "what InfiniBand links run at, and what both ends could", sysClass, checkLinks},
	{"sm", "whether the subnet manager answers, on InfiniBand", sysClass, checkSM},
	{"pkeys", "partitions that InfiniBand ports are full members of", sysClass, checkPKeys},
	{"names", "what InfiniBand devices are called in the subnet", sysClass, checkNames},
	{"gids", "GIDs of RoCE v2 over IPv4", sysClass, checkGIDs},
	{"routes", "IP routes that RoCE's packets take", sysClass, checkRoutes},
	{"mtu", "MTU of ports, and of the network devices below", sysClass, checkMTU},
	{"lossless", "what keeps RoCE's packets from being dropped: PFC, ECN", sysClass, checkLossless},
	{"pcie", "width and speed of PCI Express links", sysClass, checkPCIe},
	{"iommu", "whether an IOMMU slows DMA down", sysClass, checkIOMMU},
	{"numa", "how near a device is to the CPUs", sysClass, checkNUMA},
	{"governor", "CPU frequency", "sys/devices", checkGovernor},
	{"clock", "what the kernel reads the time from", "", checkClock},
	{"hugepages", "huge pages", "", checkHugepages},
}

// look does the check.
func (c *Check) look(ctx context.Context, h *host) []Item {
	if _, err := os.Stat(h.path(c.needs)); err != nil {
		return []Item{unread("", err)}
	}
	return c.run(ctx, h)
}

// Names returns the names of all checks.
func Names() []string {
	var names []string
	for _, c := range Checks {
		names = append(names, c.Name)
	}
	return names
}

// An UnknownCheckError is a name that no check has.
type UnknownCheckError string

func (e UnknownCheckError) Error() string { return fmt.Sprintf("no check is called %q", string(e)) }

// Run does the checks. What cannot be looked at is an item of its own; an error
// is that the checks cannot be done at all, or an UnknownCheckError.
func Run(ctx context.Context, o Options) (*Result, error) {
	for _, name := range slices.Concat(o.Only, o.Skip) {
		if !slices.Contains(Names(), name) {
			return nil, UnknownCheckError(name)
		}
	}
	h, err := newHost(ctx, o)
	if err != nil {
		return nil, err
	}
	r := &Result{Items: []Item{}}
	for _, c := range Checks {
		if o.Only != nil && !slices.Contains(o.Only, c.Name) || slices.Contains(o.Skip, c.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, i := range c.look(ctx, h) {
			i.Check = c.Name
			i.Mend, i.Keep = orEmpty(i.Mend), orEmpty(i.Keep)
			r.Items = append(r.Items, i)
		}
	}
	return r, nil
}

// orEmpty makes nothing a list, as JSON has it.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func newHost(ctx context.Context, o Options) (*host, error) {
	h := &host{root: cmp.Or(o.Root, "/"), timeout: cmp.Or(o.Timeout, defaultTimeout)}
	if h.live = h.root == "/"; h.live {
		h.bridging = dcbnl.Get
	}
	r, err := devinfo.Run(ctx, devinfo.Options{Sysfs: h.sysfs(), Dev: h.path("dev/infiniband")})
	if err != nil {
		return nil, err
	}
	h.devices = r
	h.user = h.readUser()
	return h, nil
}
