package ping

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/routefiles"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/umad"
)

// A meshHost is a host of --hosts-file, or this host.
type meshHost struct {
	name    string
	leaf    string // "": unknown
	address lookup.Address
}

// findFabric finds the targets in a fabric: each host calculates them from the same tables.
func (p *meshProbe) findFabric(ctx context.Context) error {
	routing, err := p.routing(ctx)
	if err != nil {
		return err
	}
	routefiles.PrintFailures(p.fabric.Failures(p.env, "warning"), routing, p.finder.names)
	p.plan = mesh.NewWiring(routing, p.finder.names).PlanProbes(p.pairs, nil)
	f := &p.finder
	if err := f.open(ctx, nil, true); err != nil {
		return err
	}
	var peers []mesh.ProbedPort
	p.self.name, peers, err = p.plan.Of(f.fallback.Port.Attr().PortGUID.String())
	if err != nil {
		return err
	}
	for _, peer := range peers {
		t := &ping.Target{Name: peer.Name, To: umad.Target{LID: peer.LID}, PortGUID: peer.GUID}
		if peer.LID == 0 {
			f.notFound = append(f.notFound, unresolved{t.Name, f.errNoLID(t)})
			continue
		}
		p.add(f.fallback, t, peer)
	}
	return nil
}

// routing reads the fabric of --from, or scans it.
func (p *meshProbe) routing(ctx context.Context) (*route.Routing, error) {
	if p.from != fromSweep {
		return routefiles.ReadStored(p.from)
	}
	bar := render.NewProgress(p.env.ErrOut)
	defer bar.Close()
	o := route.Options{Source: p.fabric.Source(p.env)}
	o.Source.Progress = bar.Update
	r, err := route.Scan(ctx, o)
	return r, fabricflag.WithHint(err)
}

// add adds a target of a peer.
func (p *meshProbe) add(g *group, t *ping.Target, peer mesh.ProbedPort) {
	if p.byTarget == nil {
		p.byTarget = map[*ping.Target]int{}
	}
	p.byTarget[t] = len(p.peers)
	p.peers = append(p.peers, peer)
	p.finder.addTo(g, t)
}

// findHosts finds the targets in the list of --hosts-file.
func (p *meshProbe) findHosts(ctx context.Context) error {
	hosts, err := p.readHosts()
	if err != nil {
		return cmdutil.WithFileHint(&cmdutil.UsageError{Err: fmt.Errorf("read hosts: %w", err)}, cmdutil.TargetsHint)
	}
	var adapters []mesh.Adapter
	byName := map[string]*meshHost{}
	for i := range hosts {
		h := &hosts[i]
		adapters = append(adapters, mesh.Adapter{Host: h.name, Leaf: h.leaf})
		byName[h.name] = h
	}
	self := p.findSelf(hosts)
	if self == nil {
		err := cmdutil.UsageErrorf("find this host in %s: no line has an IP address of this host", p.hosts)
		return cmdutil.WithHint(err, "list the addresses of this host: ip -brief address")
	}
	p.self = *self
	p.plan = mesh.NewUnwired(adapters).PlanProbes(p.pairs, nil)
	_, peers, err := p.plan.Of(self.name)
	if err != nil {
		return err
	}
	var addresses []lookup.Address
	for _, peer := range peers {
		addresses = append(addresses, byName[peer.Name].address)
	}
	return p.findPeers(ctx, peers, addresses)
}

// findPeers opens the ports that lead to peers, and adds their targets. Over RoCE, targets with
// several flow labels are paths to the same host.
func (p *meshProbe) findPeers(ctx context.Context, peers []mesh.ProbedPort, addresses []lookup.Address) error {
	f := &p.finder
	if err := f.open(ctx, addresses, false); err != nil {
		return err
	}
	if err := f.find(ctx, nil, nil); err != nil {
		return err
	}
	for i, peer := range peers {
		g, targets, err := f.findOne(ctx, i, addresses)
		if err != nil {
			f.notFound = append(f.notFound, unresolved{peer.Name, err})
			continue
		}
		for _, t := range targets {
			paths := 1
			if t.GRH != nil {
				paths = p.paths
			}
			for label := range paths {
				one := *t
				if paths > 1 {
					way := *t.GRH
					way.FlowLabel = uint32(label + 1)
					one.GRH = &way
				}
				p.add(g, &one, peer)
			}
		}
	}
	return nil
}

// readHosts reads the file of --hosts-file.
func (p *meshProbe) readHosts() (hosts []meshHost, err error) {
	file, err := interrupt.Open(p.hosts)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, seen := textfile.NewReader(file, p.hosts), map[string]bool{}
	for lines.Next() {
		fields := strings.Fields(lines.Content())
		if len(fields) == 0 {
			continue
		}
		h := meshHost{name: fields[0]}
		if h.address, err = lookup.Parse(h.name); err == nil && h.address.Kind != lookup.IP && h.address.Kind != lookup.GID {
			err = fmt.Errorf("got %s, want an IP address or a GID", textfile.Quote(h.name))
		}
		switch {
		case err != nil:
		case len(fields) > 2:
			err = fmt.Errorf("got %d fields, want an address and its leaf switch", len(fields))
		case seen[h.name]:
			err = fmt.Errorf("got %s twice", h.name)
		case len(fields) == 2:
			h.leaf = fields[1]
		}
		if err != nil {
			return nil, lines.At(err)
		}
		seen[h.name] = true
		hosts = append(hosts, h)
	}
	return hosts, lines.Err()
}

// findSelf returns the host with an address of this host, or nil.
func (p *meshProbe) findSelf(hosts []meshHost) *meshHost {
	local, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	own := map[netip.Addr]bool{}
	for _, a := range local {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			own[prefix.Addr().Unmap()] = true
		}
	}
	for i := range hosts {
		if ip, ok := ipOf(&hosts[i].address); ok && own[ip.Unmap()] && !ip.IsLoopback() {
			return &hosts[i]
		}
	}
	return nil
}
