package ping

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// finder resolves addresses to targets.
type finder struct {
	env    *cmdutil.Env
	flags  *fabricflag.Flags
	names  *fabric.NameMap
	routes bool // ports without a LID are reachable, by a directed route

	paths    map[int]device.Path // over RoCE, by the index of the address
	noPaths  map[int]error       // of addresses that are not reached over RoCE, by index
	groups   []*group            // by port
	fallback *group              // of addresses without a path; nil: no address needs it, or its port failed to open
	failed   error               // of the port of fallback
	resolver *lookup.Resolver
	fabric   *fabric.Fabric // nil: not scanned
	found    []*ping.Target
	expected []*expectation
	notFound []unresolved
	partial  bool    // a scan may have missed nodes
	missed   []error // failed requests of that scan

	unread map[*ping.Target]error // why the LID of a target is unknown
}

// A group is the targets that are pinged from one port.
type group struct {
	node string // of the port, such as "umad0"
	ping.Group
}

// An unresolved target is an address without a known port.
type unresolved struct {
	text string
	err  error
}

// open opens the ports that lead to the targets: over RoCE, the ports through which the
// kernel sends IP packets to them, and for all others the port that the options select.
// scans reports that the other port is needed for a scan.
func (f *finder) open(ctx context.Context, addresses []lookup.Address, scans bool) error {
	if !f.flags.IsSimulated() {
		f.findPaths(addresses)
	}
	others := scans || len(addresses) == 0
	for i := range addresses {
		path, overRoCE := f.paths[i]
		others = others || !overRoCE && !f.onlyRoCE(i, addresses)
		if !overRoCE || f.group(path.From.Node) != nil {
			continue
		}
		port, err := path.From.Open()
		if err != nil {
			return err
		}
		f.groups = append(f.groups, &group{node: path.From.Node, Group: ping.Group{Port: port}})
	}
	if !others {
		return nil
	}
	port, err := f.flags.Open(f.env)(ctx)
	if err != nil {
		f.failed = err
		if len(f.groups)+len(f.noPaths) > 0 && !scans {
			return nil // each address has a cause of its own
		}
		return err
	}
	f.fallback = &group{Group: ping.Group{Port: port}}
	f.groups = append(f.groups, f.fallback)
	return nil
}

// group returns the group of a port by the name of its device node.
func (f *finder) group(node string) *group {
	for _, g := range f.groups {
		if g.node == node {
			return g
		}
	}
	return nil
}

// close closes the ports.
func (f *finder) close() (err error) {
	for _, g := range f.groups {
		err = errors.Join(err, g.Port.Close())
	}
	return err
}

// pinged returns the groups with targets.
func (f *finder) pinged() (groups []ping.Group) {
	for _, g := range f.groups {
		if len(g.Targets) > 0 {
			groups = append(groups, g.Group)
		}
	}
	return groups
}

// findPaths finds the addresses that are reached over RoCE, and the causes for those
// that are not.
func (f *finder) findPaths(addresses []lookup.Address) {
	candidates := f.candidates()
	f.paths, f.noPaths = map[int]device.Path{}, map[int]error{}
	for i := range addresses {
		ip, isAddress := ipOf(&addresses[i])
		if !isAddress {
			continue
		}
		p, err := device.PathTo(candidates, ip)
		if err != nil {
			f.noPaths[i] = err
			continue
		}
		f.paths[i] = p
	}
}

// onlyRoCE reports whether InfiniBand cannot reach an address that RoCE does not reach.
func (f *finder) onlyRoCE(i int, addresses []lookup.Address) bool {
	err := f.noPaths[i]
	ip, _ := ipOf(&addresses[i])
	return err != nil && (!errors.Is(err, device.ErrNoRoCE) || ip.Is4In6()) // no InfiniBand port has such a GID
}

// ipOf returns a GID or an IP address as an IP address.
func ipOf(a *lookup.Address) (netip.Addr, bool) {
	switch a.Kind {
	case lookup.GID:
		return netip.AddrFrom16(a.GID), true
	case lookup.IP:
		return a.IP, true
	}
	return netip.Addr{}, false
}

// candidates returns the local ports that -C and -P select.
func (f *finder) candidates() []device.LocalPort {
	all, err := device.Host{Sysfs: f.env.Sysfs()}.Ports()
	if err != nil {
		return nil // opening a port reports the error
	}
	var fit []device.LocalPort
	for _, c := range all {
		if (f.flags.Device == "" || c.Attr.Device == f.flags.Device) && (f.flags.Port == 0 || c.Attr.Number == f.flags.Port) {
			fit = append(fit, c)
		}
	}
	return fit
}

// find finds targets by subnet administration or by a scan. A target that is not found
// is reported, and the others are pinged. The last addresses are those of expected.
func (f *finder) find(ctx context.Context, addresses []lookup.Address, isWanted func(*fabric.Node) bool) error {
	bar := render.NewProgress(f.env.ErrOut)
	defer bar.Close()
	var client *umad.Client
	if f.fallback != nil {
		client = umad.NewClient(f.fallback.Port, f.flags.Client(f.env))
		o := f.flags.Resolve(f.env, f.names)
		o.Progress = bar.Update
		f.resolver = lookup.New(client, f.fallback.Port.Attr(), o)
	}
	if isWanted != nil {
		var err error
		f.fabric, err = fabric.Discover(ctx, client, fabric.DiscoverOptions{NoExtendedPortInfo: true, Progress: bar.Update})
		if err != nil {
			return err
		}
		f.partial = f.fabric.Partial()
	}
	named := len(addresses) - len(f.expected)
	for i := range addresses[:named] {
		a := &addresses[i]
		g, targets, err := f.findOne(ctx, i, addresses)
		if ctx.Err() != nil || errors.Is(err, umad.ErrDeviceRemoved) {
			return err
		}
		if err != nil {
			f.notFound = append(f.notFound, unresolved{a.Text, err})
		}
		f.add(g, targets)
	}
	if isWanted != nil {
		f.addNodes(isWanted)
		f.addSilentPeers()
		if f.partial {
			f.missed = f.fabric.FailureErrors(f.names)
		}
	}
	if f.resolver != nil && !f.partial {
		f.missed = f.resolver.Missed()
		f.partial = len(f.missed) > 0
	}
	index := newTargetIndex(f.found)
	for i, e := range f.expected {
		g, targets, err := f.findOne(ctx, named+i, addresses)
		if ctx.Err() != nil || errors.Is(err, umad.ErrDeviceRemoved) {
			return err
		}
		f.addExpected(index, e, g, targets, err)
	}
	return nil
}

