package top

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/cmd/internal/render"
	"github.com/ibkit/ibkit/cmd/internal/shared/portindex"
	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/phy"
	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/internal/tool/top"
)

// find returns the screen of the node or port with an address.
func (u *ui) find(s *top.Sample, a lookup.Address) (view, error) {
	names := u.names
	x, text := portindex.New(route.FromFabric(s.Fabric), names, u.gid), a.Name
	port, _, err := x.Port(&a)
	node, number, hasNumber := fabric.CutPort(a.Name)
	if failed, ok := errors.AsType[*lookup.PortError](err); ok && failed.External {
		a.Name = node
		port, _, err = x.Port(&a)
	}
	if err != nil {
		return view{}, err
	}
	v := view{kind: nodeView, guid: port.Node.GUID}
	if name := names.NameOf(port.Node.GUID, port.Node.Desc); !hasNumber || name == text || strings.HasPrefix(name, text+" ") {
		return v, nil
	}
	if v.kind, v.port = portView, uint8(number); s.Port(v.guid, v.port) < 0 {
		return v, fmt.Errorf("find %s: the port is down", fabric.PortName(node, number))
	}
	return v, nil
}

// pair returns the function that finds the ends of a path.
func (u *ui) pair(ends [2]lookup.Address) func(*route.Routing) (route.Pair, error) {
	return func(r *route.Routing) (p route.Pair, err error) {
		x := portindex.New(r, u.names, u.gid)
		if p.From, p.FromLID, err = x.Port(&ends[0]); err == nil {
			p.To, p.ToLID, err = x.Port(&ends[1])
		}
		return p, err
	}
}

// first opens the screen that the targets select.
func (c *command) first(u *ui) error {
	switch len(c.targets) {
	case 1:
		return u.openTarget(c.targets[0])
	case 2:
		u.open(view{kind: pathView, ends: [2]lookup.Address(c.targets)})
	}
	return nil
}

// runTerminal shows screens until the user quits.
func (c *command) runTerminal(ctx context.Context) error {
	screen, err := tcell.NewScreen()
	if err == nil {
		err = screen.Init()
	}
	if err != nil {
		return cmdutil.WithHint(fmt.Errorf("open terminal: %w", err), "set TERM to the type of the terminal, or use ibkit top --once")
	}
	defer screen.Fini()
	err = c.show(ctx, screen)
	screen.Fini() // before an error is printed
	return explain(err)
}

// An update is a message to the goroutine that draws.
type update func(*ui) error

// show runs the sampler and draws its samples on a screen.
func (c *command) show(ctx context.Context, screen tcell.Screen) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	updates := make(chan update)
	send := func(f update) {
		select {
		case updates <- f:
		case <-ctx.Done():
		}
	}
	requests := make(chan top.PathRequest, 8)
	colour := c.env.Getenv("NO_COLOR") == "" && screen.Colors() > 1
	u := &ui{state: c.newState(), names: c.options.Names, gid: c.fabric.GIDByIP(ctx, c.env), styles: newStyles(colour), now: time.Now, views: []view{{}}, exports: c.exports, status: "scanning the fabric"}
	u.request = func(v *view) {
		asked := *v
		r := top.PathRequest{Find: u.pair(asked.ends), Done: func(p *top.Paths, err error) {
			go send(func(u *ui) error { u.gotPaths(asked, p, err); return nil })
		}}
		select {
		case requests <- r:
		default:
			u.message = "too many requests for paths"
		}
	}
	o := c.options
	o.Paths = requests
	o.Registers = c.registerRequests(u, func(f update) { go send(f) })
	o.Source.Progress = func(p fabric.Progress) {
		go send(func(u *ui) error {
			u.status = "scanning the fabric: " + plural.Count(p.Nodes, "node", "nodes")
			return nil
		})
	}
	ended := make(chan error, 1)
	go func() {
		ended <- top.Run(ctx, o,
			func(s *top.Sample) { send(func(u *ui) error { return c.added(u, s) }) },
			func(err error) { send(func(u *ui) error { u.problem = err; return nil }) })
	}()
	events, closed := make(chan tcell.Event), make(chan struct{})
	defer close(closed)
	go screen.ChannelEvents(events, closed)
	err := u.loop(ctx, screen, events, updates, ended)
	stop()
	return err
}

// registerRequests lets the screen request registers, if they are to be shown, and returns
// the requests. send passes the results on.
func (c *command) registerRequests(u *ui, send func(update)) <-chan top.RegisterRequest {
	if !c.phy {
		return nil
	}
	requests := make(chan top.RegisterRequest, 1)
	u.requestRegisters = func(v *view) {
		asked := *v
		r := top.RegisterRequest{GUID: asked.guid, Port: asked.port, Done: func(r *phy.Result, err error) {
			send(func(u *ui) error { u.gotRegisters(asked, r, err); return nil })
		}}
		select {
		case requests <- r:
		default: // the request before has not been answered yet
		}
	}
	return requests
}

