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
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// finder resolves addresses to targets.
type finder struct {
	env    *cmdutil.Env
	flags  *fabricflag.Flags
	names  *fabric.NameMap
	smLID  ib.LID
	routes bool // ports without a LID are reachable, by a directed route

	paths    map[int]device.Path // over RoCE, by the index of the address
	resolver *resolve.Resolver
	fabric   *fabric.Fabric // nil: not scanned
	found    []*ping.Target
	notFound []unresolved
	partial  bool // the scan may have missed nodes
}

// An unresolved target is an address without a known port.
type unresolved struct {
	text string
	err  error
}

// errTwoPorts reports targets that no single port reaches.
var errTwoPorts = errors.New("the targets are reached by different ports of this host: ping them one after the other, each with its -C and -P")

// open opens the port that leads to the targets: over RoCE, the port through which the
// kernel sends IP packets to them.
func (f *finder) open(ctx context.Context, addresses []resolve.Address) (umad.Port, error) {
	var noPath error
	if !f.flags.IsSimulated() {
		var err error
		if noPath, err = f.findPaths(addresses); err != nil {
			return nil, err
		}
	}
	if len(f.paths) == 0 {
		port, err := f.flags.Open(f.env)(ctx)
		var none *device.NoPortError
		if noPath != nil && errors.As(err, &none) {
			err = noPath
		}
		return port, err
	}
	from := f.paths[0].From
	for i := range addresses {
		if p, overRoCE := f.paths[i]; !overRoCE || p.From.Node != from.Node {
			return nil, &cmdutil.UsageError{Err: errTwoPorts}
		}
	}
	return from.Open()
}

// findPaths finds the addresses that are reached over RoCE. noPath is the cause for an
// address that is not; InfiniBand may still reach it.
func (f *finder) findPaths(addresses []resolve.Address) (noPath, err error) {
	candidates := f.candidates()
	f.paths = map[int]device.Path{}
	for i := range addresses {
		ip, isAddress := ipOf(&addresses[i])
		if !isAddress {
			continue
		}
		p, err := device.PathTo(candidates, ip)
		switch {
		case err == nil:
			f.paths[i] = p
		case !errors.Is(err, device.ErrNoRoCE), ip.Is4In6():
			return nil, err // no InfiniBand port has such a GID
		default:
			noPath = err
		}
	}
	return noPath, nil
}

// ipOf returns a GID or an IP address as an IP address.
func ipOf(a *resolve.Address) (netip.Addr, bool) {
	switch a.Kind {
	case resolve.GID:
		return netip.AddrFrom16(a.GID), true
	case resolve.IP:
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
// is reported, and the others are pinged.
func (f *finder) find(ctx context.Context, port umad.Port, addresses []resolve.Address, isWanted func(*fabric.Node) bool) error {
	client := umad.NewClient(port, f.flags.Client(f.env))
	bar := render.NewProgress(f.env.ErrOut)
	defer bar.Close()
	f.resolver = resolve.New(client, port.Attr(), resolve.Options{
		SMLID: f.smLID, Names: f.names, Sysfs: f.env.Sysfs(), Simulated: f.flags.IsSimulated(), Progress: bar.Update,
	})
	if isWanted != nil {
		var err error
		f.fabric, err = fabric.Discover(ctx, client, fabric.DiscoverOptions{NoExtendedPortInfo: true, Progress: bar.Update})
		if err != nil {
			return err
		}
		f.partial = f.fabric.Partial()
	}
	for i := range addresses {
		a := &addresses[i]
		if err := f.findOne(ctx, i, a); err != nil {
			if ctx.Err() != nil || errors.Is(err, umad.ErrDeviceRemoved) {
				return err
			}
			f.notFound = append(f.notFound, unresolved{a.Text, err})
		}
	}
	if isWanted != nil {
		f.addNodes(isWanted)
		f.addSilentPeers()
	}
	return nil
}

func (f *finder) findOne(ctx context.Context, number int, a *resolve.Address) error {
	if path, overRoCE := f.paths[number]; overRoCE {
		f.found = append(f.found, &ping.Target{Name: a.Text, GRH: &path.GRH, OneWay: path.Embedded})
		return nil
	}
	ports, err := f.resolver.Find(ctx, *a)
	if err != nil {
		return err
	}
	var targets []*ping.Target
	for _, p := range ports {
		t := &ping.Target{Name: a.Text, To: p.To, PortGUID: p.PortGUID}
		switch {
		case p.Host != nil && p.To == umad.Target{}:
			w := &p.Host.Paths[0]
			if w.SGIDIndex < 0 {
				return fmt.Errorf("find path to %s: no GID of the local port can be the source", a.Text)
			}
			t.GRH, t.OneWay = w.GRH(), w.OneWay
		case a.Kind == resolve.LID:
			t.Name = fmt.Sprintf("LID %d", p.To.LID)
		case a.Kind == resolve.Route:
			t.Name = "route " + a.Text
		case a.Kind == resolve.Name && p.Node != nil && p.Description != nil:
			t.Name = f.names.NameOf(p.Node.NodeGUID, *p.Description)
		}
		targets = append(targets, t)
	}
	f.add(targets)
	return nil
}

// add adds the reachable targets, with distinct names.
func (f *finder) add(targets []*ping.Target) {
	times := map[string]int{}
	for _, t := range targets {
		times[t.Name]++
	}
	for _, t := range targets {
		if times[t.Name] > 1 {
			t.Name = fmt.Sprintf("%s port 0x%016x", t.Name, t.PortGUID)
		}
		if t.To.LID == 0 && t.GRH == nil && !f.routes && t.PortGUID != 0 {
			f.notFound = append(f.notFound, unresolved{t.Name, fmt.Errorf("find path to %s: it has no LID; only --via sma reaches it", t.Name)})
			continue
		}
		f.found = append(f.found, t)
	}
}

// addNodes adds the ports of selected nodes: port 0 of a switch, and the ports of other
// nodes that the scan reached.
func (f *finder) addNodes(isWanted func(*fabric.Node) bool) {
	var targets []*ping.Target
	for _, n := range f.fabric.Nodes {
		if !isWanted(n) {
			continue
		}
		ports := n.Ports
		if n.Info.NodeType == mad.NodeTypeSwitch {
			ports = ports[:1]
		}
		for _, p := range ports {
			if p == nil {
				continue
			}
			if p.Info == nil {
				f.notFound = append(f.notFound, unresolved{f.names.Name(n), fmt.Errorf("scan %s: no PortInfo of port %d", f.names.Name(n), p.Number)})
				continue
			}
			t := &ping.Target{Name: f.names.Name(n), To: umad.Target{LID: p.LID()}, PortGUID: p.GUID}
			if p.LID() == 0 {
				t.To.Route = n.Route
			}
			targets = append(targets, t)
		}
	}
	f.add(targets)
}

// addSilentPeers reports the links of the scan whose peer did not reply. Its type is
// unknown, so that it may be a node to be pinged.
func (f *finder) addSilentPeers() {
	for _, failure := range f.fabric.Failures {
		n := f.fabric.NodeByGUID(failure.NodeGUID)
		if failure.Attr != mad.AttrNodeInfo || n == nil {
			continue
		}
		name := fmt.Sprintf("peer of %s port %d", f.names.Name(n), failure.Port)
		f.notFound = append(f.notFound, unresolved{name, fmt.Errorf("find %s: %w", name, failure.Err)})
	}
}
