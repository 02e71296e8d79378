package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/ping"
	"github.com/ibkit/ibkit/resolve"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/device"
)

// pingFinder makes what a user wrote into targets.
type pingFinder struct {
	env    *environment
	flags  *fabricFlags
	names  *fabric.NameMap
	smLID  uint16
	routes bool // a port without a LID can be reached by a route: subnet management is asked

	paths    map[int]device.Path // of targets over RoCE, by their numbers
	client   *umad.Client
	fabric   *fabric.Fabric // nil: not scanned
	found    []*ping.Target
	notFound []unresolved
	partial  bool // the scan may have missed some
}

// An unresolved target has an address that nothing is known by.
type unresolved struct {
	text string
	err  error
}

// errTwoPorts is for targets that one port does not reach.
var errTwoPorts = errors.New("the targets are reached by different ports of this host: ping them one after the other, each with its -C and -P")

// open opens the port that leads to the targets: over RoCE that which the kernel
// sends IP packets to them by.
func (f *pingFinder) open(ctx context.Context, targets []pingTarget) (umad.Port, error) {
	var candidates []device.Candidate
	if f.flags.sim == "" {
		candidates = f.candidates()
	}
	var elsewhere error
	for i := range targets {
		t := &targets[i]
		address, isAddress := t.address()
		if !isAddress {
			elsewhere = &usageError{errTwoPorts}
			continue
		}
		p, err := device.PathTo(sysfs.Default, candidates, address)
		switch {
		case err == nil:
			if f.paths == nil {
				f.paths = map[int]device.Path{}
			}
			f.paths[i] = p
		case !errors.Is(err, device.ErrNoRoCE):
			return nil, t.fail(err)
		case t.Kind == resolve.IP || address.Is4In6():
			return nil, t.fail(err) // no InfiniBand port has such a GID
		default:
			elsewhere = &usageError{errTwoPorts}
		}
	}
	if len(f.paths) == 0 {
		return f.flags.open(f.env)(ctx)
	}
	if elsewhere != nil {
		return nil, elsewhere
	}
	from := f.paths[0].From
	for _, p := range f.paths {
		if p.From.Node != from.Node {
			return nil, &usageError{errTwoPorts}
		}
	}
	return from.Open("")
}

// candidates returns the ports that -C and -P leave.
func (f *pingFinder) candidates() []device.Candidate {
	all, err := device.Candidates(sysfs.Default)
	if err != nil {
		return nil // opening one says why
	}
	var fit []device.Candidate
	for _, c := range all {
		if (f.flags.device == "" || c.Device.Name == f.flags.device) && (f.flags.port == 0 || c.Port.Number == f.flags.port) {
			fit = append(fit, c)
		}
	}
	return fit
}

// find finds targets, by asking subnet administration or by a scan. One that is
// not found does not keep the others from being pinged.
func (f *pingFinder) find(ctx context.Context, port umad.Port, targets []pingTarget, isWanted func(*fabric.Node) bool) error {
	f.client = umad.NewClient(port, f.flags.client(f.env))
	scan := isWanted != nil
	for i := range targets {
		scan = scan || targets[i].Kind == resolve.Name
	}
	if scan {
		if err := f.scan(ctx); err != nil {
			return err
		}
	}
	for i := range targets {
		t := &targets[i]
		if err := f.findOne(ctx, i, t); err != nil {
			if ctx.Err() != nil || errors.Is(err, umad.ErrGone) {
				return err
			}
			f.notFound = append(f.notFound, unresolved{t.Text, t.fail(err)})
		}
	}
	if isWanted != nil {
		for _, n := range f.fabric.Nodes {
			if isWanted(n) {
				f.addNode(n)
			}
		}
	}
	return nil
}

// scan finds out what the fabric consists of.
func (f *pingFinder) scan(ctx context.Context) (err error) {
	bar := newProgress(f.env)
	defer bar.close()
	f.fabric, err = fabric.Discover(ctx, f.client, fabric.DiscoverOptions{NoExtendedPortInfo: true, Progress: bar.update})
	if err != nil {
		return err
	}
	f.partial = f.fabric.Partial()
	return nil
}

func (f *pingFinder) findOne(ctx context.Context, number int, t *pingTarget) error {
	if path, overRoCE := f.paths[number]; overRoCE {
		f.found = append(f.found, &ping.Target{Name: t.Text, GRH: &path.GRH, OneWay: path.Embedded})
		return nil
	}
	switch t.Kind {
	case resolve.LID:
		for lid := t.First; lid <= t.Last; lid++ {
			f.found = append(f.found, &ping.Target{Name: fmt.Sprintf("LID %d", lid), To: umad.Target{LID: lid}})
		}
	case resolve.Route:
		f.found = append(f.found, &ping.Target{Name: "route " + t.Text, To: umad.Target{LID: t.First, Route: t.Route}})
	case resolve.GUID:
		to, err := f.findGUID(ctx, t.GUID)
		if err != nil {
			return err
		}
		f.found = append(f.found, &ping.Target{Name: t.Text, To: to, PortGUID: t.GUID})
	case resolve.Name:
		before := len(f.found)
		for _, n := range f.fabric.Nodes {
			if matchesNode([]string{t.Name}, n, f.names) {
				f.addNode(n)
			}
		}
		if len(f.found) == before {
			return fmt.Errorf("find node %q: there is none with that name and an address", t.Name)
		}
	default:
		path, err := f.client.Path(ctx, t.GID, f.smLID)
		if err != nil {
			return fmt.Errorf("find path to %v: %w", t.GID, err)
		}
		f.found = append(f.found, &ping.Target{Name: t.Text, To: umad.Target{LID: path.DLID, SL: path.SL}, PortGUID: t.GID.GUID()})
	}
	return nil
}

// findGUID returns where the port with a GUID is: by what a scan found, where
// there was one, else by subnet administration.
func (f *pingFinder) findGUID(ctx context.Context, guid uint64) (umad.Target, error) {
	if f.fabric != nil {
		if p := f.fabric.PortByGUID(guid); p != nil && p.LID() != 0 {
			return umad.Target{LID: p.LID()}, nil
		}
	}
	lid, err := f.client.ResolveGUID(ctx, guid, f.smLID)
	return umad.Target{LID: lid}, err
}

// addNode adds the ports of a node: a switch's port 0, and of others those that
// the scan came by.
func (f *pingFinder) addNode(n *fabric.Node) {
	ports := n.Ports
	if n.Info.NodeType == mad.NodeTypeSwitch {
		ports = ports[:1]
	}
	first := len(f.found)
	for _, p := range ports {
		switch {
		case p == nil || p.Info == nil:
		case p.LID() != 0:
			f.found = append(f.found, &ping.Target{Name: f.names.Name(n), To: umad.Target{LID: p.LID()}, PortGUID: p.GUID})
		case f.routes:
			f.found = append(f.found, &ping.Target{Name: f.names.Name(n), To: umad.Target{Route: n.Route}})
			return
		default:
			f.notFound = append(f.notFound, unresolved{f.names.Name(n), fmt.Errorf("find %s: it has no LID; only --via sma reaches it", f.names.Name(n))})
			return
		}
	}
	if added := f.found[first:]; len(added) > 1 {
		for _, t := range added {
			t.Name = fmt.Sprintf("%s port 0x%016x", t.Name, t.PortGUID)
		}
	}
}
