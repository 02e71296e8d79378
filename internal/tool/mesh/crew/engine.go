package crew

import (
	"context"
	"net/netip"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/jsonframe"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// A Rail is an active RDMA port of a worker, at which it serves and runs measurements.
type Rail struct {
	Device string  `json:"device"`
	Port   uint8   `json:"port"`
	Link   string  `json:"link"` // "InfiniBand" or "Ethernet"
	GUID   ib.GUID `json:"guid"` // of the port
	LID    ib.LID  `json:"lid"`
	Gbps   float64 `json:"gbps"` // 0: unknown
	Listen uint16  `json:"listen"`
}

// An Offer is the measuring part of a worker, which it sends at joining.
type Offer struct {
	Rails     []Rail       `json:"rails"`
	Addresses []netip.Addr `json:"addresses"`       // of the host
	Error     string       `json:"error,omitempty"` // why there is no rail
}

// An Engine measures. Serve is called once, before the first Measure.
type Engine interface {
	Offer() Offer
	// Serve begins to serve the members at these addresses, until ctx ends.
	Serve(ctx context.Context, members []netip.Addr)
	// Measure runs tests from a rail to another member's until ctx ends.
	Measure(ctx context.Context, tests []perf.Test, s Send) Figures
}

// maxOffered limits the rails and the addresses of a worker.
const maxOffered = 64

// clean makes the texts of an offer safe for a terminal, and limits its lists.
func (o *Offer) clean() {
	o.Rails = o.Rails[:min(len(o.Rails), maxOffered)]
	o.Addresses = o.Addresses[:min(len(o.Addresses), maxOffered)]
	o.Error = jsonframe.Printable(o.Error)
	for i := range o.Rails {
		r := &o.Rails[i]
		r.Device, r.Link = jsonframe.Printable(r.Device), jsonframe.Printable(r.Link)
	}
}

// Offer returns the offer of a member at joining.
func (c *Crew) Offer(name string) Offer {
	if m := c.byName[name]; m != nil {
		return m.offer
	}
	return Offer{}
}

// address returns the address at which other members reach a member: that of its
// connection, unless it runs on the host of the coordinator.
func (m *member) address() netip.Addr {
	from, _ := netip.ParseAddrPort(m.conn.RemoteAddr().String()) // invalid for a pipe
	if at := from.Addr().Unmap(); at.IsValid() && !at.IsLoopback() || len(m.offer.Addresses) == 0 {
		return at
	}
	return m.offer.Addresses[0]
}

// addresses returns all addresses from which members may connect to each other.
func (c *Crew) addresses() (all []netip.Addr) {
	for _, m := range c.order {
		all = append(append(all, m.address()), m.offer.Addresses...)
	}
	return all
}
