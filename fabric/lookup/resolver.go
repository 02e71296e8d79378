package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/neighbour"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/umad"
)

// A Mode selects the sources of information about an InfiniBand fabric.
type Mode uint8

// The modes.
const (
	// ModeAll finds ports by subnet administration, or by a scan if there is
	// none. It reads attributes from the nodes, or from subnet administration if
	// a node does not reply.
	ModeAll Mode = iota

	ModeSA    // subnet administration only
	ModeNodes // the nodes only, by a scan
)

// Modes are all modes.
var Modes = []Mode{ModeAll, ModeSA, ModeNodes}

var modeNames = [...]string{ModeAll: "all", ModeSA: "sa", ModeNodes: "nodes"}

// String returns the mode's name: "all", "sa" or "nodes".
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// Options configure a [Resolver]. The zero value has good defaults.
type Options struct {
	Mode  Mode
	SMLID ib.LID          // for subnet administration; 0: the local port's subnet manager
	Names *fabric.NameMap // node names in addition to their descriptions
	Sysfs string          // sysfs root (default /sys)

	// Simulated reports that the fabric is not connected to this host's networks.
	Simulated bool

	// NextHop returns the next hop to an IP address (default: by the kernel's routes
	// and neighbour table). If the address does not respond, its error wraps
	// [ErrNoReply].
	NextHop func(context.Context, netip.Addr) (*NextHop, error)

	// LookupHost returns a host's IP addresses (default: by the system's name service).
	LookupHost func(context.Context, string) ([]netip.Addr, error)

	// Progress, if set, is called during a scan.
	Progress func(fabric.Progress)

	// Scanned, if not nil, is a fabric scan to use instead of another scan.
	Scanned *fabric.Fabric
}

// ErrNoReply is wrapped by the error for a next hop that does not respond.
var ErrNoReply = neighbour.ErrNoReply

// A NextHop is the next hop to an IP address.
type NextHop struct {
	Local   bool       // the address belongs to this host
	Netdev  string     // network device for the route, or for the local address
	Source  netip.Addr // route's source address; invalid if unknown
	Gateway netip.Addr // invalid if the address is on the link

	// LinkAddr is the gateway's link-layer address or, without a gateway, the
	// link-layer address for the address itself; nil: the device has no such addresses.
	// An IPoIB address has 20 bytes; the last 16 are a GID.
	LinkAddr []byte
}

func nextHop(ctx context.Context, ip netip.Addr) (*NextHop, error) {
	hop, err := neighbour.Lookup(ctx, ip)
	return (*NextHop)(hop), err
}

// A Resolver finds ports from a local port. It caches information about the fabric, and
// is therefore meant for a single command run. It is not safe for concurrent use.
type Resolver struct {
	client *umad.Client
	local  umad.PortAttr
	opts   Options

	noSA error // why subnet administration is not queried any more

	table    []known // all ports with a LID, from subnet administration
	tableErr error   // why the table could not be read
	hasTable bool

	byName *nameIndex // nil: not built yet

	scanned *fabric.Fabric
	scanErr error // why the scan failed or ended early
	missed  bool  // a partial scan may have missed ports for an address
}

// New returns a resolver that sends requests by a client on a port with attributes
// local. Without a client, and with Ethernet as the link layer in local, it finds hosts
// by all RoCE ports of this host.
func New(c *umad.Client, local umad.PortAttr, o Options) *Resolver {
	if o.NextHop == nil {
		o.NextHop = nextHop
	}
	if o.LookupHost == nil {
		o.LookupHost = lookupHost
	}
	return &Resolver{client: c, local: local, opts: o, scanned: o.Scanned}
}

func (r *Resolver) sysfs() sysfs.FS { return cmp.Or(sysfs.FS(r.opts.Sysfs), sysfs.Default) }

// A MisplacedError reports an address that does not exist in the local port's network.
type MisplacedError struct{ text, hint string }

func (e *MisplacedError) Error() string { return e.text }

// Hint suggests a remedy.
func (e *MisplacedError) Hint() string { return e.hint }

// Find returns the ports with an address: their paths, and the attributes that it
// learnt. [Resolver.Describe] reads the others. Find does not check whether a port
// replies at a LID or a directed route. Errors contain the address.
func (r *Resolver) Find(ctx context.Context, a Address) ([]*Port, error) {
	find := r.findInfiniBand
	if r.local.LinkLayer == Ethernet {
		find = r.findEthernet
	}
	ports, err := find(ctx, a)
	if err != nil {
		if _, ok := errors.AsType[*PortError](err); ok {
			return ports, err
		}
		return ports, notFound(a, err)
	}
	return ports, nil
}

// label returns the kind as messages spell it.
func (k Kind) label() string {
	switch k {
	case LID, GUID, GID, IP:
		return strings.ToUpper(k.String())
	}
	return k.String()
}

// bare returns an address without its kind's prefix.
func (a Address) bare() string {
	if n := len(a.Kind.String()); len(a.Text) > n && a.Text[:n] == a.Kind.String() && a.Text[n] == ':' {
		return a.Text[n+1:]
	}
	return a.Text
}

