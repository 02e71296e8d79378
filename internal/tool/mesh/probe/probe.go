// Package probe is the RDMA side of a cluster test's worker: a server of package perf for
// each rail, and the client of measurements to other workers.
package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/tool/mesh/crew"
	"github.com/ibkit/ibkit/internal/tool/perf"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
)

// A Probe is a [crew.Engine] that serves and runs the tests of package perf.
type Probe struct {
	identity  host.Identity
	sysfs     sysfs.FS
	offer     crew.Offer
	listeners []net.Listener // by rail
	serving   sync.WaitGroup
}

// Open opens a TCP port for each of the ports, such as "mlx5_0" or "mlx5_0/2"; none: for all
// active ports. The offer has the reasons why ports cannot be used.
func Open(identity host.Identity, fs sysfs.FS, ports []string) *Probe {
	p := &Probe{identity: identity, sysfs: fs}
	rails, failed := findRails(fs, ports)
	for _, rail := range rails {
		if err := p.open(rail); err != nil {
			failed = append(failed, err)
		}
	}
	if err := errors.Join(failed...); err != nil {
		p.offer.Error = err.Error()
	}
	p.offer.Addresses = addresses()
	return p
}

// open adds a rail with a listener, if tests can run on it.
func (p *Probe) open(rail crew.Rail) error {
	if _, err := p.server(rail, nil); err != nil {
		return err
	}
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return fmt.Errorf("listen for tests: %w", err)
	}
	rail.Listen = uint16(l.Addr().(*net.TCPAddr).Port)
	p.listeners, p.offer.Rails = append(p.listeners, l), append(p.offer.Rails, rail)
	return nil
}

// maxClients is the number of members that may measure to a rail at the same time.
const maxClients = 4096

// server returns a server for members only.
func (p *Probe) server(rail crew.Rail, members []netip.Prefix) (*perf.Server, error) {
	o := perf.DefaultServeOptions()
	o.Identity, o.Device, o.Port, o.Allow, o.MaxClients = p.identity, rail.Device, rail.Port, members, maxClients
	return perf.NewServer(o)
}

// Offer returns the rails.
func (p *Probe) Offer() crew.Offer { return p.offer }

// Serve serves the members until ctx ends.
func (p *Probe) Serve(ctx context.Context, members []netip.Addr) {
	allow := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")} // on this host
	for _, a := range members {
		allow = append(allow, netip.PrefixFrom(a, a.BitLen()))
	}
	for i, l := range p.listeners {
		p.serving.Go(func() {
			server, err := p.server(p.offer.Rails[i], allow)
			if err == nil {
				err = server.Serve(ctx, l)
			}
			if err != nil {
				_ = l.Close() // clients see that the rail is gone
			}
		})
	}
}

// Close closes the listeners and waits for the servers, after the context of Serve has ended.
func (p *Probe) Close() error {
	p.serving.Wait()
	var all []error
	for _, l := range p.listeners {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// addresses returns the global addresses of this host, at most a few.
func addresses() (all []netip.Addr) {
	const most = 8
	found, _ := net.InterfaceAddrs() // none: the address of the connection counts
	for _, a := range found {
		prefix, err := netip.ParsePrefix(a.String())
		if at := prefix.Addr(); err == nil && at.IsGlobalUnicast() && len(all) < most {
			all = append(all, at)
		}
	}
	return all
}
