package ibqueryerrors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/links"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// A scope finds the nodes to query.
type scope struct {
	*command
	client *umad.Client
	port   umad.Port
}

// nodes returns the nodes in the C tool's order, and stores the service levels on the
// paths to them.
func (s *scope) nodes(ctx context.Context) ([]*fabric.Node, error) {
	from, partial, err := s.start(ctx)
	if err != nil {
		return nil, err
	}
	f, err := s.discover(ctx, from, partial)
	if err != nil {
		return nil, err
	}
	if err := s.readThresholds(); err != nil {
		return nil, err
	}
	switch {
	case s.byGUID:
		if p := f.PortByGUID(ib.GUID(getopt.Strtoull(s.guid))); p != nil {
			return []*fabric.Node{p.Node}, nil
		}
		return nil, s.notFound(s.guid)
	case s.byDR:
		return s.nodeOnRoute(ctx, f, from)
	}
	if err := s.readLevels(ctx, 0); err != nil {
		return nil, err
	}
	return f.Replay(nil).Nodes, nil
}

// start returns the node where a partial scan starts. If the target is not found, the
// whole fabric is scanned.
func (s *scope) start(ctx context.Context) (from umad.Target, partial bool, err error) {
	switch {
	case s.byDR:
		from.Route, err = getopt.ParseRoute(s.route)
	case s.byGUID:
		guid := ib.GUID(getopt.Strtoull(s.guid))
		if guid == 0 {
			err = errors.New("no port has GUID 0")
			break
		}
		var to umad.Target
		if to, err = s.client.TargetOf(ctx, guid, 0); err != nil {
			break
		}
		if !s.skipSL {
			s.levels[to.LID] = to.SL
		}
		if s.loadCache == "" {
			from.Route, err = fabric.RouteTo(ctx, s.client, to.LID)
		}
	default:
		return from, false, nil
	}
	if err == nil || ctx.Err() != nil {
		return from, true, ctx.Err()
	}
	cmdutil.PrintError(s.Env, "ibqueryerrors", err)
	s.Ibwarn("main", "Failed to resolve %s; attempting full scan", s.guid+s.route)
	return umad.Target{}, false, nil
}

// discover scans the fabric, or a node's surroundings, or reads a cache.
func (s *scope) discover(ctx context.Context, from umad.Target, partial bool) (*fabric.Fabric, error) {
	failed := func(text string, err error) error {
		fmt.Fprintln(s.Env.ErrOut, text)
		return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
	}
	if s.loadCache != "" {
		f, err := fabric.ReadCacheFile(s.loadCache)
		if err != nil {
			return nil, failed("loading cached fabric failed", err)
		}
		links.WarnStored(s.Env.ErrOut, s.loadCache, f)
		return f, nil
	}
	o := fabric.DiscoverOptions{From: from, NoExtendedPortInfo: s.NoExtendedPortInfo()}
	bar := render.NewProgress(s.Env.ErrOut)
	o.Progress = bar.Update
	var f *fabric.Fabric
	var err error
	if partial {
		o.MaxHops = 1
		if from.Route == mad.Local {
			o.MaxHops = 2 // to the local adapter's other ports
		}
		if f, err = fabric.Discover(ctx, s.client, o); f == nil && ctx.Err() == nil {
			cmdutil.PrintError(s.Env, "ibqueryerrors", err)
			s.Ibwarn("main", "Single node discover failed; attempting full scan")
		}
		o.From, o.MaxHops = umad.Target{}, 0
	}
	if f == nil && (err == nil || ctx.Err() == nil) {
		f, err = fabric.Discover(ctx, s.client, o)
	}
	bar.Close()
	if err != nil {
		return nil, failed("discover failed", err)
	}
	links.PrintWarnings(s.Env, &linkinfo.Result{Fabric: f}, nil, s.Verbose > 0)
	return f, nil
}

// nodeOnRoute returns the node at the end of a directed route.
func (s *scope) nodeOnRoute(ctx context.Context, f *fabric.Fabric, from umad.Target) ([]*fabric.Node, error) {
	var info mad.NodeInfo
	if err := s.client.Get(ctx, from, &info); err != nil {
		fmt.Fprintln(s.Env.ErrOut, "Failed to query local Node Info")
		return nil, &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
	}
	p := f.PortByGUID(info.PortGUID)
	if p == nil {
		return nil, s.notFound(s.route)
	}
	if err := s.readLevels(ctx, info.PortGUID); err != nil {
		return nil, err
	}
	return []*fabric.Node{p.Node}, nil
}

func (s *scope) notFound(target string) error {
	fmt.Fprintf(s.Env.ErrOut, "Failed to find node: %s\n", target)
	return nil
}

// levelTimeout is the time limit for the paths to all ports: with many ports, subnet
// administration needs seconds.
const levelTimeout = 3 * time.Second

// readLevels stores the service levels on the paths to all ports, or to the port with a
// GUID, from subnet administration.
func (s *scope) readLevels(ctx context.Context, to ib.GUID) error {
	if s.skipSL {
		return nil
	}
	attr := s.port.Attr()
	path := &mad.PathRecord{SGID: ib.MakeGID(attr.Prefix(), attr.PortGUID), NumbPath: 1, Reversible: 1}
	mask := mad.Components(path, &path.SGID, &path.NumbPath, &path.Reversible)
	if to != 0 {
		path.DGID = ib.MakeGID(attr.Prefix(), to)
		mask |= mad.Components(path, &path.DGID)
	}
	o := s.Client(s.Env)
	o.Timeout = max(o.Timeout, levelTimeout)
	table, err := umad.NewClient(s.port, o).GetTable(ctx, &umad.TableRequest{Match: path, Mask: mask})
	if err != nil {
		return s.noLevels(err)
	}
	paths, err := umad.Records[mad.PathRecord](table)
	if err != nil {
		return s.noLevels(err)
	}
	for _, p := range paths {
		s.levels[p.DLID] = p.SL
	}
	return nil
}

// noLevels ends the tool because subnet administration failed. The C tool exits with 0.
func (s *scope) noLevels(err error) error {
	var status mad.StatusError
	switch {
	case errors.Is(err, umad.ErrNoSM):
		device, number := s.LocalPort()
		if s.DeviceGiven {
			device = ""
		}
		s.Ibwarn("sa_get_handle", "No SM/SA found on port %s:%d", device, number)
	case errors.As(err, &status):
		fmt.Fprintf(s.Env.ErrOut, "ERROR: Query result returned 0x%04x, %v\n", uint16(status), status)
	case errors.Is(err, umad.ErrTimeout):
		fmt.Fprintln(s.Env.ErrOut, "Query SA failed: Connection timed out; sa call path_query failed")
	default:
		return &cmdutil.ExitError{Code: getopt.ExitFailure, Err: err}
	}
	return &cmdutil.ExitError{Code: getopt.ExitFailure}
}
