package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/neighbour"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/umad"
)

// Ask says whom to ask about an InfiniBand fabric.
type Ask uint8

// Whom to ask.
const (
	AskAll   Ask = iota // subnet administration where ports are, and where it is not there a scan; nodes what they are, and in place of those that are silent subnet administration
	AskSA               // subnet administration only
	AskNodes            // the nodes only, by a scan and by what they say of themselves
)

var askNames = [...]string{"all", "sa", "nodes"}

// ParseAsk reads "all", "sa" or "nodes".
func ParseAsk(s string) (Ask, error) {
	for i, name := range askNames {
		if s == name {
			return Ask(i), nil
		}
	}
	return 0, fmt.Errorf("parse %q: neither all, sa nor nodes", s)
}

// Options steer a [Resolver]. The zero value is good for most.
type Options struct {
	Ask   Ask
	SMLID ib.LID          // where subnet administration is; 0: where the local port's subnet manager is
	Names *fabric.NameMap // names of nodes beside those that they give themselves
	Sysfs sysfs.FS        // "": where sysfs is mounted

	// Simulated says that the fabric has nothing to do with this host's networks.
	Simulated bool

	// Lookup finds the way to an IP address; nil: the kernel knows.
	Lookup func(context.Context, netip.Addr) (*neighbour.NextHop, error)

	// LookupHost finds the IP addresses of a host; nil: as all programs do.
	LookupHost func(context.Context, string) ([]netip.Addr, error)

	// Progress, where set, is called now and then during a scan.
	Progress func(fabric.Progress)
}

// A Resolver finds ports from one local port. It keeps what it learnt of the
// fabric as a whole, and so is for one run of a command. It is not safe for
// concurrent use.
type Resolver struct {
	client *umad.Client
	local  umad.PortAttr
	opts   Options

	noSA error // why subnet administration is not asked any more

	table    []known // all ports with a LID, as subnet administration knows them
	tableErr error   // why they are not
	hasTable bool

	byName *nameIndex // nil: no name was looked for

	scanned *fabric.Fabric
	scanErr error // why it was not, or not all of it
}

// New returns a resolver that asks by a client of a port, whose attributes local
// are. Without a client, and with nothing but Ethernet as the link layer in local,
// it finds hosts by all ports of RoCE that this host has.
func New(c *umad.Client, local umad.PortAttr, o Options) *Resolver {
	if o.Lookup == nil {
		o.Lookup = neighbour.Lookup
	}
	if o.LookupHost == nil {
		o.LookupHost = lookupHost
	}
	if o.Sysfs == "" {
		o.Sysfs = sysfs.Default
	}
	return &Resolver{client: c, local: local, opts: o}
}

// A NotFoundError says that an address leads nowhere: whoever was asked knows of
// no such port.
type NotFoundError struct {
	Address Address
	By      Source
	Similar []string // names like the one that was asked for

	// Incomplete says that not all nodes have answered.
	Incomplete bool
}

func (e *NotFoundError) Error() string {
	who := map[Source]string{FromSA: "subnet administration", FromScan: "the scan of the fabric"}[e.By]
	return fmt.Sprintf("%s knows of no such %s", who, map[Kind]string{GUID: "GUID", GID: "GID", Name: "name"}[e.Address.Kind])
}

// Hint says what to do.
func (e *NotFoundError) Hint() string {
	switch {
	case len(e.Similar) > 0:
		return "there is " + quoted(e.Similar)
	case e.Incomplete:
		return "not all nodes answered the scan; what was looked for may be one of them, or lie behind it"
	case e.By == FromSA:
		return "a scan also finds what the subnet manager has not configured: --ask nodes"
	}
	return ""
}

// A MisplacedError is an address that the network of the local port has none of.
type MisplacedError struct{ text, hint string }

func (e *MisplacedError) Error() string { return e.text }

// Hint says what to do.
func (e *MisplacedError) Hint() string { return e.hint }

// Find returns the ports that an address leads to. It says how packets get there,
// and what was learnt on the way; [Resolver.Describe] asks for the rest. A LID or
// a route is taken as it is. Errors are about the address, which they name.
func (r *Resolver) Find(ctx context.Context, a Address) ([]*Port, error) {
	find := r.findInfiniBand
	if r.local.LinkLayer == Ethernet {
		find = r.findEthernet
	}
	ports, err := find(ctx, a)
	if err != nil {
		return ports, fmt.Errorf("find %v %s: %w", a.Kind, a.bare(), err)
	}
	return ports, nil
}