// findOne returns the targets with the address of an index, and the group of their port.
func (f *finder) findOne(ctx context.Context, i int, addresses []lookup.Address) (*group, []*ping.Target, error) {
	a := &addresses[i]
	if path, overRoCE := f.paths[i]; overRoCE {
		return f.group(path.From.Node), []*ping.Target{{Name: a.Text, GRH: &path.GRH, OneWay: path.Embedded}}, nil
	}
	if err := f.noPaths[i]; err != nil && (f.fallback == nil || f.onlyRoCE(i, addresses)) {
		return nil, nil, cmdutil.WithHint(err, "list the RoCE ports of this host: ibkit devinfo; show the interface: ip route get ADDRESS")
	}
	if f.fallback == nil {
		return nil, nil, fmt.Errorf("find path to %s: %w", a.Text, f.failed)
	}
	ports, err := f.resolver.Find(ctx, *a)
	if err != nil {
		return nil, nil, err
	}
	var targets []*ping.Target
	for _, p := range ports {
		t := &ping.Target{Name: a.Text, To: p.To, PortGUID: p.PortGUID}
		f.setUnread(t, p.Err)
		switch {
		case p.Host != nil && p.To == umad.Target{}:
			w := &p.Host.Paths[0]
			if w.SGIDIndex < 0 {
				return nil, nil, fmt.Errorf("find path to %s: no GID of the local port can be the source", a.Text)
			}
			t.GRH, t.OneWay = w.GRH(), w.OneWay
		case a.Kind == lookup.LID:
			t.Name = fmt.Sprintf("LID %d", p.To.LID)
		case a.Kind == lookup.Route:
			t.Name = "route " + a.Text
		case a.Kind == lookup.Name && p.Node != nil && p.Description != nil:
			t.Name = f.names.LabelOf(p.Node.NodeGUID, *p.Description)
		}
		targets = append(targets, t)
	}
	distinguish(targets)
	return f.fallback, targets, nil
}

// distinguish adds port GUIDs to names that several targets have.
func distinguish(targets []*ping.Target) {
	times := map[string]int{}
	for _, t := range targets {
		times[t.Name]++
	}
	for _, t := range targets {
		if times[t.Name] > 1 {
			t.Name = fmt.Sprintf("%s port 0x%016x", t.Name, t.PortGUID)
		}
	}
}

// add adds the reachable targets to a group.
func (f *finder) add(g *group, targets []*ping.Target) {
	for _, t := range targets {
		if f.isReachable(t) {
			f.addTo(g, t)
		} else {
			f.notFound = append(f.notFound, unresolved{t.Name, f.errNoLID(t)})
		}
	}
}

// isReachable reports whether the selected agents can reach a target.
func (f *finder) isReachable(t *ping.Target) bool {
	return t.To.LID != 0 || t.GRH != nil || f.routes || t.PortGUID == 0
}

// setUnread records the reason why the LID of a target is unknown, nil for a known one.
func (f *finder) setUnread(t *ping.Target, err error) {
	if err == nil {
		return
	}
	if f.unread == nil {
		f.unread = map[*ping.Target]error{}
	}
	f.unread[t] = err
}

func (f *finder) errNoLID(t *ping.Target) error {
	if err := f.unread[t]; err != nil {
		return fmt.Errorf("find path to %s: its LID is unknown: %w; only --via sma reaches it", t.Name, err)
	}
	return fmt.Errorf("find path to %s: it has no LID; only --via sma reaches it", t.Name)
}

func (f *finder) addTo(g *group, t *ping.Target) {
	g.Targets = append(g.Targets, t)
	f.found = append(f.found, t)
}

// addNodes adds the ports of selected nodes: port 0 of a switch, and the ports of other
// nodes that the scan reached.
func (f *finder) addNodes(isWanted func(*fabric.Node) bool) {
	var targets []*ping.Target
	for _, n := range f.fabric.Nodes {
		if !isWanted(n) {
			continue
		}
		for _, p := range lookup.PortsOf(n) {
			t := &ping.Target{Name: f.names.Label(n), To: p.To, PortGUID: p.PortGUID}
			f.setUnread(t, p.Err)
			targets = append(targets, t)
		}
	}
	distinguish(targets)
	f.add(f.fallback, targets)
}

// addSilentPeers reports the links of the scan whose peer did not reply. Its type is
// unknown, so that it may be a node to be pinged.
func (f *finder) addSilentPeers() {
	for _, failure := range f.fabric.Failures {
		n := f.fabric.NodeByGUID(failure.NodeGUID)
		if failure.Attr != mad.AttrNodeInfo || n == nil {
			continue
		}
		name := "peer of " + fabric.PortName(f.names.Label(n), int(failure.Port))
		f.notFound = append(f.notFound, unresolved{name, fmt.Errorf("find %s: %w", name, failure.Err)})
	}
}