// added shows a sample; the first one opens the screen that the targets select.
func (c *command) added(u *ui, s *top.Sample) error {
	began := u.state.Sample() == nil
	u.add(s)
	if began {
		return c.first(u)
	}
	return nil
}

// loop handles keys and updates until the end.
func (u *ui) loop(ctx context.Context, screen tcell.Screen, events <-chan tcell.Event, updates <-chan update, ended <-chan error) error {
	for {
		u.draw(screen)
		screen.Show()
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return err
		case f := <-updates:
			if err := f(u); err != nil {
				return err
			}
		case e := <-events:
			switch e := e.(type) {
			case nil:
				return nil // the terminal was closed
			case *tcell.EventResize:
				screen.Sync()
			case *tcell.EventKey:
				_, height := screen.Size()
				switch u.key(e, pageRows(height)) {
				case quit:
					return nil
				case redraw:
					screen.Sync()
				case suspend:
					if err := suspendJob(screen); err != nil {
						return err
					}
				}
			}
		}
	}
}

// continueLimit is the time after which a process that was not stopped continues: the kernel
// discards SIGTSTP if no shell could continue the job.
const continueLimit = 500 * time.Millisecond

// suspendJob restores the terminal, stops all processes of the job, as the terminal would,
// until the shell continues them, and shows the screen again. It does not notice SIGTSTP of
// other processes: a Go program that did could not restore the default action, to stop.
func suspendJob(screen tcell.Screen) error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	if err := screen.Suspend(); err != nil {
		return fmt.Errorf("suspend: %w", err)
	}
	err := unix.Kill(0, unix.SIGTSTP)
	if err == nil {
		limit := time.NewTimer(continueLimit)
		defer limit.Stop()
		select { // the signal may arrive after Kill has returned
		case <-continued:
		case <-limit.C:
		}
	}
	if err := errors.Join(err, screen.Resume()); err != nil {
		return fmt.Errorf("suspend: %w", err)
	}
	screen.Sync()
	return nil
}

// The width of a screen without a terminal, and the lines of screens beside rows of links.
const (
	onceWidth = 100
	onceLines = 24
)

// runOnce prints one sample.
func (c *command) runOnce(ctx context.Context) error {
	bar := render.NewProgress(c.env.ErrOut)
	o := c.options
	o.Source.Progress = bar.Update
	o.Samples = 2
	requests := make(chan top.PathRequest, 1)
	o.Paths = requests
	u := &ui{state: c.newState(), names: o.Names, gid: c.fabric.GIDByIP(ctx, c.env), styles: newStyles(false), now: time.Now, views: []view{{}}, most: c.lines}
	var failed error
	u.request = func(v *view) {
		asked := *v
		requests <- top.PathRequest{Find: u.pair(asked.ends), Done: func(p *top.Paths, err error) {
			u.gotPaths(asked, p, err)
			failed = err
		}}
	}
	o.Registers = c.registerRequests(u, func(f update) { failed = errors.Join(failed, f(u)) })
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := top.Run(ctx, o, func(s *top.Sample) {
		bar.Close()
		if s.Window == 0 && !c.json { // the first of two
			bar.Wait(fmt.Sprintf("reading twice, %v apart (--interval)", o.Interval))
		}
		if err := c.added(u, s); err != nil {
			failed = err
		}
		if failed != nil {
			stop()
		}
	}, func(err error) {
		failed = err
		stop()
	})
	bar.Close()
	if err == nil {
		err = failed
	}
	if err == nil {
		err = ctx.Err()
	}
	switch {
	case errors.Is(err, fabric.ErrBlind): // during the window
		return &cmdutil.ExitError{Code: cmdutil.ExitPartial, Err: err}
	case err != nil:
		return fabricflag.WithHint(err)
	}
	if blind := u.state.Sample().Fabric.Blind(); blind != nil {
		cmdutil.PrintError(c.env, "warning", blind)
	}
	return c.printOnce(u)
}

// printOnce prints the screen as JSON or as text.
func (c *command) printOnce(u *ui) error {
	out := render.NewOutput(c.env.Out)
	s := u.state.Sample()
	if c.json {
		r := u.report(c.lines)
		if r == nil {
			return fmt.Errorf("print screen: the node or port is %s", missing)
		}
		render.WriteDocument(out, r)
	} else {
		rows := u.rows()
		switch {
		case u.view().kind != linksView:
			rows += onceLines
		case c.lines > 0:
			rows = min(rows, c.lines)
		}
		p := newPage(onceWidth, firstLine+1+max(rows, 1)+keyLines)
		u.view().selected = -1
		u.draw(p)
		lines := strings.Split(strings.TrimRight(p.String(), "\n"), "\n")
		lines = lines[:len(lines)-keyLines]
		fmt.Fprintln(out, strings.TrimRight(strings.Join(lines, "\n"), "\n"))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	c.fabric.PrintFailed(c.env, slices.Concat(s.Fabric.FailureErrors(c.options.Names), s.Failures))
	return cmdutil.ResultError(s.Partial(), s.Totals.Erring > 0 || s.Totals.Waiting > 0 || s.Summary.Problems > 0 || len(s.Missing) > 0)
}