// bare returns an address without the name of its kind.
func (a Address) bare() string {
	if n := len(a.Kind.String()); len(a.Text) > n && a.Text[:n] == a.Kind.String() && a.Text[n] == ':' {
		return a.Text[n+1:]
	}
	return a.Text
}

// Ethernet is the link layer of RoCE.
const Ethernet = "Ethernet"

func (r *Resolver) findInfiniBand(ctx context.Context, a Address) ([]*Port, error) {
	switch a.Kind {
	case LID:
		ports := make([]*Port, 0, int(a.Last-a.First)+1)
		for lid := int(a.First); lid <= int(a.Last); lid++ {
			ports = append(ports, &Port{To: umad.Target{LID: ib.LID(lid)}, FoundBy: FromAddress})
		}
		return ports, nil
	case Route:
		return []*Port{{To: umad.Target{LID: a.First, Route: a.Route}, FoundBy: FromAddress}}, nil
	case GUID:
		return r.findGUID(ctx, a)
	case GID:
		if ip := netip.AddrFrom16(a.GID); ip.Is4In6() { // no InfiniBand port has such a GID
			return one(r.hostByIP(ctx, ip.Unmap()))
		}
		return r.findGID(ctx, a)
	case IP:
		return r.findByIP(ctx, a)
	case Name:
		return r.findName(ctx, a)
	}
	return nil, errors.New("it is an address of no kind")
}

// findGUID finds the port with a GUID, or the ports of a node with it.
func (r *Resolver) findGUID(ctx context.Context, a Address) ([]*Port, error) {
	if r.opts.Ask != AskNodes {
		p, err := r.path(ctx, ib.MakeGID(r.prefix(), a.GUID))
		if p != nil {
			p.PortGUID = a.GUID
			return []*Port{p}, nil
		}
		if isNoRecord(err) {
			// There is none to a port that is not in service, which has a record.
			var ports []*Port
			if ports, err = r.withGUID(ctx, a.GUID); err == nil && len(ports) > 0 {
				return ports, nil
			}
			if err == nil {
				return nil, &NotFoundError{Address: a, By: FromSA}
			}
		}
		if r.opts.Ask == AskSA || ctx.Err() != nil {
			return nil, err
		}
	}
	f, err := r.scan(ctx)
	if f == nil {
		return nil, err
	}
	if p := f.PortByGUID(a.GUID); p != nil {
		port := scannedPort(p)
		port.PortGUID = a.GUID
		return []*Port{port}, nil
	}
	if n := f.NodeByGUID(a.GUID); n != nil {
		return scannedPorts(n), nil
	}
	return nil, notInScan(a, f, err)
}

// notInScan returns the error for an address that a scan did not find: the error
// that ended the scan early, or that there is no such address.
func notInScan(a Address, f *fabric.Fabric, scanErr error) error {
	if scanErr != nil {
		return scanErr
	}
	return &NotFoundError{Address: a, By: FromScan, Incomplete: f.Partial()}
}

// findGID finds the port with a GID.
func (r *Resolver) findGID(ctx context.Context, a Address) ([]*Port, error) {
	isHere := a.GID.Prefix() == r.prefix() || a.GID.Prefix() == defaultPrefix
	guid := a.GID.GUID()
	if r.opts.Ask != AskNodes {
		p, err := r.path(ctx, a.GID)
		switch {
		case p != nil && !isHere:
			return nil, &MisplacedError{
				fmt.Sprintf("it is in another subnet, behind the router with LID %d", p.To.LID),
				"a host in its subnet can find out more",
			}
		case p != nil:
			p.PortGUID = guid
			return []*Port{p}, nil
		case isNoRecord(err):
			// There is no path to a port that is not in service, which has a
			// record.
			var ports []*Port
			if ports, err = r.ofPort(ctx, guid); err == nil {
				if len(ports) > 0 && isHere {
					return ports, nil
				}
				return nil, &NotFoundError{Address: a, By: FromSA}
			}
		}
		if r.opts.Ask == AskSA || ctx.Err() != nil {
			return nil, err
		}
	}
	f, err := r.scan(ctx)
	if f == nil {
		return nil, err
	}
	if p := f.PortByGUID(guid); p != nil && isHere {
		port := scannedPort(p)
		port.PortGUID = guid
		return []*Port{port}, nil
	}
	return nil, notInScan(a, f, err)
}

// prefix is that of the local port's subnet.
func (r *Resolver) prefix() uint64 { return cmp.Or(r.local.GIDPrefix, defaultPrefix) }

// defaultPrefix is the subnet prefix of a subnet whose manager set none.
const defaultPrefix uint64 = 0xfe80_0000_0000_0000