// Ethernet is the link layer for RoCE ports.
const Ethernet = "Ethernet"

func (r *Resolver) findInfiniBand(ctx context.Context, a Address) ([]*Port, error) {
	switch a.Kind {
	case LID:
		for _, lid := range []ib.LID{a.First, a.Last} {
			if err := CheckPort(lid); err != nil {
				return nil, err
			}
		}
		ports := make([]*Port, 0, int(a.Last-a.First)+1)
		for lid := int(a.First); lid <= int(a.Last); lid++ {
			ports = append(ports, &Port{To: umad.Target{LID: ib.LID(lid)}, FoundBy: FromAddress})
		}
		return ports, nil
	case Route:
		if a.First != 0 {
			if err := CheckPort(a.First); err != nil {
				return nil, err
			}
		}
		return []*Port{{To: umad.Target{LID: a.First, Route: a.Route}, FoundBy: FromAddress}}, nil
	case GUID:
		return r.findGUID(ctx, a)
	case GID:
		if ip := netip.AddrFrom16(a.GID); ip.Is4In6() { // not an InfiniBand port's GID
			return one(r.hostByIP(ctx, ip.Unmap()))
		}
		return r.findGID(ctx, a)
	case IP:
		return r.findByIP(ctx, a)
	case Name:
		return r.findName(ctx, a)
	}
	return nil, errors.New("invalid kind of address")
}

// findGUID finds the port with a GUID, or the ports on the node with it.
func (r *Resolver) findGUID(ctx context.Context, a Address) ([]*Port, error) {
	if r.opts.Mode != ModeNodes {
		p, err := r.path(ctx, ib.MakeGID(r.local.Prefix(), a.GUID))
		if p != nil {
			p.PortGUID = a.GUID
			return []*Port{p}, nil
		}
		if isNoRecord(err) {
			// A port that is not in service has a record but no path.
			var ports []*Port
			if ports, err = r.withGUID(ctx, a.GUID); err == nil && len(ports) > 0 {
				return ports, nil
			}
			if err == nil {
				return nil, &NotFoundError{Address: a, By: FromSA}
			}
		}
		if r.opts.Mode == ModeSA || ctx.Err() != nil {
			return nil, err
		}
	}
	f, err := r.scan(ctx)
	if f == nil {
		return nil, err
	}
	if p := portByGUID(f, a.GUID); p != nil {
		port := scannedPort(p)
		port.PortGUID = a.GUID
		return []*Port{port}, nil
	}
	if n := f.NodeByGUID(a.GUID); n != nil {
		return PortsOf(n), nil
	}
	return nil, r.notInScan(a, f, err)
}

// portByGUID returns the port with a GUID, also if its PortInfo is missing; nil without any.
func portByGUID(f *fabric.Fabric, guid ib.GUID) *fabric.Port {
	if p := f.PortByGUID(guid); p != nil {
		return p
	}
	for _, n := range f.Nodes {
		if n.Info.PortGUID == guid && guid != 0 {
			if ports := addressable(n); len(ports) == 1 {
				return ports[0]
			}
		}
	}
	return nil
}

// notInScan returns the error for an address that a scan did not find: the error
// that ended the scan early, or that there is no such address.
func (r *Resolver) notInScan(a Address, f *fabric.Fabric, scanErr error) error {
	if scanErr != nil {
		return scanErr
	}
	return r.notFoundIn(f, &NotFoundError{Address: a, By: FromScan})
}

// notFoundIn adds a scan's gaps to an error.
func (r *Resolver) notFoundIn(f *fabric.Fabric, not *NotFoundError) error {
	not.setGap(GapOf(f, r.opts.Names))
	r.missed = r.missed || not.Incomplete
	return not
}

// findGID finds the port with a GID.
func (r *Resolver) findGID(ctx context.Context, a Address) ([]*Port, error) {
	isHere := a.GID.Prefix() == r.local.Prefix() || a.GID.Prefix() == ib.DefaultPrefix
	guid := a.GID.GUID()
	if r.opts.Mode != ModeNodes {
		p, err := r.path(ctx, a.GID)
		switch {
		case p != nil && !isHere:
			return nil, &MisplacedError{
				fmt.Sprintf("in another subnet, behind the router with LID %d", p.To.LID),
				"run the command on a host in that subnet",
			}
		case p != nil:
			p.PortGUID = guid
			return []*Port{p}, nil
		case isNoRecord(err):
			// A port that is not in service has a record but no path.
			var ports []*Port
			if ports, err = r.ofPort(ctx, guid); err == nil {
				if len(ports) > 0 && isHere {
					return ports, nil
				}
				return nil, &NotFoundError{Address: a, By: FromSA}
			}
		}
		if r.opts.Mode == ModeSA || ctx.Err() != nil {
			return nil, err
		}
	}
	f, err := r.scan(ctx)
	if f == nil {
		return nil, err
	}
	if p := portByGUID(f, guid); p != nil && isHere {
		port := scannedPort(p)
		port.PortGUID = guid
		return []*Port{port}, nil
	}
	return nil, r.notInScan(a, f, err)
}
